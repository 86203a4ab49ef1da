package objcbridge

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Request ties surfaces to the symbols of a procedure. It runs once at a time.
type Request struct {
	object object
	busy   atomic.Bool // a call uses what follows, which is here so that a run allocates nothing
	args   [4]uintptr
	record cError
}

// NewRequest ties surfaces to symbols of the loaded program p. The request holds what it needs of
// the surfaces, so they may be closed before it, and it serves every later load of the same text.
func (p *Program) NewRequest(procedure int, in, out []Binding) (*Request, error) {
	if procedure < 0 || procedure > math.MaxInt32 {
		return nil, refuse(StageRequest, ReasonIndex, "no procedure has number %d", procedure)
	}
	if err := p.use(StageRequest); err != nil {
		return nil, err
	}
	defer p.object.done()
	inputs, err := p.bind("input", in)
	defer unbind(in, len(inputs))
	if err != nil {
		return nil, err
	}
	outputs, err := p.bind("output", out)
	defer unbind(out, len(outputs))
	if err != nil {
		return nil, err
	}
	b := p.object.bridge
	r := &Request{object: object{bridge: b, what: "request", free: b.lib.requestRelease}}
	k := call(b.lib.requestCreate, p.object.handle, uintptr(procedure),
		uintptr(unsafe.Pointer(unsafe.SliceData(inputs))), uintptr(len(inputs)),
		uintptr(unsafe.Pointer(unsafe.SliceData(outputs))), uintptr(len(outputs)),
		uintptr(unsafe.Pointer(&r.object.handle)), uintptr(unsafe.Pointer(&r.record)))
	if err := r.record.err(StageRequest, k); err != nil {
		return nil, err
	}
	return r, nil
}

// bind begins a use of each surface and lists them for C; unbind ends the first n uses. With an
// error the list holds the surfaces before the faulty one.
func (p *Program) bind(side string, bindings []Binding) ([]cBinding, error) {
	const most = 255 // of the framework, for inputs and for outputs
	if len(bindings) > most {
		return nil, refuse(StageRequest, ReasonArgument, "%d %ss are more than %d", len(bindings), side, most)
	}
	rows := make([]cBinding, 0, len(bindings))
	for i, b := range bindings {
		if b.Index < 0 || b.Index > math.MaxInt32 {
			return rows, refuse(StageRequest, ReasonIndex, "%s %d: no symbol has index %d", side, i, b.Index)
		}
		if b.Surface.use(StageRequest) != nil {
			return rows, refuse(StageRequest, ReasonState, "%s %d: the surface is closed or was never opened", side, i)
		}
		rows = append(rows, cBinding{surface: b.Surface.object.handle, index: int32(b.Index), bytes: int64(b.Bytes)})
		if b.Surface.object.bridge != p.object.bridge {
			return rows, refuse(StageRequest, ReasonArgument, "%s %d: the surface belongs to another bridge", side, i)
		}
	}
	return rows, nil
}

func unbind(bindings []Binding, n int) {
	for _, b := range bindings[:n] {
		b.Surface.object.done()
	}
}

// begin begins a run of r on p; end ends it.
func (r *Request) begin(p *Program) error {
	if r == nil {
		return closed(StageEvaluate, "request")
	}
	if err := r.object.use(StageEvaluate); err != nil {
		return err
	}
	if err := p.use(StageEvaluate); err != nil {
		r.object.done()
		return err
	}
	var fault *Error
	if r.object.bridge != p.object.bridge {
		fault = refuse(StageEvaluate, ReasonArgument, "the program belongs to another bridge")
	} else if !r.busy.CompareAndSwap(false, true) {
		fault = refuse(StageEvaluate, ReasonState, "the request is in flight")
	}
	if fault != nil {
		r.leave(p)
		return fault
	}
	r.record.kind = 0
	return nil
}

// leave ends the use of both handles.
func (r *Request) leave(p *Program) {
	p.object.done()
	r.object.done()
}

// Evaluate runs the request and blocks until the engine is done. It allocates nothing when it
// succeeds. p is the program that the request was made from, or another load of the same text.
func (r *Request) Evaluate(p *Program, qos uint32) error {
	if err := r.begin(p); err != nil {
		return err
	}
	// Arguments written out in the call would be put on the heap, for the compiler cannot see that C
	// does not keep them.
	r.args = [...]uintptr{p.object.handle, r.object.handle, uintptr(qos), uintptr(unsafe.Pointer(&r.record))}
	k := call(p.object.bridge.lib.evaluate, r.args[:]...)
	runtime.KeepAlive(r)
	err := r.record.err(StageEvaluate, k)
	r.busy.Store(false)
	r.leave(p)
	return err
}

// Close gives the request back.
func (r *Request) Close() {
	if r != nil {
		r.object.end()
	}
}
