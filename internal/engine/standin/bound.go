package standin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// bound is a request tied to a procedure: Blocks on its surfaces and a prepared
// run. It is kept until the request or the program is dropped and the last
// evaluation has ended, whichever comes last.
type bound struct {
	procedure *procedure
	memory    memory
	ids       []uint32 // of the surfaces: inputs, then outputs
	blocks    []*unimem.Block
	own       []*unimem.Block // the engine's, where surfaces are not as it wants them
	shared    int             // of blocks
	run       ane.Invocation
	users     atomic.Int64 // the server's list, and each evaluation
}

// bind ties surfaces to the procedure. The caller holds the program's lock.
func (f *procedure) bind(m memory, in, out []uint32) (*bound, status) {
	b := &bound{procedure: f, memory: m, ids: slices.Concat(in, out)}
	if f.bounds == 0 {
		if err := f.exec.Load(context.Background()); err != nil {
			complain("load", err)
			return nil, failed
		}
	}
	f.bounds++
	f.program.bounds++
	var whole bool
	defer func() {
		if !whole { // also when something panicked
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
		complain("bind", err)
		return nil, failed
	default:
		slog.Debug("standin: a surface cannot be mapped", "error", err)
		return nil, mapRefused
	}
}

// prepare opens the surfaces and has the engine map them, or tensors of its own where
// the attributes place elements otherwise.
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
			return fmt.Errorf("%w: %s, by its attributes %+v", errPlace, p.name, p.spot)
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

// errPlace is that of a tensor which cannot be where the attributes have it.
var errPlace = errors.New("the surface cannot hold the tensor")

// leave counts one user less, and closes b with the last.
func (b *bound) leave() {
	if b.users.Add(-1) == 0 {
		b.procedure.program.mu.Lock()
		defer b.procedure.program.mu.Unlock()
		b.close()
	}
}

// leaveLocked is leave for those who hold the program's lock.
func (b *bound) leaveLocked() {
	if b.users.Add(-1) == 0 {
		b.close()
	}
}

// close gives everything back. The caller holds the program's lock.
func (b *bound) close() {
	for _, block := range b.blocks[:b.shared] {
		complain("unshare", b.memory.unshare(block))
	}
	if b.run != nil {
		complain("close", b.run.Close())
	}
	for _, block := range b.blocks {
		complain("close", b.memory.close(block))
	}
	for _, block := range b.own {
		complain("close", block.Close())
	}
	f := b.procedure
	f.program.bounds--
	if f.bounds--; f.bounds == 0 {
		complain("unload", f.exec.Unload(context.Background()))
	}
	f.program.closeIdle()
}

// complain notes an error that the C interface has no words for.
func complain(call string, err error) {
	if err != nil {
		slog.Error("standin: "+call, "error", err)
	}
}
