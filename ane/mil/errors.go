package mil

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Pos is a place in MIL text, or the line of a call that builds a program. Line and Col count from 1, Col in bytes; Col
// is 0 for a whole line. The zero Pos is an unknown place, as in programs made in Go.
type Pos struct {
	Line int `json:"line"`
	Col  int `json:"column"`
}

// Known reports whether the position points into a text.
func (p Pos) Known() bool { return p.Line > 0 }

func (p Pos) String() string {
	if p.Col == 0 {
		return strconv.Itoa(p.Line)
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Col)
}

// compare orders places of a text.
func (p Pos) compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// errNames marks faults of names.
var errNames = errors.New("names do not fit together")

// Error is one fault of a MIL text or of a file that it names.
type Error struct {
	File string // the name given to Parse; may be empty
	Pos  Pos
	Msg  string // what is wrong
	Hint string // how to fix it; may be empty
	Err  error  // the cause; may be nil
}

// Error returns FILE:LINE:COL: what is wrong; how to fix it.
func (e *Error) Error() string {
	text, place := e.Msg, e.File
	if e.Pos.Known() {
		place = strings.TrimPrefix(place+":"+e.Pos.String(), ":")
	}
	if place != "" {
		text = place + ": " + text
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorList holds every fault found in a program, in order of position.
type ErrorList []*Error

// Add appends a fault.
func (l *ErrorList) Add(e *Error) { *l = append(*l, e) }

// sort orders the list by file and position, keeping the order of faults at one place.
func (l ErrorList) sort() {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), a.Pos.compare(b.Pos))
	})
}

// Err returns the sorted list as an error, or nil when it is empty.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	l.sort()
	return l
}

// Error returns the faults, one per line.
func (l ErrorList) Error() string {
	return strings.Join(each(l, (*Error).Error), "\n")
}

// Unwrap gives errors.Is and errors.As access to each fault.
func (l ErrorList) Unwrap() []error {
	return each(l, func(e *Error) error { return e })
}

// OnlyNames reports whether err is a list of faults of names alone, in an otherwise well-formed program. Such a fault
// is a name defined twice, used before its definition or not defined, or an argument given twice. Such a program can be
// analyzed further.
func OnlyNames(err error) bool {
	list, ok := errors.AsType[ErrorList](err)
	return ok && !slices.ContainsFunc(list, func(e *Error) bool { return !errors.Is(e, errNames) })
}
