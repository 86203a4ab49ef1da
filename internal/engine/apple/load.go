package apple

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
)

// Load implements ane.Executable. The first executable of a program to be loaded loads it.
func (x *executable) Load(ctx context.Context) error {
	return x.setLoaded(ctx, "load", true, func() error {
		p := x.program
		if !p.up {
			if err := x.load(ctx); err != nil {
				return err
			}
			p.up = true
		}
		p.wanted++
		return nil
	})
}

// load loads the program. If the framework has lost the compiled program and its files, or cannot load it, load makes
// the program again from the same text and weights. If that fails, the next Load tries again.
func (x *executable) load(ctx context.Context) error {
	p := x.program
	o := p.object.Load()
	o.SetPatience(x.engine.patience(ctx))
	err := x.engine.inSlot(ctx, func() error { return x.engine.fault("load", x.src.File, o.Load(qos)) })
	if err == nil {
		if facts, unknown := o.Inspect(); unknown == nil && facts.Recovered != nil {
			x.engine.errors.recovered(facts.Recovered)
		}
		return nil
	}
	if !corrupt(err) {
		return err
	}
	x.engine.errors.recovered(err)
	before := p.packed
	o, c, err := x.build(ctx, !refused(err, objcbridge.ReasonReload))
	if err != nil {
		return err
	}
	if p.packed != before {
		p.identity = c.identity // other files, and the same program
	}
	if err := x.differs(c); err != nil {
		o.Close()
		return err
	}
	p.object.Swap(o).Close()
	return nil
}

// Unload implements ane.Executable. The last executable of a program to be unloaded unloads it.
func (x *executable) Unload(ctx context.Context) error {
	return x.setLoaded(ctx, "unload", false, func() error { return x.unload(ctx) })
}

// unload is Unload for the holder of the turn.
func (x *executable) unload(ctx context.Context) error {
	p := x.program
	if p.up && p.wanted == 1 {
		o := p.object.Load()
		o.SetPatience(x.engine.patience(ctx))
		if err := o.Unload(qos); err != nil {
			facts, unknown := o.Inspect()
			p.up = unknown != nil || facts.Loaded // a call that returned an error may have unloaded it
			return x.engine.fault("unload", x.src.File, err)
		}
		p.up = false
	}
	p.wanted--
	return nil
}

// setLoaded runs f, which loads or unloads x. Meanwhile no other call of x is in flight, and no other executable
// builds, loads or unloads the program.
func (x *executable) setLoaded(ctx context.Context, op string, loaded bool, f func() error) error {
	if err := x.abandoned.wait(ctx, op, x.engine.cfg.Name); err != nil {
		return err
	}
	if x.loaded == loaded {
		return nil
	}
	return x.inTurn(ctx, op, func() error {
		err := f()
		if err == nil {
			x.loaded = loaded
		}
		return err
	})
}

// inTurn runs f, which may be abandoned, in the program's turn.
func (x *executable) inTurn(ctx context.Context, op string, f func() error) error {
	p := x.program
	if err := p.enter(ctx, op, x.engine.cfg.Name); err != nil {
		return err
	}
	abandoned, err := await(ctx, op, x.engine.cfg.Name, &x.abandoned, f, func(error) { p.leave() })
	if !abandoned {
		p.leave()
	}
	return err
}

// differs returns an error if a program made again differs from the previous one for a user of it.
func (x *executable) differs(again compiled) error {
	if x.program.identity != again.identity {
		return &ane.Error{Op: "load", Engine: x.engine.cfg.Name, Name: x.src.File, Err: ane.ErrMismatch,
			Detail: "the weights have changed since the program was compiled", Hint: "compile it again"}
	}
	for _, y := range x.engine.usersOf(x.program) {
		if y.out == nil {
			continue // it waits for its turn to be placed
		}
		at, err := y.place(again.procedures)
		if err != nil {
			return err
		}
		if !same(y.in, at.in) || !same(y.out, at.out) || y.procedure != at.procedure {
			return &ane.Error{Op: "load", Engine: x.engine.cfg.Name, Name: x.src.File, Err: ane.ErrMismatch,
				Detail: "the framework has changed the layout of the program", Hint: "compile it again"}
		}
	}
	return nil
}

// same reports whether requests for a are valid for b.
func same(a, b []port) bool {
	for i := range a {
		if a[i].index != b[i].index || !a[i].Layout.Equal(b[i].Layout) {
			return false
		}
	}
	return len(a) == len(b)
}
