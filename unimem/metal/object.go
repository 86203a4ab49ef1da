package metal

import (
	"sync"

	"github.com/anekit/anekit/unimem"
)

// object is an Objective-C object over a Block, which it retains until close.
type object struct {
	driver *driver
	block  *unimem.Block

	mu  sync.Mutex
	ref uintptr // zero when closed
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

// close releases the object, then the Block, once.
func (o *object) close() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ref == 0 {
		return
	}
	o.driver.release(o.ref)
	o.ref = 0
	o.block.Release()
}
