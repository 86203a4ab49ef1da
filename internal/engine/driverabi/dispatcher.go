package driverabi

import (
	"slices"
	"strconv"
)

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
			return nil, badTable(m.Selector, m.Handler, "list every selector once, in order from 0")
		}
		if slices.Contains([]uint32{m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut}, Unchecked) {
			return nil, badTable(i, m.Handler,
				"give exact sizes; the driver has no 0xffffffff, which leaves a size unchecked")
		}
		d.entries[i].Method = m
	}
	for selector, h := range handlers {
		if selector < 0 || selector >= len(methods) {
			return nil, badTable(selector, "not in the table", "give handlers to selectors of the table only")
		}
		switch m := methods[selector]; {
		case h == nil:
			return nil, badTable(selector, m.Handler, "leave the selector out instead of giving it a nil handler")
		case m.Disabled:
			return nil, badTable(selector, m.Handler, "give it no handler; a disabled method answers Unsupported")
		}
		d.entries[selector].handler = h
	}
	return d, nil
}

// badTable is about one selector, with the name of its handler.
func badTable(selector int, name, hint string) error {
	return &Error{Structure: "selector " + strconv.Itoa(selector) + " (" + name + ")", Err: ErrTable, Hint: hint}
}

// Call checks a call and has its handler serve it. In this order it answers
//   - BadArgument to a selector that the table does not have, to nil arguments, and to
//     every count or size that is not exactly the method's; nil and empty are equal;
//   - BadArgument to a port for a method that is not Async, which would never wake it;
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
	case !e.fits(a), a.AsyncPort != 0 && !e.Async:
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
