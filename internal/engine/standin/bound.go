package standin

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// bound is a request bound to a procedure: Blocks on its surfaces and a prepared run.
// It is closed when the request or the program has been dropped and the last
// evaluation has ended.
type bound struct {
	procedure *procedure
	memory    memory
	ids       []uint32 // ids of the surfaces: inputs, then outputs
	blocks    []*unimem.Block
	own       []*unimem.Block // the engine's, for surfaces with another placement
	shared    int             // number of blocks shared
	run       ane.Invocation
	users     atomic.Int64 // the server's list counts as one, and each evaluation
}

// bind binds surfaces to the procedure. The caller holds the program's lock.
func (f *procedure) bind(m memory, in, out []uint32) (*bound, status) {
	b := &bound{procedure: f, memory: m, ids: slices.Concat(in, out)}
	if f.bounds == 0 {
		if err := f.exec.Load(context.Background()); err != nil {
			logError("load", err)
			return nil, failed
		}
	}
	f.bounds++
	f.program.bounds++
	var whole bool
	defer func() {
		if !whole { // also after a panic
			b.close()
		}
	}()
	switch err := b.prepare(); {
	case err == nil:
		whole = true
		return b, done
	case errors.Is(err, unimem.ErrSize), errors.Is(err, ane.ErrShort):
		return nil, tooShort
	case errors.Is(err, errPlace):
		logError("bind", err)
		return nil, failed
	default:
		return nil, mapRefused // the framework says so
	}
}

// prepare opens the surfaces and has the engine map them. If the attributes place
// elements differently, it maps tensors of its own.
func (b *bound) prepare() error {
	f := b.procedure
	in, out := make([]*ane.Tensor, len(f.in)), make([]*ane.Tensor, len(f.out))
	var s staged
	for i, id := range b.ids {
		list, at, ports, layouts, copies := in, i, f.in, f.exec.Inputs(), &s.in
		if i >= len(f.in) {
			list, at, ports, layouts, copies = out, i-len(f.in), f.out, f.exec.Outputs(), &s.out
		}
		p := ports[at]
		l := layouts[p.place]
		t, ok := transferOf(p, l)
		if !ok {
			return fmt.Errorf("%w: %s, placed by its attributes at %+v", errPlace, p.name, p.placement)
		}
		block, err := b.memory.open(id, t.room)
		if err != nil {
			return err
		}
		b.blocks = append(b.blocks, block)
		t.surface = block
		if !t.agrees {
			if block, err = unimem.Open(l.Bytes()); err != nil {
				return err
			}
			b.own = append(b.own, block)
			t.own = block
			*copies = append(*copies, t)
		}
		if list[p.place], err = ane.OnBlock(block, l); err != nil {
			return err
		}
	}
	run, err := f.exec.Prepare(in, out)
	if err != nil {
		return err
	}
	b.run = run
	if len(b.own) > 0 {
		s.run = run
		b.run = &s
	}
	for _, block := range b.blocks {
		if err := b.memory.share(block); err != nil {
			return err
		}
		b.shared++
	}
	return nil
}

// errPlace is the error of a tensor that does not fit its placement in the
// attributes.
var errPlace = errors.New("the surface cannot hold the tensor")

// release removes a user and closes b after the last.
func (b *bound) release() {
	if b.users.Add(-1) == 0 {
		b.procedure.program.mu.Lock()
		defer b.procedure.program.mu.Unlock()
		b.close()
	}
}

// releaseLocked is release for callers that hold the program's lock.
func (b *bound) releaseLocked() {
	if b.users.Add(-1) == 0 {
		b.close()
	}
}

// close releases everything. The caller holds the program's lock.
func (b *bound) close() {
	for _, block := range b.blocks[:b.shared] {
		logError("unshare", b.memory.unshare(block))
	}
	if b.run != nil {
		logError("close", b.run.Close())
	}
	for _, block := range b.blocks {
		logError("close", b.memory.close(block))
	}
	for _, block := range b.own {
		logError("close", block.Close())
	}
	f := b.procedure
	f.program.bounds--
	if f.bounds--; f.bounds == 0 {
		logError("unload", f.exec.Unload(context.Background()))
	}
	f.program.closeIdle()
}

// logError logs an error that the C interface cannot return.
func logError(call string, err error) {
	if err != nil {
		log.Printf("standin: %s: %v", call, err)
	}
}
