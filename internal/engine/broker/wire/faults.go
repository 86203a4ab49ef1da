package wire

import (
	"errors"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/ane/mil"
)

// NewFault describes an error for the other side: every sentinel of package ane and of
// package context that it matches, the fields of its ane.Error, the places in a
// program's text, and the driver's return code. Errors that were joined become Also.
// What is longer than the limits is cut.
func NewFault(err error) Fault {
	all := split(err)
	f := one(all[0])
	for _, e := range all[1:min(len(all), MaxFaults)] {
		f.Also = append(f.Also, one(e))
	}
	for len(f.Also)+len(f.Lines) > 0 && Check(&f) != nil { // each part is within its limit, the whole is not
		f.Also, f.Lines = f.Also[:len(f.Also)/2], f.Lines[:len(f.Lines)/2]
	}
	return f
}

// split takes joined errors apart; anything else is one.
func split(err error) []error {
	var fault *ane.Error
	if joined, ok := err.(interface{ Unwrap() []error }); ok && !asItself(err, &fault) {
		if all := joined.Unwrap(); len(all) > 1 && describes(all) {
			return all
		}
	}
	return []error{err}
}

func asItself(err error, fault **ane.Error) bool {
	var ok bool
	*fault, ok = err.(*ane.Error)
	return ok
}

// describes reports whether each of several errors is an ane.Error, not the cause of
// another one.
func describes(all []error) bool {
	for _, e := range all {
		var fault *ane.Error
		if !asItself(e, &fault) {
			return false
		}
	}
	return true
}

func one(err error) Fault {
	f := Fault{Op: "call"}
	cause := err
	var e *ane.Error
	if errors.As(err, &e) {
		f = Fault{Op: e.Op, Engine: e.Engine, Name: e.Name, Detail: e.Detail, Rule: e.Rule, Hint: e.Hint, Domain: e.Domain, NSCode: int64(e.Code)}
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
		f.Lines = lines(list)
		f.Text = ""
	}
	var ret driverabi.Return
	if errors.As(err, &ret) {
		f.Return = uint32(ret)
	}
	var key interface{ Missing() string }
	if errors.As(err, &key) {
		f.Entitlement = key.Missing()
	}
	f.cut()
	return f
}

func lines(list mil.ErrorList) []Line {
	var all []Line
	for _, e := range list[:min(len(list), MaxLines)] {
		all = append(all, Line{File: cut(e.File, MaxPath), Line: uint32(max(e.Pos.Line, 0)), Col: uint32(max(e.Pos.Col, 0)),
			Msg: cut(e.Msg, MaxText), Hint: cut(e.Hint, MaxText)})
	}
	return all
}

func (p *Fault) cut() {
	for _, s := range []struct {
		text  *string
		limit int
	}{
		{&p.Text, MaxText}, {&p.Op, MaxName}, {&p.Engine, MaxName}, {&p.Name, MaxPath}, {&p.Detail, MaxText},
		{&p.Rule, MaxText}, {&p.Hint, MaxText}, {&p.Domain, MaxName}, {&p.Entitlement, MaxName},
	} {
		*s.text = cut(*s.text, s.limit)
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

func (p *Fault) alone() error {
	return &ane.Error{Op: p.Op, Engine: p.Engine, Name: p.Name, Detail: p.Detail, Rule: p.Rule, Hint: p.Hint,
		Domain: p.Domain, Code: int(p.NSCode), Err: p.cause()}
}

// cause is what stands behind the ane.Error.
func (p *Fault) cause() error {
	r := remote{text: p.Text}
	for _, c := range append([]uint32{p.Code}, p.Causes...) {
		if err := sentinel(c); err != nil {
			r.matches = append(r.matches, err)
		}
	}
	if p.Return != 0 {
		r.matches = append(r.matches, driverabi.Return(p.Return))
	}
	if p.Entitlement != "" {
		r.matches = append(r.matches, missing(p.Entitlement))
	}
	if len(p.Lines) > 0 {
		var list mil.ErrorList
		for _, l := range p.Lines {
			list.Add(&mil.Error{File: l.File, Pos: mil.Pos{Line: int(l.Line), Col: int(l.Col)}, Msg: l.Msg, Hint: l.Hint})
		}
		return ane.Because(sentinel(p.Code), list)
	}
	return r
}

// remote is an error of the other side: its text, and what it matches.
type remote struct {
	text    string
	matches []error
}

func (r remote) Error() string {
	if r.text != "" || len(r.matches) == 0 {
		return r.text
	}
	return r.matches[0].Error()
}

func (r remote) Unwrap() []error { return r.matches }

// missing is an entitlement that a client lacks; errors.As with the interface
// { Missing() string } finds its name.
type missing string

func (m missing) Error() string   { return ane.ErrDenied.Error() + ": " + string(m) }
func (m missing) Missing() string { return string(m) }
