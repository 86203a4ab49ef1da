package server

import (
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/logger"
	"github.com/anekit/anekit/internal/numerics"
)

// guarded is an engine whose panics end one request each, and not the broker. A panic in a
// program poisons it: memory that the engine left half written runs for no client again. A
// memory fault counts as a panic. What the Go runtime calls fatal (a stack that is
// exhausted, a map written twice at once) ends the process all the same.
type guarded struct {
	ane.Engine
	log    logger.Logger
	panics atomic.Uint64
}

// guard wraps an engine.
func guard(e ane.Engine, log logger.Logger) *guarded {
	return &guarded{Engine: e, log: log}
}

// Close implements ane.Engine.
func (g *guarded) Close() error { return g.call("close", nil, g.Engine.Close) }

// call calls a method of the engine. A panic becomes its error, and the poison of a
// program that has none yet.
func (g *guarded) call(op string, poison *atomic.Pointer[ane.Error], f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = g.report(op, poison, v)
		}
	}()
	return f()
}

// report counts and logs a panic, and makes its error. A deferred call of the panicking
// goroutine calls it.
func (g *guarded) report(op string, poison *atomic.Pointer[ane.Error], v any) error {
	g.panics.Add(1)
	e := &ane.Error{Op: op, Engine: Name, Err: ane.ErrEngine, Detail: "the engine panicked: " + panicText(v),
		Rule: "a panic ends the request that caused it", Hint: "report it, with the stack in the broker's log"}
	if poison != nil {
		poison.CompareAndSwap(nil, e)
	}
	stack := debug.Stack()
	if own, ok := v.(interface{ Stack() []byte }); ok { // of a goroutine that the engine started
		stack = own.Stack()
	}
	g.log.Error("engine panicked", "kind", "panic", "op", op, "panic", panicText(v), "stack", string(stack))
	return e
}

// address is how Go prints a pointer.
const address = `0x[0-9a-fA-F]+`

// maxPanicText bounds what a client reads of a panic.
const maxPanicText = 512

// panicText is what a panic says on one line, without addresses of this process.
func panicText(v any) string {
	text := regexp.MustCompile(address).ReplaceAllString(strings.Join(strings.Fields(fmt.Sprint(v)), " "), "0x..")
	if len(text) > maxPanicText {
		text = strings.ToValidUTF8(text[:maxPanicText], "") + ".."
	}
	return text
}

// guardedProgram is a program of a guarded engine.
type guardedProgram struct {
	ane.Executable
	on     *guarded
	poison atomic.Pointer[ane.Error]
}

// guardedBase is one whose engine makes instances without compiling.
type guardedBase struct {
	*guardedProgram
	own driver.Instancer
}

// wrap guards a program.
func (g *guarded) wrap(x ane.Executable) resources.Executable {
	p := &guardedProgram{Executable: x, on: g}
	if own, ok := x.(driver.Instancer); ok {
		return guardedBase{p, own}
	}
	return p
}

// Load implements ane.Executable.
func (p *guardedProgram) Load(ctx context.Context) error {
	return p.call("load", func() error { return p.Executable.Load(ctx) })
}

// Unload implements ane.Executable. A poisoned program is unloaded as well.
func (p *guardedProgram) Unload(ctx context.Context) error {
	return p.on.call("unload", &p.poison, func() error { return p.Executable.Unload(ctx) })
}

// Close implements ane.Executable. A poisoned program is closed as well.
func (p *guardedProgram) Close() error { return p.on.call("close", &p.poison, p.Executable.Close) }

// Prepare implements ane.Executable.
func (p *guardedProgram) Prepare(in, out []*ane.Tensor) (v ane.Invocation, err error) {
	err = p.call("bind", func() error {
		own, err := p.Executable.Prepare(in, out)
		if err == nil {
			v = &guardedRun{own, p}
		}
		return err
	})
	return v, err
}

// NewInstance implements driver.Instancer.
func (b guardedBase) NewInstance(ctx context.Context, weights ane.Weights) (x ane.Executable, err error) {
	err = b.call("instance", func() error {
		made, err := b.own.NewInstance(ctx, weights)
		if err == nil {
			x = b.on.wrap(made)
		}
		return err
	})
	return x, err
}

// call calls a method of the program, unless that is poisoned.
func (p *guardedProgram) call(op string, f func() error) error {
	if err := p.refusal(op); err != nil {
		return err
	}
	return p.on.call(op, &p.poison, f)
}

// refusal is the error of every call of a poisoned program, nil of a sound one.
func (p *guardedProgram) refusal(op string) error {
	why := p.poison.Load()
	if why == nil {
		return nil
	}
	return &ane.Error{Op: op, Engine: Name, Err: ane.ErrEngine,
		Detail: "the program is poisoned: " + why.Op + ": " + why.Detail,
		Rule:   "a program in which the engine panicked runs no more", Hint: "release it and compile it again"}
}

// guardedRun is a run of a guarded program.
type guardedRun struct {
	ane.Invocation
	of *guardedProgram
}

// Evaluate implements ane.Invocation. It allocates nothing unless the engine panics.
func (r *guardedRun) Evaluate(ctx context.Context) error {
	return r.of.call("evaluate", func() error { return r.Invocation.Evaluate(ctx) })
}

// Close implements ane.Invocation.
func (r *guardedRun) Close() error { return r.of.on.call("close", &r.of.poison, r.Invocation.Close) }

// modal is an engine that compiles a program with the arithmetic of a chip, and with at most room bytes for constants
// that it computes.
type modal interface {
	CompileMode(ctx context.Context, src ane.Source, room int64, m numerics.Mode) (ane.Executable, error)
}

// compile compiles a program. canImitate has refused modes that the engine does not have.
func (g *guarded) compile(ctx context.Context, src ane.Source, room int64, m numerics.Mode) (
	x resources.Executable, err error,
) {
	err = g.call("compile", nil, func() (err error) {
		var made ane.Executable
		if own, ok := g.Engine.(modal); ok {
			made, err = own.CompileMode(ctx, src, room, m)
		} else {
			made, err = g.Engine.Compile(ctx, src)
		}
		if err == nil {
			x = g.wrap(made)
		}
		return err
	})
	return x, err
}

// canImitate refuses a mode that the engine does not have.
func (s *server) canImitate(m numerics.Mode) error {
	if _, ok := s.engine.Engine.(modal); ok || m == numerics.Reference {
		return nil
	}
	return &ane.Error{Op: "hello", Engine: Name, Name: m.String(), Err: ane.ErrUnavailable,
		Detail: "the broker's engine has no numerics but its own", Hint: "leave the mode out"}
}

// Footprint implements resources.Executable. A program that does not tell takes nothing.
func (p *guardedProgram) Footprint() (held, loaded, bound int64) {
	if own, ok := p.Executable.(driver.Measured); ok {
		return own.Footprint()
	}
	return 0, 0, 0
}

// Poisoned implements resources.Executable.
func (p *guardedProgram) Poisoned() bool { return p.poison.Load() != nil }

// Stateful implements resources.Executable.
func (p *guardedProgram) Stateful() bool {
	own, ok := p.Executable.(interface{ Stateful() bool })
	return ok && own.Stateful()
}
