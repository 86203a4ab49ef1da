package objcbridge

import (
	"runtime"
	"sync/atomic"
)

// object is a handle of the bridge with the number of calls that use it. The closed bit rejects new
// calls. The handle is released when the bit is set and the number is 0, by Close or by the last
// call.
type object struct {
	users  atomic.Int64
	bridge *Bridge
	what   string // "program"
	handle uintptr
	free   uintptr         // the C function that releases handle
	pins   *runtime.Pinner // memory that C reads until then; may be nil
}

const closedBit = 1 << 62

// use begins a call; done ends it.
func (o *object) use(stage Stage) error {
	for {
		n := o.users.Load()
		if n&closedBit != 0 || o.handle == 0 {
			return closed(stage, o.what)
		}
		if o.users.CompareAndSwap(n, n+1) {
			return nil
		}
	}
}

func (o *object) done() {
	if o.users.Add(-1) == closedBit {
		o.release()
	}
}

// close closes the object. Running calls continue.
func (o *object) close() {
	for {
		n := o.users.Load()
		if n&closedBit != 0 || o.handle == 0 {
			return
		}
		if o.users.CompareAndSwap(n, n|closedBit) {
			if n == 0 {
				o.release()
			}
			return
		}
	}
}

func (o *object) release() {
	call(o.free, o.handle)
	if o.pins != nil {
		drop(o.pins)
	}
}

// user is a handle that a call uses.
type user interface {
	use(stage Stage) error // begins a call, or returns the error of a handle that is not open
	done()                 // ends it
}

// do uses u while f calls C with an error record.
func do(u user, stage Stage, f func(record *cError) int32) error {
	if err := u.use(stage); err != nil {
		return err
	}
	defer u.done()
	record := new(cError)
	return record.err(stage, f(record))
}

// closed is the error of a method on a handle that is closed, nil or zero.
func closed(stage Stage, what string) *Error {
	if what == "" {
		what = "handle"
	}
	return refuse(stage, ReasonState, "the %s is closed or was never opened", what)
}
