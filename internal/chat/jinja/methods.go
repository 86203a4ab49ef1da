package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// method is a method of a value.
type method func(f *frame, v any, a *arguments) any

// methodOf returns a method of a value, nil for none.
func methodOf(v any, named string) method {
	changes := false
	switch v.(type) {
	case string:
		if strings.Contains(" upper lower strip lstrip rstrip split rsplit splitlines startswith endswith replace title "+
			"capitalize join find rfind index rindex count removeprefix removesuffix isdigit isalpha ", " "+named+" ") {
			return func(f *frame, v any, a *arguments) any {
				f.bytes(2 * len(v.(string)))
				return f.stringMethod(named, v.(string), a)
			}
		}
	case *Dict:
		if strings.Contains(" get items keys values copy ", " "+named+" ") {
			return func(f *frame, v any, a *arguments) any { return f.dictMethod(named, v.(*Dict), a) }
		}
		changes = strings.Contains(" clear pop popitem setdefault update ", " "+named+" ")
	case []any:
		changes = strings.Contains(" append clear extend insert pop remove reverse sort ", " "+named+" ")
		if named == "copy" {
			return func(_ *frame, v any, _ *arguments) any { return v }
		}
	}
	if changes {
		return func(*frame, any, *arguments) any {
			fail("access to attribute ", quoted(named), " of ", quoted(typeName(v)), " object is unsafe")
			return nil
		}
	}
	return nil
}

func (f *frame) dictMethod(named string, d *Dict, a *arguments) any {
	switch named {
	case "get":
		if found, ok := d.get(a.at(0, "key")); ok {
			return found
		}
		return a.or(1, "default", nil)
	case "items":
		return &view{"dict_items", d.pairs()}
	case "keys":
		return &view{"dict_keys", d.keys}
	case "values":
		return &view{"dict_values", d.values}
	}
	return d // a copy
}

// stripped is a string without characters at its ends: white space for None.
func stripped(s string, chars any, left, right bool) string {
	in := isSpace
	if chars != nil {
		set := str(chars, "what is stripped")
		in = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, in)
	}
	if right {
		s = strings.TrimRightFunc(s, in)
	}
	return s
}

// lines splits a string at Python's ends of lines.
func lines(s string, keep bool) (all []string) {
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(r rune) bool {
			return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
		})
		if n < 0 {
			return append(all, s)
		}
		_, size := utf8.DecodeRuneInString(s[n:])
		if strings.HasPrefix(s[n:], "\r\n") {
			size = 2
		}
		line := s[:n+size]
		if !keep {
			line = s[:n]
		}
		all, s = append(all, line), s[n+size:]
	}
	return all
}

func list(all []string) []any {
	out := make([]any, len(all))
	for i, s := range all {
		out[i] = s
	}
	return out
}

// parts are split and rsplit.
func (f *frame) parts(s string, a *arguments, right bool) any {
	most := integer(a.or(1, "maxsplit", -1), "maxsplit")
	between := a.or(0, "sep", nil)
	if between == nil {
		return list(fields(s, most))
	}
	sep := str(between, "the separator")
	if sep == "" {
		fail("empty separator")
	}
	all := strings.Split(s, sep)
	f.spend(len(all))
	if n := len(all) - most; most >= 0 && n > 1 && right {
		all = append([]string{strings.Join(all[:n], sep)}, all[n:]...)
	} else if most >= 0 {
		all = strings.SplitN(s, sep, most+1)
	}
	return list(all)
}

// fields splits a string at white space, at most some times.
func fields(s string, most int) (all []string) {
	if most < 0 {
		return strings.FieldsFunc(s, isSpace)
	}
	for s = stripped(s, nil, true, false); s != ""; most-- {
		n := strings.IndexFunc(s, isSpace)
		if n < 0 || most == 0 {
			return append(all, s)
		}
		all = append(all, s[:n])
		s = stripped(s[n:], nil, true, false)
	}
	return all
}

func (f *frame) stringMethod(named, s string, a *arguments) any {
	switch named {
	case "upper", "lower", "capitalize":
		return inLetters(named, s)
	case "title":
		inside := false
		return strings.Map(func(r rune) rune {
			was := inside
			if inside = unicode.IsLetter(r); was {
				return unicode.ToLower(r)
			}
			return unicode.ToTitle(r)
		}, s)
	case "strip", "lstrip", "rstrip":
		return stripped(s, a.or(0, "chars", nil), named != "rstrip", named != "lstrip")
	case "split", "rsplit":
		return f.parts(s, a, named == "rsplit")
	case "splitlines":
		return list(lines(s, truth(a.or(0, "keepends", false))))
	case "isdigit", "isalpha":
		of := unicode.IsDigit
		if named == "isalpha" {
			of = unicode.IsLetter
		}
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !of(r) })
	case "join":
		all := f.items(a.at(0, "iterable"))
		for _, v := range all {
			str(v, "an item of join")
		}
		return f.joined(all, s)
	case "startswith", "endswith":
		test := strings.HasPrefix
		if named == "endswith" {
			test = strings.HasSuffix
		}
		all, ok := a.at(0, "prefix").(tuple)
		if !ok {
			all = tuple{a.at(0, "prefix")}
		}
		for _, v := range all {
			if test(s, str(v, named)) {
				return true
			}
		}
		return false
	}
	part := str(a.at(0, "sub"), "an argument of "+named)
	i := -1
	switch named {
	case "replace":
		return f.replaced(s, part, str(a.at(1, "new"), "new"), integer(a.or(2, "count", -1), "the count"))
	case "removeprefix":
		return strings.TrimPrefix(s, part)
	case "removesuffix":
		return strings.TrimSuffix(s, part)
	case "count":
		return strings.Count(s, part)
	case "rfind", "rindex":
		i = strings.LastIndex(s, part)
	default:
		i = strings.Index(s, part)
	}
	if i < 0 && strings.HasSuffix(named, "index") {
		fail("substring not found")
	}
	if i < 0 {
		return i
	}
	return utf8.RuneCountInString(s[:i])
}
