package standin

import (
	"context"
	"slices"
)

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
