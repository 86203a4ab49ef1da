package require

import (
	"reflect"
	"strings"
	"testing"
)

// Len requires a text, slice, array, map or channel of n bytes or elements.
func Len(tb testing.TB, v any, n int, message ...any) {
	if r := reflect.ValueOf(v); !hasLen(r) || r.Len() != n {
		tb.Helper()
		fail(tb, message, "got %s\nwant a length of %d", show(v), n)
	}
}

func hasLen(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map, reflect.Chan:
		return true
	}
	return false
}

// Empty requires a length of 0, nil, a pointer to what is empty, or the zero value.
func Empty(tb testing.TB, v any, message ...any) {
	if !isEmpty(v) {
		tb.Helper()
		fail(tb, message, "got %s, want nothing", show(v))
	}
}

// NotEmpty requires a value that Empty refuses.
func NotEmpty(tb testing.TB, v any, message ...any) {
	if isEmpty(v) {
		tb.Helper()
		fail(tb, message, "got %s, want something", show(v))
	}
}

func isEmpty(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Slice, reflect.Map, reflect.Chan:
		return r.Len() == 0
	case reflect.Pointer:
		return r.IsNil() || isEmpty(r.Elem().Interface())
	}
	return isZero(v)
}

// Contains requires a text with part, a slice or array with the element part, or a map with the
// key part.
func Contains(tb testing.TB, whole, part any, message ...any) {
	if found, ok := contains(whole, part); !ok || !found {
		tb.Helper()
		fail(tb, message, "got %s\nwant in it: %s", show(whole), show(part))
	}
}

// NotContains requires what Contains refuses, of the same kinds.
func NotContains(tb testing.TB, whole, part any, message ...any) {
	if found, ok := contains(whole, part); !ok || found {
		tb.Helper()
		fail(tb, message, "got %s\nwant not in it: %s", show(whole), show(part))
	}
}

// contains is not ok for values that contain nothing by nature, such as numbers, and for a part
// that is no text in a text.
func contains(whole, part any) (found, ok bool) {
	switch w := reflect.ValueOf(whole); w.Kind() {
	case reflect.String:
		p := reflect.ValueOf(part)
		return p.Kind() == reflect.String && strings.Contains(w.String(), p.String()), p.Kind() == reflect.String
	case reflect.Map:
		for _, k := range w.MapKeys() {
			if equal(k.Interface(), part) {
				return true, true
			}
		}
		return false, true
	case reflect.Slice, reflect.Array:
		return count(w, part) > 0, true
	}
	return false, false
}

// ElementsMatch requires two slices with the same elements, each as often, in any order.
func ElementsMatch(tb testing.TB, want, got any, message ...any) {
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	matches := w.Kind() == reflect.Slice && g.Kind() == reflect.Slice && w.Len() == g.Len()
	for i := 0; matches && i < w.Len(); i++ {
		e := w.Index(i).Interface()
		matches = count(w, e) == count(g, e)
	}
	if !matches {
		tb.Helper()
		fail(tb, message, "got  %s\nwant %s in any order", show(got), show(want))
	}
}

// count returns how many elements of a slice or array equal e.
func count(list reflect.Value, e any) (n int) {
	for i := range list.Len() {
		if equal(e, list.Index(i).Interface()) {
			n++
		}
	}
	return n
}
