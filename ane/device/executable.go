package device

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/objcbridge"
)

// executable is one program of the framework. The framework tells layouts only of
// loaded programs, so it is loaded from Compile on, until the first Unload.
type executable struct {
	engine   *Engine
	src      ane.Source
	function *mil.Function
	text     []byte // in use by program
	weights  []objcbridge.Weight

	program   *objcbridge.Program
	identity  string
	procedure int
	in, out   []port
	cached    bool

	strays strays
	loaded bool // changes while no other call is out
}

// Inputs implements ane.Executable.
func (x *executable) Inputs() []ane.Layout { return layouts(x.in) }

// Outputs implements ane.Executable.
func (x *executable) Outputs() []ane.Layout { return layouts(x.out) }

// Cached implements ane.Executable.
func (x *executable) Cached() bool { return x.cached }

// Notes implements ane.Executable: the framework makes no remarks.
func (x *executable) Notes() []string {
	if x.engine.relock {
		return []string{"surfaces are unlocked for the time of each run: the known-answer run failed on locked ones"}
	}
	return nil
}

// build makes, compiles and loads the program and reads its layouts.
func (x *executable) build() error {
	e := x.engine
	p, err := e.bridge.NewProgram(x.text, x.weights)
	if err != nil {
		return e.fault("compile", x.src.File, err)
	}
	x.program = p
	if x.cached, err = p.Compile(qos); err != nil {
		return e.fault("compile", x.src.File, err)
	}
	if err := p.Load(qos); err != nil {
		return e.fault("compile", x.src.File, err)
	}
	x.loaded = true
	facts, err := p.Inspect()
	if err != nil {
		return e.fault("compile", x.src.File, err)
	}
	d, err := p.Describe(x.function.Name)
	if err != nil {
		return e.fault("compile", x.src.File, err)
	}
	x.identity, x.procedure = facts.Identity, d.Procedure
	if x.in, err = ports(x.function.Params, d.Inputs); err != nil {
		return err
	}
	x.out, err = ports(results(x.function), d.Outputs)
	return err
}

// results are the declarations of what leaves a function.
func results(f *mil.Function) []mil.Var {
	var vars []mil.Var
	for _, r := range f.Results {
		for _, op := range f.Body {
			for _, v := range op.Results {
				if v.Name == r.Name {
					vars = append(vars, v)
				}
			}
		}
	}
	return vars
}

// Load implements ane.Executable.
func (x *executable) Load(ctx context.Context) error {
	return x.change(ctx, "load", true, x.load)
}

// load runs in turn. When the framework has dropped both the compiled program and
// its files, the program is made anew from the same text and weights.
func (x *executable) load() error {
	err := x.program.Load(qos)
	if refused(err, objcbridge.ReasonReload) {
		in, out, identity := x.in, x.out, x.identity
		x.program.Close()
		if err := x.build(); err != nil {
			return err
		}
		if x.identity != identity {
			return &ane.Error{Op: "load", Engine: x.engine.cfg.Name, Name: x.src.File, Err: ane.ErrMismatch,
				Detail: "the weights have changed since the program was compiled", Hint: "compile it again"}
		}
		if !same(in, x.in) || !same(out, x.out) {
			return differs("", "another layout than before", "a new one")
		}
		return nil
	}
	return x.engine.fault("load", x.src.File, err)
}

// same reports whether requests for a serve b as well.
func same(a, b []port) bool {
	for i := range a {
		if a[i].index != b[i].index || !a[i].Layout.Equal(b[i].Layout) {
			return false
		}
	}
	return len(a) == len(b)
}

// Unload implements ane.Executable.
func (x *executable) Unload(ctx context.Context) error {
	return x.change(ctx, "unload", false, func() error {
		return x.engine.fault("unload", x.src.File, x.program.Unload(qos))
	})
}

// change brings the program to loaded, or away from it, when no call is out.
func (x *executable) change(ctx context.Context, op string, loaded bool, f func() error) error {
	if err := x.strays.wait(ctx, op, x.engine.cfg.Name); err != nil {
		return err
	}
	if x.loaded == loaded {
		return nil
	}
	settle := func(err error) {
		if err == nil {
			x.loaded = loaded
		}
	}
	out, err := await(ctx, op, x.engine.cfg.Name, &x.strays, f, settle)
	if !out {
		settle(err)
	}
	return err
}

// Close implements ane.Executable. While a call that was given up is out, the
// program stays, and ends when the call comes back.
func (x *executable) Close() error {
	if !x.strays.close() {
		return nil
	}
	ctx, cancel := limited()
	defer cancel()
	_, err := await(ctx, "close", x.engine.cfg.Name, &strays{}, func() error { x.strays.end(); return nil }, func(error) {})
	return err
}

// end gives the program back.
func (x *executable) end() {
	x.program.Close()
	x.engine.drop()
}
