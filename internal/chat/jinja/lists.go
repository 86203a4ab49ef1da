package jinja

import "slices"

// listFilter applies a filter to the items of a value.
func (f *frame) listFilter(named string, v any, a *arguments) any {
	if s, ok := v.(string); ok && named == "reverse" {
		all := f.items(s)
		slices.Reverse(all)
		return f.joined(all, "")
	}
	switch d, ok := v.(*Dict); named {
	case "items":
		if _, none := v.(undefined); !ok && !none {
			fail("can only get item pairs from a mapping")
		} else if none {
			return &generator{}
		}
		return &generator{d.pairs()}
	case "dictsort":
		if !ok {
			fail("dictsort takes a mapping")
		}
		by := 0
		if a.or(1, "by", "key") == "value" {
			by = 1
		}
		key := f.folded(by, a.or(0, "case_sensitive", false))
		return f.sorted(d.pairs(), key, a.or(2, "reverse", false))
	}
	if g, ok := v.(*generator); ok && named == "first" && len(g.items) > 0 { // which stays to be read on
		first := g.items[0]
		g.items = g.items[1:]
		return first
	}
	all := f.items(v)
	f.spend(len(all))
	switch named {
	case "first":
		if len(all) == 0 {
			return undefined{"No first item, sequence was empty."}
		}
		return all[0]
	case "last":
		if len(all) == 0 {
			return undefined{"No last item, sequence was empty."}
		}
		return all[len(all)-1]
	case "list":
		return append([]any{}, all...)
	case "reverse":
		all = slices.Clone(all)
		slices.Reverse(all)
		return &generator{all}
	case "join":
		get := f.getter(a.or(1, "attribute", nil))
		parts := make([]any, len(all))
		for i, item := range all {
			parts[i] = get(item)
		}
		return f.joined(parts, f.text(a.or(0, "d", "")))
	case "sort":
		key := f.folded(a.or(2, "attribute", nil), a.or(1, "case_sensitive", false))
		return f.sorted(all, key, a.or(0, "reverse", false))
	case "max", "min":
		key := f.folded(a.or(1, "attribute", nil), a.or(0, "case_sensitive", false))
		var best any = undefined{"No aggregated item, sequence was empty."}
		for i, item := range all {
			if i == 0 {
				best = item
			} else if order := f.order(key(item), key(best), "<"); order > 0 && named == "max" || order < 0 && named == "min" {
				best = item
			}
		}
		return best
	case "sum":
		get, total := f.getter(a.or(0, "attribute", nil)), a.or(1, "start", 0)
		for _, item := range all {
			total = f.calculate(total, "+", get(item))
		}
		return total
	case "unique":
		key := f.folded(a.or(1, "attribute", nil), a.or(0, "case_sensitive", false))
		var seen Dict
		out := []any{}
		for _, item := range all {
			k := key(item)
			if _, ok := seen.get(k); !ok {
				seen.set(k, true)
				out = append(out, item)
			}
		}
		return &generator{out}
	}
	return nil
}
