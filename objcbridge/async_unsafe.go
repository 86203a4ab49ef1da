package objcbridge

import (
	"sync"
	"unsafe"
)

// run is an asynchronous run without an answer. It uses both handles.
type run struct {
	request *Request
	program *Program
	done    func(error)
}

// Ticket identifies an asynchronous run.
type Ticket struct {
	lib    *library
	number uintptr // key in process.runs
	ticket uint64  // the bridge's own number

	mu        sync.Mutex
	forgotten bool
}

// Start begins a run and returns immediately. If it succeeds, done is called exactly once with the
// result, in its own goroutine and possibly before Start returns, unless Forget has returned true.
// If it fails, done is never called. A completion may never arrive: the caller should set a deadline
// and then call Forget. Request and Program stay in use until done or Forget.
func (r *Request) Start(p *Program, qos uint32, done func(error)) (*Ticket, error) {
	if done == nil {
		return nil, refuse(StageEvaluate, ReasonArgument, "done is nil; pass the function to call when the run is done")
	}
	if err := r.begin(p); err != nil {
		return nil, err
	}
	lib := p.object.bridge.lib
	number, callback := enroll(&run{request: r, program: p, done: done})
	t := &Ticket{lib: lib, number: number}
	k := call(lib.evaluateAsync, p.object.handle, r.object.handle, uintptr(qos), callback, number,
		uintptr(unsafe.Pointer(&t.ticket)), uintptr(unsafe.Pointer(&r.record)))
	err := r.record.err(StageEvaluate, k)
	r.busy.Store(false)
	// If a run was answered although its start failed, the answer calls done.
	if err != nil && strike(number) != nil {
		r.release(p)
		return nil, err
	}
	return t, nil
}

// enroll registers the run and returns its number and the address that C calls.
func enroll(r *run) (number, callback uintptr) {
	process.Lock()
	defer process.Unlock()
	if process.runs == nil {
		process.runs = map[uintptr]*run{}
		process.callback = callbackAddress()
	}
	process.lastRun++
	process.runs[process.lastRun] = r
	return process.lastRun, process.callback
}

// strike removes a run from the list. Only the caller that gets the run finishes it.
func strike(number uintptr) *run {
	process.Lock()
	defer process.Unlock()
	r := process.runs[number]
	delete(process.runs, number)
	return r
}

// completed is called by C, on a thread of the framework, with the number of a run. It copies the
// record, which is valid only during the call, and returns, so that done cannot block the framework
// or deadlock with its locks.
func completed(number uintptr, kind uintptr, record *cError) {
	r := strike(number)
	if r == nil {
		return
	}
	var err error
	if record != nil {
		err = record.err(StageEvaluate, int32(uint32(kind)))
	} else {
		err = new(cError).err(StageEvaluate, int32(uint32(kind)))
	}
	go r.finish(err)
}

// finish releases the handles before it calls done, which may close the Bridge.
func (r *run) finish(err error) {
	r.request.release(r.program)
	r.done(err)
}

// Forget abandons a run. If it returns true, done will not be called and the handles can be closed;
// the bridge keeps alive what the framework may still use. If it returns false, done has been called
// or is about to be called.
func (t *Ticket) Forget() bool {
	if t == nil || t.lib == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forgotten {
		return true
	}
	if call(t.lib.giveUpRun, uintptr(t.ticket)) != 1 {
		return false
	}
	if r := strike(t.number); r != nil {
		r.request.release(r.program)
	}
	t.forgotten = true
	return true
}
