package jinja

import (
	"math"
	"strings"
)

// calculate applies an operator of arithmetic.
func (r *run) calculate(a any, sign string, b any) any {
	x, y := number(defined(a)), number(defined(b))
	if x == nil || y == nil {
		return r.join(a, sign, b)
	}
	p, q := float(x), float(y)
	if q == 0 && strings.ContainsAny(sign, "/%") {
		fail("division by zero")
	}
	var v float64
	switch sign {
	case "+":
		v = p + q
	case "-":
		v = p - q
	case "*":
		v = p * q
	case "/":
		return p / q
	case "//":
		v = math.Floor(p / q)
	case "%":
		if v = math.Mod(p, q); v != 0 && (v < 0) != (q < 0) {
			v += q
		}
	case "**":
		v = math.Pow(p, q)
	}
	if !isInt(x) || !isInt(y) || sign == "**" && q < 0 {
		return v
	}
	if math.Abs(v) >= 1<<53 || math.Abs(p) > 1<<53 || math.Abs(q) > 1<<53 { // whose floats are not exact
		fail("an integer of more than 53 bits")
	}
	return int(v)
}

// join applies + and * to strings and sequences.
func (r *run) join(a any, sign string, b any) any {
	switch sign {
	case "+":
		if s, ok := a.(string); ok {
			t, ok := b.(string)
			if !ok {
				fail("can only concatenate str (not ", literal(typeName(b)), ") to str")
			}
			r.bytes(len(s) + len(t))
			return s + t
		}
		x, kind, ok := sequence(a)
		y, other, also := sequence(b)
		if ok && also && kind == other {
			r.bytes(16 * (len(x) + len(y)))
			return again(kind, append(x[:len(x):len(x)], y...))
		}
	case "*":
		if _, ok := number(a).(int); ok {
			a, b = b, a
		}
		n, ok := number(b).(int)
		if n = max(n, 0); !ok {
			break
		}
		if s, ok := a.(string); ok {
			r.times(len(s), n)
			return strings.Repeat(s, n)
		}
		if x, kind, ok := sequence(a); ok {
			r.times(16*len(x), n)
			out := make([]any, 0, len(x)*n)
			for range n {
				out = append(out, x...)
			}
			return again(kind, out)
		}
	}
	fail("unsupported operand types for ", sign, ": ", quoted(typeName(a)), " and ", quoted(typeName(b)))
	return nil
}

// times counts n times some bytes.
func (r *run) times(size, n int) {
	if n > 0 && size > maxText/n {
		n = 1
		size = maxText + 1
	}
	r.bytes(size * n)
}

// again is a sequence of a kind.
func again(kind string, all []any) any {
	if kind == "tuple" {
		return tuple(all)
	}
	return all
}

// item is what a subscript gives: an element, or an attribute.
func (f *frame) item(v, key any) any {
	f.spend(1)
	defined(v)
	if all, ok := indexed(v); ok {
		if i, ok := number(key).(int); ok {
			if i < 0 {
				i += len(all)
			}
			if i >= 0 && i < len(all) {
				return all[i]
			}
		}
	}
	switch v := v.(type) {
	case string:
		if i, ok := number(key).(int); ok {
			all := []rune(v)
			f.bytes(len(v))
			if i < 0 {
				i += len(all)
			}
			if i >= 0 && i < len(all) {
				return string(all[i])
			}
		}
	case *Dict:
		switch key.(type) {
		case []any, *Dict: // cannot be keys
		default:
			if found, ok := v.get(key); ok {
				return found
			}
		}
	}
	if s, ok := key.(string); ok {
		return f.member(v, s)
	}
	return undefined{objectName(v) + " has no element " + repr(f.run, key)}
}

// indexed returns the elements of what has some by index.
func indexed(v any) ([]any, bool) {
	if all, _, ok := sequence(v); ok {
		return all, true
	}
	if v, ok := v.(*view); ok && v.name == "range" {
		return v.items, true
	}
	return nil, false
}

// objectName is a value in messages.
func objectName(v any) string {
	if v == nil {
		return "None"
	}
	return typeName(v) + " object"
}

// attribute is what a dot gives: a method, or an element.
func (f *frame) attribute(v any, of string) any {
	f.spend(1)
	defined(v)
	found := f.member(v, of)
	if _, ok := found.(undefined); ok {
		if d, ok := v.(*Dict); ok {
			if value, ok := d.get(of); ok {
				return value
			}
		}
	}
	return found
}

// member is an attribute of Python's object.
func (f *frame) member(v any, of string) any {
	switch v := v.(type) {
	case *namespace:
		if found, ok := v.get(of); ok {
			return found
		}
	case *loop:
		if found, ok := v.attribute(of); ok {
			return found
		}
	default:
		if method := methodOf(v, of); method != nil {
			return &function{name: of, call: func(f *frame, a *arguments) any { return method(f, v, a) }}
		}
	}
	return undefined{quoted(objectName(v)) + " has no attribute " + literal(of)}
}

// slice is what a subscript with colons gives.
func (f *frame) slice(v any, at [3]any) any {
	s, isText := defined(v).(string)
	all, kind, ok := sequence(v)
	n := len(all)
	if isText {
		n = f.size(s)
	} else if !ok {
		return undefined{objectName(v) + " has no slices"}
	}
	step, least, most := 1, 0, n
	if at[2] != nil {
		step = integer(at[2], "the step of a slice")
	}
	from, to := 0, n
	if step < 0 {
		from, to, least, most = n-1, -1, -1, n-1
	} else if step == 0 {
		fail("slice step cannot be zero")
	}
	for i, p := range []*int{&from, &to} {
		if at[i] != nil {
			if *p = integer(at[i], "a bound of a slice"); *p < 0 {
				*p += n
			}
			*p = min(max(*p, least), most)
		}
	}
	switch {
	case step == 1 && isText:
		return part(s, from, max(from, to))
	case step == 1:
		return again(kind, all[from:max(from, to):max(from, to)])
	case isText:
		all = f.items(s)
	}
	out := []any{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		f.spend(1)
		if out = append(out, all[i]); step > n || step < -n {
			break
		}
	}
	if isText {
		return f.joined(out, "")
	}
	return again(kind, out)
}

// part returns some characters of a text.
func part(s string, from, to int) string {
	n, begin, end := 0, len(s), len(s)
	for i := range s {
		if n == from {
			begin = i
		}
		if n == to {
			end = i
			break
		}
		n++
	}
	return s[min(begin, end):end]
}

// joined joins the texts of values.
func (r *run) joined(all []any, between string) string {
	var out strings.Builder
	for i, v := range all {
		if i > 0 {
			out.WriteString(between)
		}
		s := r.text(v)
		if r.bytes(len(s) + len(between) + 16); out.Len()+len(s)+len(between) > maxText {
			r.bytes(maxText + 1)
		}
		out.WriteString(s)
	}
	return out.String()
}

// call calls a function.
func (f *frame) call(v any, a *arguments) any {
	f.spend(1)
	called, ok := defined(v).(*function)
	if !ok {
		fail(quoted(typeName(v)), " object is not callable")
	}
	return called.call(f, a)
}
