package standin

import (
	"context"
	"errors"
	"slices"

	"github.com/anekit/anekit/ane"
)

// evaluate runs a procedure on surfaces, given by their ids in ascending order
// of symbols. It allocates nothing for a request that was evaluated before.
func (s *server) evaluate(handle uint64, index uint32, request uint64, in, out []uint32) (answer status) {
	defer logPanic("evaluate", func() { answer = failed })
	b, answer := s.acquire(handle, index, request, in, out)
	if answer != done {
		return answer
	}
	defer b.release()
	if err := b.run.Evaluate(context.Background()); err != nil {
		logError("evaluate", err)
		if errors.Is(err, ane.ErrShort) {
			return tooShort // of a process that a program has spoiled
		}
		return failed
	}
	return done
}

// acquire finds or makes the bound of a request and adds a user to it.
func (s *server) acquire(handle uint64, index uint32, request uint64, in, out []uint32) (*bound, status) {
	if b := s.find(handle, index, request, in, out); b != nil {
		return b, done
	}
	p := s.program(handle)
	switch {
	case p == nil:
		return nil, notFound
	case int64(index) >= int64(len(p.named)) || p.named[index] == nil:
		return nil, badIndex
	}
	f := p.named[index]
	if len(in) != len(f.in) || len(out) != len(f.out) {
		return nil, badIndex
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := s.find(handle, index, request, in, out); b != nil {
		return b, done // another thread has made it
	}
	if p.dropped {
		return nil, notFound
	}
	b, answer := f.bind(s.memory, in, out)
	if answer != done {
		return nil, answer
	}
	if replaced := s.insert(request, b); replaced != nil {
		defer replaced.releaseLocked()
	}
	return b, done
}

// find returns the bound of these surfaces and adds a user to it, or returns
// nil.
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

// insert puts b, with two users, into the list of its request. It returns the
// bound of other surfaces that b replaces, or nil.
func (s *server) insert(request uint64, b *bound) (replaced *bound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.users.Store(2)
	list := s.requests[request]
	if i := slices.IndexFunc(list, func(o *bound) bool { return o.procedure == b.procedure }); i >= 0 {
		replaced = list[i]
		list[i] = b
		return replaced
	}
	s.requests[request] = append(list, b)
	return nil
}
