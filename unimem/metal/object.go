package metal

import (
	"sync"

	"github.com/anekit/anekit/unimem"
)

// object is an Objective-C object, of which this package owns a reference until close. It retains its Block, if it has
// one.
type object struct {
	driver *driver
	device *Device
	block  *unimem.Block // nil for an object without memory

	mu   sync.Mutex
	ref  uintptr // zero when closed
	uses int     // submissions that have not ended, and calls that need the object
	late bool    // the last use releases it
}

// get returns the reference, zero for nil and after close.
func (o *object) get() uintptr {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ref
}

// hold keeps the object open until drop. It returns zero for a closed one.
func (o *object) hold() uintptr {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ref != 0 {
		o.uses++
	}
	return o.ref
}

func (o *object) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.uses--; o.uses == 0 && o.late {
		o.driver.release(o.ref)
		o.ref = 0
	}
}

// abandon releases an object without memory, after the work that names it.
func (o *object) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.late = true; o.uses == 0 && o.ref != 0 {
		o.driver.release(o.ref)
		o.ref = 0
	}
}

// close releases the object, then the Block, once. The error is ErrInUse while a submission that names it has not
// ended.
func (o *object) close(what string) error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.ref == 0:
		return nil
	case o.uses > 0:
		return newError("close", ErrInUse, "", "wait for the Work that names the "+what)
	}
	o.driver.release(o.ref)
	o.ref = 0
	if o.block != nil {
		o.block.Release()
	}
	return nil
}
