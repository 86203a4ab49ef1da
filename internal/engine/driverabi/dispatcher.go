package driverabi

// Args is what an IOExternalMethodArguments leads to: the arguments of one call. The
// lengths of the outputs are what the caller asks for, and handlers write into them.
type Args struct {
	AsyncPort uint64 // the mach port that completion wakes, in asynchronous calls; 0 in others
	ScalarIn  []uint64
	StructIn  []byte
	ScalarOut []uint64
	StructOut []byte
}

// Handler serves one selector: nil is Success, and any other answer matches its Return. The
// arguments have the exact counts and sizes of its Method, and belong to the caller again
// when the handler returns.
type Handler func(client any, a *Args) error

// Dispatcher checks calls against a method table before it hands them on. It is safe
// for use by several goroutines if its handlers are.
type Dispatcher struct{ entries []entry }

type entry struct {
	Method
	handler         Handler
	disabled, async bool
}

// NewDispatcher makes a dispatcher from a table, ControlMethods or DirectMethods, and from
// the handlers of some of its selectors.
func NewDispatcher(methods []Method, handlers map[int]Handler) *Dispatcher {
	d := &Dispatcher{entries: make([]entry, len(methods))}
	for i, m := range methods {
		d.entries[i] = entry{m, handlers[i], m.Disabled(), m.Async()}
	}
	return d
}

// Call checks a call and has its handler serve it. In this order it answers
//   - BadArgument to an unknown selector, to nil arguments, and to every count or size that differs from the method's
//     (nil and empty are equal);
//   - BadArgument to a port for a method that is not Async, which would never wake it;
//   - Unsupported for a method that is disabled or has no handler;
//   - what the handler answers.
//
// What does not come from a handler is a bare Return. Call does not allocate.
func (d *Dispatcher) Call(client any, selector int, a *Args) error {
	if selector < 0 || selector >= len(d.entries) || a == nil {
		return BadArgument
	}
	e := &d.entries[selector]
	switch {
	case !e.fits(a), a.AsyncPort != 0 && !e.async:
		return BadArgument
	case e.disabled || e.handler == nil:
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
	if selector < 0 || selector >= len(d.entries) {
		return Method{}, false
	}
	return d.entries[selector].Method, true
}
