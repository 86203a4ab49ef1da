package apple

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/objcbridge"
)

// program is one text with its weights in the framework. It is compiled once and loaded once: its functions are
// procedures of one load, which takes one of the machine's program slots. The executables of a text with several
// functions share one program. The framework has it loaded while at least one of them is loaded.
type program struct {
	sources                          // used by object, so they stay until it is closed
	resides ane.Residency            // of its loads
	users   map[*executable]struct{} // not yet released; guarded by Engine.mu

	object atomic.Pointer[objcbridge.Program] // nil before it is built; a load that builds again replaces it

	turn   chan struct{} // has a token while a call builds, loads or unloads; guards the fields below
	packed *sources      // with one weight file; nil unless the framework has refused several
	compiled
	up     bool // the framework has it loaded
	wanted int  // number of executables that are loaded
}

// compiled is what the framework reports on a program that it has compiled and loaded.
type compiled struct {
	identity   string
	procedures *attributes.Program
	cached     bool
}

// same reports whether two programs have equal texts and weights, and are loaded in the same way.
func (p *program) same(q *program) bool {
	equal := func(a, b objcbridge.Weight) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) }
	return p.resides == q.resides && bytes.Equal(p.text, q.text) && slices.EqualFunc(p.weights, q.weights, equal)
}

// current returns what the framework gets. The caller has the turn.
func (p *program) current() sources {
	if p.packed != nil {
		return *p.packed
	}
	return p.sources
}

// enter waits for the turn. leave ends it.
func (p *program) enter(ctx context.Context, op, engine string) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ane.Deadline(op, engine, ctx.Err())
	}
}

func (p *program) leave() { <-p.turn }

// join makes x a user of a program, until quit. If the text has several functions, that is the program with the same
// text and weights, else a new one. It joins no program with an abandoned call, so that to compile again is a way out
// of a call that hangs.
func (e *Engine) join(x *executable, text []byte, weights []objcbridge.Weight, functions int) error {
	p := &program{sources: sources{text, weights}, resides: x.src.Residency, users: map[*executable]struct{}{},
		turn: make(chan struct{}, 1)}
	if functions > 1 {
		e.joining.Lock() // so that the second of two callers finds the program of the first
		defer e.joining.Unlock()
		e.mu.Lock()
		several := slices.Clone(e.shared)
		e.mu.Unlock()
		for _, q := range several {
			if q.same(p) && e.reuse(x, q) {
				return nil
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return &ane.Error{Op: "compile", Engine: e.cfg.Name, Err: ane.ErrClosed, Hint: "open the engine again"}
	}
	if functions > 1 {
		e.shared = append(e.shared, p)
	}
	e.add(x, p)
	return nil
}

// reuse makes x a user of p unless p has none or one of its calls is abandoned.
func (e *Engine) reuse(x *executable, p *program) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(p.users) == 0 {
		return false
	}
	for y := range p.users {
		if y.abandoned.count.Load() > 0 {
			return false
		}
	}
	e.add(x, p)
	return true
}

// add makes x a user of p. The caller holds mu.
func (e *Engine) add(x *executable, p *program) {
	e.users++
	p.users[x] = struct{}{}
	x.program = p
}

// quit ends x's use of its program and reports whether it was the last.
func (e *Engine) quit(x *executable) (last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := x.program
	delete(p.users, x)
	if len(p.users) > 0 {
		return false
	}
	e.shared = slices.DeleteFunc(e.shared, func(q *program) bool { return q == p })
	return true
}

// usersOf lists the users of p.
func (e *Engine) usersOf(p *program) (all []*executable) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for x := range p.users {
		all = append(all, x)
	}
	return all
}
