package server

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/numerics"
)

// modal is an engine that compiles a program with the arithmetic of a chip.
type modal interface {
	CompileMode(ctx context.Context, src ane.Source, room int64, m numerics.Mode) (ane.Executable, error)
}

// CompileMode implements modal. canImitate has refused engines that do not.
func (g *guarded) CompileMode(
	ctx context.Context, src ane.Source, room int64, m numerics.Mode,
) (x ane.Executable, err error) {
	own, ok := g.Engine.(modal)
	if !ok || m == numerics.Reference {
		return g.CompileWithin(ctx, src, room)
	}
	err = g.call("compile", nil, func() error {
		made, err := own.CompileMode(ctx, src, room, m)
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

// infoOf is the engine as the programs of a mode see it; the key of a program contains it.
func (s *server) infoOf(m numerics.Mode) ane.Info { return infoOf(s.info, m) }

func infoOf(i ane.Info, m numerics.Mode) ane.Info {
	if m != numerics.Reference {
		i.Numerics = m.Describe()
	}
	return i
}
