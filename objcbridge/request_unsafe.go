package objcbridge

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Request binds surfaces to the symbols of a procedure. It has one run at a time.
type Request struct {
	object
	busy   atomic.Bool // a call uses the fields below, which save allocations
	args   [4]uintptr
	record cError
}

// NewRequest binds surfaces to symbols of the loaded program p. The request holds the surfaces, so they may be closed
// before it, and it is valid for every later load of the same text. The error is an *Error of the stage request.
func (p *Program) NewRequest(procedure int, in, out []Binding) (*Request, error) {
	if procedure < 0 || procedure > math.MaxInt32 {
		return nil, refuse(stageRequest, ReasonIndex, "no procedure has number %d", procedure)
	}
	if err := p.use(stageRequest); err != nil {
		return nil, err
	}
	defer p.done()
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
	b := p.bridge
	r := &Request{object: object{bridge: b, what: "request", free: b.lib.requestRelease}}
	k := call(b.lib.requestCreate, p.handle, uintptr(procedure),
		uintptr(unsafe.Pointer(unsafe.SliceData(inputs))), uintptr(len(inputs)),
		uintptr(unsafe.Pointer(unsafe.SliceData(outputs))), uintptr(len(outputs)),
		uintptr(unsafe.Pointer(&r.handle)), uintptr(unsafe.Pointer(&r.record)))
	if err := r.record.err(stageRequest, k); err != nil {
		return nil, err
	}
	return r, nil
}

// bind begins a use of each surface and lists them for C. unbind ends the first n uses. With an
// error the list holds the surfaces before the faulty one.
func (p *Program) bind(side string, bindings []Binding) ([]cBinding, error) {
	const most = 255 // the framework's limit of inputs and of outputs
	if len(bindings) > most {
		return nil, refuse(stageRequest, ReasonArgument, "%d %ss, at most %d are allowed", len(bindings), side, most)
	}
	rows := make([]cBinding, 0, len(bindings))
	for i, b := range bindings {
		if b.Index < 0 || b.Index > math.MaxInt32 {
			return rows, refuse(stageRequest, ReasonIndex, "%s %d: %d is not the index of a symbol", side, i, b.Index)
		}
		if b.Surface.use(stageRequest) != nil {
			return rows, refuse(stageRequest, ReasonState, "%s %d: the surface is closed or was never opened", side, i)
		}
		rows = append(rows, cBinding{surface: b.Surface.handle, index: int32(b.Index), bytes: int64(b.Bytes)})
		if b.Surface.bridge != p.bridge {
			return rows, refuse(stageRequest, ReasonArgument, "%s %d: the surface belongs to another bridge", side, i)
		}
	}
	return rows, nil
}

func unbind(bindings []Binding, n int) {
	for _, b := range bindings[:n] {
		b.Surface.done()
	}
}

// Evaluate runs the request and blocks until the engine is done. A successful run allocates nothing. p is the program
// that the request was made from, or another load of the same text. The error is an *Error of StageEvaluate.
func (r *Request) Evaluate(p *Program, qos uint32) error {
	if r == nil {
		return closed(StageEvaluate, "request")
	}
	if err := r.use(StageEvaluate); err != nil {
		return err
	}
	defer r.done()
	if err := p.use(StageEvaluate); err != nil {
		return err
	}
	defer p.done()
	if r.bridge != p.bridge {
		return refuse(StageEvaluate, ReasonArgument, "the program belongs to another bridge")
	}
	if !r.busy.CompareAndSwap(false, true) {
		return refuse(StageEvaluate, ReasonState, "the request is in flight")
	}
	defer r.busy.Store(false)
	r.record.kind = 0
	// Arguments inside the call expression would be allocated on the heap, because the compiler
	// cannot see that C does not keep them.
	r.args = [...]uintptr{p.handle, r.handle, uintptr(qos), uintptr(unsafe.Pointer(&r.record))}
	k := call(p.bridge.lib.evaluate, r.args[:]...)
	runtime.KeepAlive(r)
	return r.record.err(StageEvaluate, k)
}

// Close closes the request.
func (r *Request) Close() {
	if r != nil {
		r.close()
	}
}
