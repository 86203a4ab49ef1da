package jinja

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A value is nil (None), undefined, bool, int, large, float64, string, []any (a list), tuple, *Dict, *view, *generator,
// *namespace, *loop or *function. Templates change none of them but namespaces and generators.
type (
	undefined struct{ why string }
	large     string // the digits of an integer beyond 64 bits, which is printed alone
	tuple     []any

	// view is a sequence that prints in its own way.
	view struct {
		name  string
		items []any
	}
	// generator is a sequence that can be read once.
	generator struct{ items []any }
	namespace struct{ Dict }
	function  struct {
		name string
		call func(f *frame, a *arguments) any
	}
)

// Dict is a dict: keys in the order in which they came.
type Dict struct {
	keys, values []any
	at           map[any]int
}

// Set gives a key a value.
func (d *Dict) Set(key string, value any) { d.set(key, value) }

// Get returns the value of a key, nil for none.
func (d *Dict) Get(key string) any {
	if d == nil {
		return nil
	}
	v, _ := d.get(key)
	return v
}

// All iterates over the items whose keys are strings.
func (d *Dict) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := 0; d != nil && i < len(d.keys); i++ {
			if key, ok := d.keys[i].(string); ok && !yield(key, d.values[i]) {
				return
			}
		}
	}
}

// Merge sets the items of another dict.
func (d *Dict) Merge(from *Dict) {
	for i, key := range from.keys {
		d.set(key, from.values[i])
	}
}

// hashed returns a key, which has to be one.
func hashed(key any) any {
	if _, _, ok := sequence(key); ok || typeName(key) == "dict" {
		fail("unhashable type: ", quoted(typeName(key)))
	}
	return key
}

func (d *Dict) set(key, value any) {
	h := hashed(key)
	if i, ok := d.at[h]; ok {
		d.values[i] = value
		return
	}
	if d.at == nil {
		d.at = map[any]int{}
	}
	d.at[h] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, value)
}

func (d *Dict) get(key any) (any, bool) {
	i, ok := d.at[hashed(key)]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// pairs are the items of a dict.
func (d *Dict) pairs() []any {
	all := make([]any, len(d.keys))
	for i, key := range d.keys {
		all[i] = tuple{key, d.values[i]}
	}
	return all
}

// typeName is the name of the type of a value in Python.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case undefined:
		return "Undefined"
	case bool:
		return "bool"
	case int, large:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []any:
		return "list"
	case tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *view:
		return v.name
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", v), "*jinja.")
}

func itoa(n int) string { return strconv.Itoa(n) }

// defined ends the run if a value is undefined.
func defined(v any) any {
	if u, ok := v.(undefined); ok {
		fail(u.why)
	}
	return v
}

// elements returns what is in a value that has a length, and whether it has one.
func elements(v any) (all []any, ok bool) {
	switch v := v.(type) {
	case undefined:
		return nil, true
	case *Dict:
		return v.keys, true
	case *view:
		return v.items, true
	}
	all, _, ok = sequence(v)
	return all, ok
}

// truth is what Python takes a value for.
func truth(v any) bool {
	if all, ok := elements(v); ok {
		return len(all) > 0
	}
	switch n := number(v).(type) {
	case int:
		return n != 0
	case float64:
		return n != 0
	}
	return v != nil && v != ""
}

// number returns a number, a bool as 0 or 1; nil for another value.
func number(v any) any {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case int, float64:
		return v
	}
	return nil
}

// integer returns an integer, which is what.
func integer(v any, what string) int {
	n, ok := number(defined(v)).(int)
	if !ok {
		fail(what, " is no integer but of type ", typeName(v))
	}
	return n
}

// str returns a string, which is what.
func str(v any, what string) string {
	s, ok := defined(v).(string)
	if !ok {
		fail(what, " is no string but of type ", typeName(v))
	}
	return s
}

// float returns a number as a float.
func float(n any) float64 {
	if i, ok := n.(int); ok {
		return float64(i)
	}
	return n.(float64)
}

// size is the length of a value.
func (r *run) size(v any) int {
	if s, ok := v.(string); ok {
		r.bytes(len(s))
		return utf8.RuneCountInString(s)
	}
	all, ok := elements(v)
	if !ok {
		fail("object of type ", quoted(typeName(v)), " has no len()")
	}
	return len(all)
}

// items are those of a value that can be iterated over.
func (r *run) items(v any) []any {
	switch v := v.(type) {
	case string:
		r.spend(2 * len(v))
		all := make([]any, 0, len(v))
		for _, c := range v {
			all = append(all, string(c))
		}
		return all
	case *generator:
		all := v.items
		v.items = nil
		return all
	}
	all, ok := elements(v)
	if !ok {
		fail("object of type ", quoted(typeName(v)), " is not iterable")
	}
	return all
}

// sequence returns the elements of a list or of a tuple.
func sequence(v any) (all []any, kind string, ok bool) {
	switch v := v.(type) {
	case []any:
		return v, "list", true
	case tuple:
		return v, "tuple", true
	}
	return nil, "", false
}

// equal compares as Python's == does.
func (r *run) equal(a, b any) bool {
	r.spend(1)
	if x, y := number(a), number(b); x != nil && y != nil {
		return x == y || float(x) == float(y) && (!isInt(x) || !isInt(y))
	}
	if x, kind, ok := sequence(a); ok {
		y, other, ok := sequence(b)
		if !ok || kind != other || len(x) != len(y) {
			return false
		}
		r.enter()
		defer r.leave()
		return slices.EqualFunc(x, y, r.equal)
	}
	switch x := a.(type) {
	case undefined:
		_, ok := b.(undefined)
		return ok
	case string:
		y, ok := b.(string)
		if ok && len(x) == len(y) {
			r.bytes(len(x))
		}
		return ok && x == y
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		r.enter()
		defer r.leave()
		for i, key := range x.keys {
			if v, ok := y.get(key); !ok || !r.equal(x.values[i], v) {
				return false
			}
		}
		return true
	}
	return a == b
}

func isInt(n any) bool {
	_, ok := n.(int)
	return ok
}

// order compares as Python's < does: below 0, 0, above 0.
func (r *run) order(a, b any, sign string) int {
	r.spend(1)
	if x, y := number(defined(a)), number(defined(b)); x != nil && y != nil {
		if isInt(x) && isInt(y) {
			return cmp.Compare(x.(int), y.(int))
		}
		return cmp.Compare(float(x), float(y))
	}
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			r.bytes(min(len(x), len(y)))
			return strings.Compare(x, y)
		}
	}
	x, kind, ok := sequence(a)
	y, other, also := sequence(b)
	if !ok || !also || kind != other {
		fail(quoted(sign), " not supported between instances of ", quoted(typeName(a)), " and ", quoted(typeName(b)))
	}
	r.enter()
	defer r.leave()
	for i := range min(len(x), len(y)) {
		if !r.equal(x[i], y[i]) {
			return r.order(x[i], y[i], sign)
		}
	}
	return cmp.Compare(len(x), len(y))
}

// contains reports whether b is in a.
func (r *run) contains(a, b any) bool {
	switch a := a.(type) {
	case string:
		part := str(b, "what is looked for in a string")
		r.bytes(len(a))
		return strings.Contains(a, part)
	case *Dict:
		_, ok := a.get(b)
		return ok
	}
	return slices.ContainsFunc(r.items(a), func(v any) bool { return r.equal(v, b) })
}
