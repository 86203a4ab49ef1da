package objcbridge

import (
	"sync"
	"unsafe"
)

// run is an asynchronous run without an answer. It counts as a use of both handles.
type run struct {
	request *Request
	program *Program
	done    func(error)
}

// Ticket stands for an asynchronous run.
type Ticket struct {
	lib    *library
	number uintptr // in process.runs
	ticket uint64  // the bridge's own number

	mu        sync.Mutex
	forgotten bool
}

// Start begins a run and returns at once. When it succeeds, done is called exactly once with the
// result, in a goroutine of its own and possibly before Start returns, unless Forget has returned
// true; when it fails, never. A completion may never come: the caller keeps a deadline and then
// calls Forget. Request and Program stay in use until done or Forget.
func (r *Request) Start(p *Program, qos uint32, done func(error)) (*Ticket, error) {
	if done == nil {
		return nil, refuse(StageEvaluate, ReasonArgument, "no function to call when the run is done")
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
	// A run that was answered although its start failed is left to the answer.
	if err != nil && strike(number) != nil {
		r.leave(p)
		return nil, err
	}
	return t, nil
}

// enroll gives the run a number and returns it with the address that C calls.
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

// strike takes a run off the list: the one who gets it ends it.
func strike(number uintptr) *run {
	process.Lock()
	defer process.Unlock()
	r := process.runs[number]
	delete(process.runs, number)
	return r
}

// completed is called by C, on a thread of the framework, with the number of a run. It copies the
// record, which is valid only now, and returns, so that nothing which done does holds up the
// framework or can meet a lock of the framework's.
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

// finish gives the handles free before it tells the caller, who may then close the Bridge.
func (r *run) finish(err error) {
	r.request.leave(r.program)
	r.done(err)
}

// Forget gives up a run. True: done will not be called any more, and the handles are free for Close;
// the bridge itself keeps alive what the framework may still use. False: done has been called or is
// about to be.
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
		r.request.leave(r.program)
	}
	t.forgotten = true
	return true
}
