package wire

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Fault answers a request that failed.
type Fault struct {
	Failure
	Also []Failure `max:"faults"` // further errors of the same call
}

// Failure is one error. Its fields are those of ane.Error.
type Failure struct {
	Code   uint32   // number of the sentinel; 0 for none
	Causes []uint32 `max:"causes"` // further sentinels that the error matches
	Text   string   `max:"text"`   // of a cause that is no sentinel

	Op, Engine         string `max:"name"`
	Name               string `max:"path"`
	Detail, Rule, Hint string `max:"text"`
	Domain             string `max:"name"`
	NSCode             int64

	Entitlement string `max:"name"` // the one that is missing, when the call was denied
	Return      uint32 // the driver's return code, 0 where it was not the driver

	Lines []Line `max:"lines"` // faults in a program's text
}

// Line is a fault in a program's text.
type Line struct {
	File      string `max:"path"`
	Line, Col uint32
	Msg, Hint string `max:"text"`
}

// NewFault describes an error for the other side. A Fault has every sentinel of packages ane and context that the error
// matches. It has the fields of its ane.Error, the places in a program's text, and the driver's return code. Joined
// errors become Also. NewFault cuts what is longer than the limits.
func NewFault(err error) Fault {
	all := split(err)
	f := Fault{Failure: one(all[0])}
	for _, e := range all[1:] {
		f.Also = append(f.Also, one(e))
	}
	shorten(reflect.ValueOf(&f).Elem(), &messages()[reflect.TypeFor[Fault]()].field)
	for len(f.Also)+len(f.Lines) > 0 && Check(&f) != nil { // each part is within its limit, the whole is not
		f.Also, f.Lines = f.Also[:len(f.Also)/2], f.Lines[:len(f.Lines)/2]
	}
	return f
}

// split takes joined errors apart when each is an ane.Error, not the cause of another one; anything else is one.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all := joined.Unwrap()
		if len(all) > 1 && !slices.ContainsFunc(all, func(e error) bool {
			_, itself := e.(*ane.Error) //nolint:errorlint // itself, not what it wraps
			return !itself
		}) {
			return all
		}
	}
	return []error{err}
}

func one(err error) Failure {
	f := Failure{Op: "call"}
	cause := err
	var e *ane.Error
	if errors.As(err, &e) {
		f = Failure{Op: e.Op, Engine: e.Engine, Name: e.Name, Detail: e.Detail, Rule: e.Rule,
			Hint: e.Hint, Domain: e.Domain, NSCode: int64(e.Code)}
		cause = e.Err
	}
	if found := codes(err); len(found) > 0 {
		f.Code, f.Causes = found[0], found[1:]
	}
	if cause != nil {
		f.Text = cause.Error()
	}
	var list mil.ErrorList
	if errors.As(err, &list) {
		f.Text = ""
	}
	for _, e := range list {
		f.Lines = append(f.Lines, Line{File: e.File, Line: uint32(max(e.Pos.Line, 0)), Col: uint32(max(e.Pos.Col, 0)),
			Msg: e.Msg, Hint: e.Hint})
	}
	var ret driverabi.Return
	if errors.As(err, &ret) {
		f.Return = uint32(ret)
	}
	if denied, ok := errors.AsType[*Error](err); ok {
		f.Entitlement = denied.Entitlement
	}
	return f
}

// shorten cuts the texts and lists of a message to their limits.
func shorten(v reflect.Value, f *field) {
	switch f.form {
	case formText:
		v.SetString(cut(v.String(), int(f.limit)))
	case formList:
		v.SetLen(min(v.Len(), int(f.limit)))
		for i := range v.Len() {
			shorten(v.Index(i), &f.parts[0])
		}
	case formStruct:
		for i := range f.parts {
			shorten(v.Field(i), &f.parts[i])
		}
	}
}

// cut shortens a text to limit bytes, between two characters.
func cut(s string, limit int) string {
	const dots = "..."
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "?")
	}
	return strings.ToValidUTF8(s[:limit-len(dots)], "") + dots
}

// Err is the error that the Fault describes. It matches the same sentinels, and
// errors.As finds an *ane.Error and, where there are places, a mil.ErrorList.
func (p *Fault) Err() error {
	errs := []error{p.alone()}
	for i := range p.Also {
		errs = append(errs, p.Also[i].alone())
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

func (p *Failure) alone() error {
	return &ane.Error{Op: p.Op, Engine: p.Engine, Name: p.Name, Detail: p.Detail, Rule: p.Rule, Hint: p.Hint,
		Domain: p.Domain, Code: int(p.NSCode), Err: p.cause()}
}

// cause is the cause of the ane.Error.
func (p *Failure) cause() error {
	if len(p.Lines) > 0 {
		var list mil.ErrorList
		for _, l := range p.Lines {
			at := mil.Pos{Line: int(l.Line), Col: int(l.Col)}
			list.Add(&mil.Error{File: l.File, Pos: at, Msg: l.Msg, Hint: l.Hint})
		}
		if what := sentinel(p.Code); what != nil {
			return ane.Because(what, list)
		}
		return list
	}
	e := &Error{State: Answered, Detail: p.Text, Entitlement: p.Entitlement}
	for _, c := range append([]uint32{p.Code}, p.Causes...) {
		if err := sentinel(c); err != nil {
			e.also = append(e.also, err)
		}
	}
	if p.Return != 0 {
		e.also = append(e.also, driverabi.Return(p.Return))
	}
	if len(e.also) > 0 {
		e.Err, e.also = e.also[0], e.also[1:]
	}
	return e
}
