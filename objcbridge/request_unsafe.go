package objcbridge

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Request binds surfaces to the symbols of a procedure. It has one run at a time.
type Request struct {
	object object
	busy   atomic.Bool // a call uses the fields below, which save allocations
	args   [4]uintptr
	record cError
}

// NewRequest binds surfaces to symbols of the loaded program p. The request holds the surfaces, so they may be closed
// before it, and it is valid for every later load of the same text. The error is an *Error of StageRequest.
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

// bind begins a use of each surface and lists them for C. unbind ends the first n uses. With an
// error the list holds the surfaces before the faulty one.
func (p *Program) bind(side string, bindings []Binding) ([]cBinding, error) {
	const most = 255 // the framework's limit of inputs and of outputs
	if len(bindings) > most {
		return nil, refuse(StageRequest, ReasonArgument, "%d %ss, at most %d are allowed", len(bindings), side, most)
	}
	rows := make([]cBinding, 0, len(bindings))
	for i, b := range bindings {
		if b.Index < 0 || b.Index > math.MaxInt32 {
			return rows, refuse(StageRequest, ReasonIndex, "%s %d: %d is not the index of a symbol", side, i, b.Index)
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

// begin begins a run of r on p: it uses both handles and marks r busy.
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
		r.release(p)
		return fault
	}
	r.record.kind = 0
	return nil
}

// release ends the use of both handles.
func (r *Request) release(p *Program) {
	p.object.done()
	r.object.done()
}

// Evaluate runs the request and blocks until the engine is done. A successful run allocates nothing. p is the program
// that the request was made from, or another load of the same text. The error is an *Error of StageEvaluate.
func (r *Request) Evaluate(p *Program, qos uint32) error {
	if err := r.begin(p); err != nil {
		return err
	}
	// Arguments inside the call expression would be allocated on the heap, because the compiler
	// cannot see that C does not keep them.
	r.args = [...]uintptr{p.object.handle, r.object.handle, uintptr(qos), uintptr(unsafe.Pointer(&r.record))}
	k := call(p.object.bridge.lib.evaluate, r.args[:]...)
	runtime.KeepAlive(r)
	err := r.record.err(StageEvaluate, k)
	r.busy.Store(false)
	r.release(p)
	return err
}

// Close closes the request.
func (r *Request) Close() {
	if r != nil {
		r.object.close()
	}
}
