package require

import (
	"bytes"
	"reflect"
	"testing"
)

// equal compares contents: slices of bytes as such, all else as reflect.DeepEqual does, so that
// values of two types are never equal and a NaN does not equal itself.
func equal(want, got any) bool {
	a, ok := want.([]byte)
	if !ok {
		return reflect.DeepEqual(want, got)
	}
	b, ok := got.([]byte)
	return ok && (a == nil) == (b == nil) && bytes.Equal(a, b)
}

// Equal requires equal types and contents.
func Equal(tb testing.TB, want, got any, message ...any) {
	if !equal(want, got) {
		tb.Helper()
		fail(tb, message, "got  %s\nwant %s%s", show(got), show(want), diff(want, got))
	}
}

// NotEqual requires that types or contents differ.
func NotEqual(tb testing.TB, other, got any, message ...any) {
	if equal(other, got) {
		tb.Helper()
		fail(tb, message, "got %s, want any other value", show(got))
	}
}

// EqualValues requires equal contents once one value is converted to the type of the other. No
// number may change by that.
func EqualValues(tb testing.TB, want, got any, message ...any) {
	if !equal(want, got) && !equalConverted(want, got) {
		tb.Helper()
		fail(tb, message, "got  %s (%T)\nwant %s (%T)", show(got), got, show(want), want)
	}
}

// equalConverted converts there and back, so that a conversion which loses digits is unequal.
func equalConverted(want, got any) bool {
	a, b := reflect.ValueOf(want), reflect.ValueOf(got)
	if !a.IsValid() || !b.IsValid() || !a.CanConvert(b.Type()) || !b.CanConvert(a.Type()) {
		return false
	}
	return equal(a.Convert(b.Type()).Interface(), got) && equal(want, b.Convert(a.Type()).Interface())
}

// Same requires two pointers to one object.
func Same(tb testing.TB, want, got any, message ...any) {
	if want != got || !isPointer(want) {
		tb.Helper()
		fail(tb, message, "got  %p %#[1]v\nwant %p %#[2]v", got, want)
	}
}

// NotSame requires pointers to different objects.
func NotSame(tb testing.TB, other, got any, message ...any) {
	if other == got || !isPointer(other) || !isPointer(got) {
		tb.Helper()
		fail(tb, message, "got %p %#[1]v, want a pointer to another object", got)
	}
}

func isPointer(v any) bool { return v != nil && reflect.TypeOf(v).Kind() == reflect.Pointer }

// Nil requires nil or a nil pointer, map, slice, channel, function or interface.
func Nil(tb testing.TB, v any, message ...any) {
	if !isNil(v) {
		tb.Helper()
		fail(tb, message, "got %s, want nil", show(v))
	}
}

// NotNil requires a value that Nil refuses.
func NotNil(tb testing.TB, v any, message ...any) {
	if isNil(v) {
		tb.Helper()
		fail(tb, message, "got nil")
	}
}

func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice,
		reflect.UnsafePointer:
		return r.IsNil()
	}
	return false
}

// Zero requires the zero value of a type, or nil.
func Zero(tb testing.TB, v any, message ...any) {
	if !isZero(v) {
		tb.Helper()
		fail(tb, message, "got %s, want the zero value", show(v))
	}
}

// NotZero requires a value that Zero refuses.
func NotZero(tb testing.TB, v any, message ...any) {
	if isZero(v) {
		tb.Helper()
		fail(tb, message, "got the zero value %#v", v)
	}
}

func isZero(v any) bool {
	return v == nil || reflect.DeepEqual(v, reflect.Zero(reflect.TypeOf(v)).Interface())
}
