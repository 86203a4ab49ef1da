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

// evaluate runs a procedure on surfaces, given by their ids in the order of
// rising symbol index. It allocates nothing for a request that was evaluated
// before.
func (s *server) evaluate(handle uint64, index uint32, request uint64, in, out []uint32) (answer status) {
	defer survive("evaluate", func() { answer = failed })
	b, answer := s.enter(handle, index, request, in, out)
	if answer != done {
		return answer
	}
	defer b.leave()
	if err := b.run.Evaluate(context.Background()); err != nil {
		complain("evaluate", err)
		return failed
	}
	return done
}

// enter finds or makes what is bound for a request, and counts one more user.
func (s *server) enter(handle uint64, index uint32, request uint64, in, out []uint32) (*bound, status) {
	if b := s.find(handle, index, request, in, out); b != nil {
		return b, done
	}
	p := s.program(handle)
	switch {
	case p == nil:
		return nil, notFound
	case int64(index) >= int64(len(p.procedures)):
		return nil, badIndex
	}
	f := p.procedures[index]
	if len(in) != len(f.in) || len(out) != len(f.out) {
		return nil, badIndex
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := s.find(handle, index, request, in, out); b != nil {
		return b, done // made by another thread meanwhile
	}
	if p.dropped {
		return nil, notFound
	}
	b, answer := f.bind(s.memory, in, out)
	if answer != done {
		return nil, answer
	}
	if stale := s.insert(request, b); stale != nil {
		defer stale.leaveLocked()
	}
	return b, done
}

// find returns what is bound to the very surfaces, with one more user, or nil.
func (s *server) find(handle uint64, index uint32, request uint64, in, out []uint32) *bound {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.requests[request] {
		if b.procedure.program.handle != handle || b.procedure.index != index {
			continue
		}
		n := len(b.procedure.in)
		if slices.Equal(b.ids[:n], in) && slices.Equal(b.ids[n:], out) {
			b.users.Add(1)
			return b
		}
	}
	return nil
}

// insert puts b, which has two users from here on, into the list of its request
// and returns what was bound to other surfaces before.
func (s *server) insert(request uint64, b *bound) (stale *bound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.users.Store(2)
	list := s.requests[request]
	if i := slices.IndexFunc(list, func(o *bound) bool { return o.procedure == b.procedure }); i >= 0 {
		stale = list[i]
		list[i] = b
		return stale
	}
	s.requests[request] = append(list, b)
	return nil
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
	err := b.prepare()
	if err == nil {
		return b, done
	}
	b.close()
	switch {
	case errors.Is(err, unimem.ErrSize), errors.Is(err, ane.ErrShort):
		return nil, tooShort
	default:
		complain("bind", err)
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
