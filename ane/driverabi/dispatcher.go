package driverabi

import "fmt"

// Handler serves one selector. The arguments have the exact counts and sizes of its
// Method, and belong to the caller again when the handler returns.
type Handler func(client any, a *Args) Return

// Closing may be had by the client value that is passed to Call. While it answers true
// every selector answers NotOpen.
type Closing interface{ Closing() bool }

// Dispatcher checks calls against a method table before it hands them on. It is safe
// for use by several goroutines if its handlers are.
type Dispatcher struct{ entries []entry }

type entry struct {
	Method
	handler Handler
}

// NewDispatcher makes a dispatcher from a table, whose methods have the selectors 0, 1,
// 2 and so on, and from the handlers of some of its selectors. A selector without one
// answers Unsupported. A size that is Unchecked, a selector out of order, a handler
// that is nil, that has no method or that belongs to a disabled one are an *Error
// matching ErrTable.
func NewDispatcher(methods []Method, handlers map[int]Handler) (*Dispatcher, error) {
	d := &Dispatcher{entries: make([]entry, len(methods))}
	for i, m := range methods {
		if m.Selector != i {
			return nil, badTable(m.Handler+" selector", i, m.Selector, "list every selector once, in order from 0")
		}
		for _, size := range [...]uint32{m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut} {
			if size == Unchecked {
				return nil, badTable(m.Handler+" size", 0, int(Unchecked), "give the exact size; no method of the driver is unchecked")
			}
		}
		d.entries[i].Method = m
	}
	for selector, h := range handlers {
		switch {
		case selector < 0 || selector >= len(methods):
			return nil, badTable("handler", len(methods), selector, "give handlers to selectors of the table only")
		case h == nil:
			return nil, badTable(methods[selector].Handler, selector, selector, "leave the selector out instead of giving it a nil handler")
		case methods[selector].Disabled:
			return nil, badTable(methods[selector].Handler, selector, selector, "a disabled method answers Unsupported and takes no handler")
		}
		d.entries[selector].handler = h
	}
	return d, nil
}

func badTable(what string, want, have int, hint string) error {
	return &Error{Structure: what, Want: uint64(want), Have: uint64(have), Err: ErrTable, Hint: hint}
}

// Call checks a call and has its handler serve it. In this order it answers
//   - BadArgument to a selector that the table does not have, to nil arguments, and to
//     every count or size that is not exactly the method's; nil and empty are equal;
//   - Unsupported for a disabled method;
//   - NotOpen if client is Closing;
//   - Unsupported for a method without a handler;
//   - what the handler answers.
//
// It does not allocate.
func (d *Dispatcher) Call(client any, selector int, a *Args) Return {
	if d == nil || selector < 0 || selector >= len(d.entries) || a == nil {
		return BadArgument
	}
	e := &d.entries[selector]
	switch {
	case !e.fits(a):
		return BadArgument
	case e.Disabled:
		return Unsupported
	}
	if c, ok := client.(Closing); ok && c.Closing() {
		return NotOpen
	}
	if e.handler == nil {
		return Unsupported
	}
	return e.handler(client, a)
}

// fits tells whether a has the exact counts and sizes of m.
func (m *Method) fits(a *Args) bool {
	return uint64(len(a.ScalarIn)) == uint64(m.ScalarIn) &&
		uint64(len(a.StructIn)) == uint64(m.StructIn) &&
		uint64(len(a.ScalarOut)) == uint64(m.ScalarOut) &&
		uint64(len(a.StructOut)) == uint64(m.StructOut)
}

// Method returns the method of a selector, and false where the table has none.
func (d *Dispatcher) Method(selector int) (Method, bool) {
	if d == nil || selector < 0 || selector >= len(d.entries) {
		return Method{}, false
	}
	return d.entries[selector].Method, true
}

// String names the dispatcher by its size.
func (d *Dispatcher) String() string {
	return fmt.Sprintf("dispatcher of %d selectors", len(d.entries))
}
