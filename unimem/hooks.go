package unimem

import (
	"slices"
	"sync"
)

// hooks are functions of callers, in the order of registration.
type hooks[F any] struct {
	mu    sync.Mutex // not held during a call of a function
	ended bool       // no more are added
	all   []*F
}

// add registers f, unless the hooks have ended. remove reports whether it removed f.
func (h *hooks[F]) add(f F) (remove func() bool, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, false
	}
	p := &f
	h.all = append(h.all, p)
	return func() bool { return h.remove(p) }, true
}

// remove makes a new list, because callers of list read the old one.
func (h *hooks[F]) remove(p *F) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.all, p)
	if i >= 0 {
		h.all = slices.Delete(slices.Clone(h.all), i, i+1)
	}
	return i >= 0
}

func (h *hooks[F]) list() []*F {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all
}

// end removes and returns all functions.
func (h *hooks[F]) end() []*F {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.all
	h.all, h.ended = nil, true
	return all
}
