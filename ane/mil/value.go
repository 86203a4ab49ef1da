package mil

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Floats returns the elements of a floating-point scalar or tensor, row-major. Each is the float64 nearest to the text;
// the caller rounds it to the declared type. Decimals out of the range of float64 are refused. Like Ints, Bools and
// Strings it checks the number of elements and, in nested lists, the nesting against the declared type. The error is an
// *Error with the position in the text and no File.
func (v *Value) Floats() ([]float64, error) { return v.FloatsContext(context.Background()) }

// FloatsContext is Floats. Its error once ctx has ended wraps that of ctx, as those of IntsContext and BoolsContext do.
func (v *Value) FloatsContext(ctx context.Context) ([]float64, error) {
	return collect(ctx, v, DType.Float, "floating-point", float)
}

// Ints returns the elements of an integer scalar or tensor, row-major, each within the range of the declared type.
// Elements of uint64 above the range of int64 are refused. The error is an *Error at the value.
func (v *Value) Ints() ([]int64, error) { return v.IntsContext(context.Background()) }

// IntsContext is Ints with a context. It returns the error of ctx once that has ended.
func (v *Value) IntsContext(ctx context.Context) ([]int64, error) {
	return collect(ctx, v, DType.Integer, "integer", integer)
}

// Bools returns the elements of a bool scalar or tensor, row-major. The error is an *Error at the value for another
// type, or elements in a weight file.
func (v *Value) Bools() ([]bool, error) { return v.BoolsContext(context.Background()) }

// BoolsContext is Bools with a context. It returns the error of ctx once that has ended.
func (v *Value) BoolsContext(ctx context.Context) ([]bool, error) {
	return collect(ctx, v, func(d DType) bool { return d == Bool }, "bool", boolean)
}

// Strings returns the elements of a string scalar or tensor, row-major. The error is that of Bools.
func (v *Value) Strings() ([]string, error) {
	return collect(context.Background(), v, func(d DType) bool { return d == String }, "string", text)
}

// Blob returns the weight-file entry that holds the elements, or nil when they are in the text.
func (v *Value) Blob() *Blob {
	if v == nil {
		return nil
	}
	b, _ := v.Literal.(*Blob)
	return b
}

// Bare reports whether v is an argument without a type: axis = 1, transpose_x = true. Parse accepts these two forms
// because some programs use them; Apple's compiler refuses them. Give them a type to evaluate them: see BareType.
func (v *Value) Bare() bool {
	if v == nil || v.Type.Kind != Scalar || v.Type.DType != NoType {
		return false
	}
	switch v.Literal.(type) {
	case Number, BoolLit:
		return true
	}
	return false
}

// BareType returns the type that a bare value most likely has: bool, int32, or fp16 for a
// number with a fraction or an exponent. It is NoType for every other value.
func (v *Value) BareType() DType {
	if !v.Bare() {
		return NoType
	}
	return guess(v.Literal)
}

// Entry returns the path of the weight file as written and the offset of the entry's metadata in bytes. The error is an
// *Error at the BLOBFILE unless these are one string and one offset.
func (b *Blob) Entry() (path string, offset uint64, err error) {
	paths, err := b.Path.Strings()
	if err != nil {
		return "", 0, err
	}
	offsets, err := b.Offset.Ints()
	if err != nil {
		return "", 0, err
	}
	if len(paths) != 1 || len(offsets) != 1 || offsets[0] < 0 {
		return "", 0, &Error{Pos: b.Pos, Msg: "path and offset of a BLOBFILE are one string and one offset",
			Hint: `write BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(64))`}
	}
	return paths[0], uint64(offsets[0]), nil
}

// Check returns an error if the literal does not fit the declared type. It checks scalars and tensors as the evaluating
// methods do, and that a BLOBFILE has one path and one offset. It accepts all other types.
func (v *Value) Check() error {
	if err := v.check(&watch{ctx: context.Background()}); err != nil {
		return err
	}
	return nil
}

func (v *Value) check(w *watch) *Error {
	if b := v.Blob(); b != nil {
		_, _, err := b.Entry()
		fault, _ := errors.AsType[*Error](err)
		return fault
	}
	if v == nil || v.Type.Kind != Scalar && v.Type.Kind != Tensor {
		return nil
	}
	switch d := v.Type.DType; {
	case d.Float():
		return v.each(w, fits)
	case d.Integer():
		return v.each(w, leaf(integer))
	case d == Bool:
		return v.each(w, leaf(boolean))
	}
	return v.each(w, leaf(text))
}

