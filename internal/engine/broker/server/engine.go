package server

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/numerics"
)

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
