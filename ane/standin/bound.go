package standin

import (
	"context"
	"errors"
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
	shared    int // of blocks
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
	default:
		slog.Debug("standin: a surface cannot be mapped", "error", err)
		return nil, mapRefused
	}
}

// prepare opens the surfaces and has the engine map them.
func (b *bound) prepare() error {
	f := b.procedure
	in, out := make([]*ane.Tensor, len(f.in)), make([]*ane.Tensor, len(f.out))
	for i, id := range b.ids {
		list, at, l := in, i, f.in
		if i >= len(f.in) {
			list, at, l = out, i-len(f.in), f.out
		}
		block, err := b.memory.open(id, l[at].layout.Bytes())
		if err != nil {
			return err
		}
		b.blocks = append(b.blocks, block)
		if list[l[at].place], err = ane.OnBlock(block, l[at].layout); err != nil {
			return err
		}
	}
	run, err := f.exec.Prepare(in, out)
	if err != nil {
		return err
	}
	b.run = run
	for _, block := range b.blocks {
		if err := b.memory.share(block); err != nil {
			return err
		}
		b.shared++
	}
	return nil
}

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