// fits is float without the number: most numbers are short and have a small exponent, or
// none, and so are within the range of float64.
func fits(d DType, l Literal) *Error {
	if n, ok := l.(Number); ok && len(n.Text) < 30 && validNumber(n.Text) {
		e := strings.LastIndexAny(n.Text, "pPeE")
		if e < 0 || len(strings.TrimLeft(n.Text[e+1:], "+-")) <= 2 {
			return nil
		}
	}
	_, err := float(d, l)
	return err
}

// reader converts one scalar literal to a Go value.
type reader[T any] func(d DType, l Literal) (T, *Error)

// leaf makes a check of a reader.
func leaf[T any](read reader[T]) func(DType, Literal) *Error {
	return func(d DType, l Literal) *Error {
		_, err := read(d, l)
		return err
	}
}

// collect reads every element of v, whose scalar type must satisfy class.
func collect[T any](
	ctx context.Context, v *Value, class func(DType) bool, want string, read reader[T],
) ([]T, error) {
	if v == nil {
		return nil, &Error{Msg: "no value", Hint: "give a typed literal, such as int32(1)"}
	}
	if v.Type.Kind != Scalar && v.Type.Kind != Tensor || !class(v.Type.DType) {
		return nil, &Error{Pos: v.Pos, Msg: shorten(v.Type.String()) + " where " + want + " is needed"}
	}
	var all []T
	if l, ok := v.Literal.(*ListLit); ok && l != nil {
		all = make([]T, 0, len(l.Items))
	}
	err := v.each(&watch{ctx: ctx}, func(d DType, l Literal) *Error {
		e, err := read(d, l)
		all = append(all, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func float(_ DType, l Literal) (float64, *Error) {
	n, ok := l.(Number)
	if !ok || !validNumber(n.Text) {
		return 0, mismatch(l, "a number")
	}
	if n.Text == "-nan" { // strconv accepts no sign before nan
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		return 0, &Error{Pos: n.Pos, Msg: "number " + shorten(n.Text) + " is out of the range of float64",
			Hint: "write inf if infinity is meant", Err: err}
	}
	return f, nil
}

func integer(d DType, l Literal) (int64, *Error) {
	n, ok := l.(Number)
	if !ok || !validNumber(n.Text) {
		return 0, mismatch(l, "a whole number")
	}
	if floatLooking(n.Text) {
		return 0, &Error{Pos: n.Pos, Msg: fmt.Sprintf("%s is not a whole number, %v needs one", shorten(n.Text), d),
			Hint: "write decimal digits without point or exponent"}
	}
	lo, hi := d.Range()
	i, err := strconv.ParseInt(n.Text, 10, 64)
	if err == nil && i >= lo && (i < 0 || uint64(i) <= hi) {
		return i, nil
	}
	if _, wide := strconv.ParseUint(n.Text, 10, 64); wide == nil && d == UInt64 {
		return 0, &Error{Pos: n.Pos, Msg: fmt.Sprintf("%s is above %d, the largest uint64 that is supported", n.Text,
			math.MaxInt64), Hint: "write a smaller number", Err: err}
	}
	return 0, &Error{Pos: n.Pos, Msg: fmt.Sprintf("%s is out of range", shorten(n.Text)),
		Hint: fmt.Sprintf("%v holds %d to %d", d, lo, hi), Err: err}
}

func boolean(_ DType, l Literal) (bool, *Error) {
	b, ok := l.(BoolLit)
	if !ok {
		return false, mismatch(l, "true or false")
	}
	return b.Value, nil
}

func text(_ DType, l Literal) (string, *Error) {
	s, ok := l.(StringLit)
	if !ok {
		return "", mismatch(l, "a string")
	}
	return s.Value, nil
}

// mismatch reports that l is not what the declared type needs.
func mismatch(l Literal, want string) *Error {
	e := &Error{Msg: "expected " + want + ", found " + describe(l)}
	if !absent(l) {
		e.Pos = l.literal()
	}
	return e
}

// describe names a literal for a message.
func describe(l Literal) string {
	switch l := l.(type) {
	case Number:
		return "number " + shorten(l.Text)
	case BoolLit:
		return strconv.FormatBool(l.Value)
	case StringLit:
		return "string " + quoteShort(l.Value)
	case *Value:
		return "a typed literal"
	case *Blob:
		return "BLOBFILE"
	case *ListLit:
		return "a list"
	case *DictLit:
		return "a dict"
	case *TupleLit:
		return "a tuple"
	}
	return "nothing"
}

// absent reports whether an operand or a literal is nil or holds a nil pointer.
func absent(n any) bool {
	v := reflect.ValueOf(n)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
