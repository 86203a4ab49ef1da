package apple

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/objcbridge"
)

// executable is one program of the framework. The framework tells layouts only of
// loaded programs, so it is loaded from Compile on, until the first Unload.
type executable struct {
	engine   *Engine
	src      ane.Source
	function *mil.Function
	named    string // the procedure asked for; empty in a program of one, whatever its name
	text     []byte // in use by program
	weights  []objcbridge.Weight
	watch    *witness // nil but for the known-answer program

	compiled // its program changes when Load makes it again, nothing else

	strays strays
	loaded bool // changes while no other call is out
}

// compiled is what the framework made of a text.
type compiled struct {
	program   *objcbridge.Program
	identity  string
	procedure int
	in, out   []port
	cached    bool
	raw       []byte // its attributes as JSON
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

// first builds the program for Compile.
func (x *executable) first() (err error) {
	x.compiled, err = x.build(false)
	x.loaded = err == nil
	return err
}

// build makes, compiles and loads the program and reads its layouts; or leaves nothing
// behind. A compiled program that the framework had and does not load is purged and
// compiled again, once; with purge that happens in any case.
func (x *executable) build(purge bool) (compiled, error) {
	c, unloadable, err := x.attempt(purge)
	if !unloadable || purge {
		return c, err
	}
	x.engine.recovering(err)
	c, _, err = x.attempt(true)
	return c, err
}

// attempt is build without a second try. unloadable says that the framework refused to
// load what it has compiled.
func (x *executable) attempt(purge bool) (c compiled, unloadable bool, err error) {
	e := x.engine
	if c.program, err = e.bridge.NewProgram(x.text, x.weights); err != nil {
		return compiled{}, false, e.fault("compile", x.src.File, err)
	}
	if purge {
		_ = c.program.Purge() // a framework without it compiles only what it does not have
	}
	if unloadable, err = x.finish(&c); err != nil {
		c.program.Close()
		return compiled{}, unloadable, err
	}
	return c, false, nil
}

// finish is attempt for a program that has been made.
func (x *executable) finish(c *compiled) (unloadable bool, err error) {
	e, p := x.engine, c.program
	if c.cached, err = p.Compile(qos); err != nil {
		return false, e.fault("compile", x.src.File, err)
	}
	if err := p.Load(qos); err != nil {
		err := e.fault("compile", x.src.File, err)
		return c.cached && corrupt(err), err
	}
	facts, err := p.Inspect()
	if err != nil {
		return false, e.fault("compile", x.src.File, err)
	}
	if facts.Recovered != nil {
		e.recovering(facts.Recovered)
	}
	if c.raw, err = p.Attributes(); err != nil {
		return false, e.fault("compile", x.src.File, err)
	}
	if x.watch != nil {
		x.watch.saw(c.raw, facts)
	}
	c.identity = facts.Identity
	return false, x.place(c)
}

// place reads the layouts from the attributes.
func (x *executable) place(c *compiled) error {
	wrong := func(err error) error {
		return &ane.Error{Op: "compile", Engine: x.engine.cfg.Name, Name: x.src.File, Err: err}
	}
	tree, err := plist.Read(c.raw)
	if err != nil {
		return wrong(ane.Because(ane.ErrAttributes, err))
	}
	all, err := attributes.Read(tree)
	if err != nil {
		return wrong(err)
	}
	procedure, err := all.Find(x.named)
	if err != nil {
		return wrong(err)
	}
	if len(procedure.Unplaced) > 0 {
		return wrong(ane.Because(ane.ErrAttributes, fmt.Errorf("no entry says where %s stands",
			strings.Join(procedure.Unplaced, ", "))))
	}
	c.procedure = procedure.Number
	if c.in, err = ports(x.function.Params, procedure.Inputs); err != nil {
		return err
	}
	c.out, err = ports(results(x.function), procedure.Outputs)
	return err
}

// notOfPrograms are codes of refusals that compiling again cannot mend: entitlements, time,
// code signing.
var notOfPrograms = [...]int64{1, 2, 3, 7}

// corrupt reports whether the framework refused to load a program for a reason that
// lies in what it has compiled: not for want of room, rights or a broker that answers.
func corrupt(err error) bool {
	var b *objcbridge.Error
	if !errors.As(err, &b) || b.Stage != objcbridge.StageLoad || errors.Is(err, ane.ErrExhausted) {
		return false
	}
	if b.Kind == objcbridge.KindNSError && b.Domain == objcbridge.DomainEngine &&
		slices.Contains(notOfPrograms[:], b.Code) {
		return false
	}
	return b.Kind == objcbridge.KindNSError || b.Kind == objcbridge.KindNo || refused(err, objcbridge.ReasonReload)
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

// load runs in turn. When the framework has dropped both the compiled program and its
// files, or does not load what it has compiled, the program is made again from the same
// text and weights. When that fails, the next Load tries again.
func (x *executable) load() error {
	err := x.engine.fault("load", x.src.File, x.program.Load(qos))
	if err == nil {
		if facts, unknown := x.program.Inspect(); unknown == nil && facts.Recovered != nil {
			x.engine.recovering(facts.Recovered)
		}
		return nil
	}
	if !corrupt(err) {
		return err
	}
	x.engine.recovering(err)
	again, err := x.build(!refused(err, objcbridge.ReasonReload))
	if err != nil {
		return err
	}
	if err := x.differs(again); err != nil {
		again.program.Close()
		return err
	}
	x.program.Close()
	x.program = again.program
	return nil
}

// differs is the error of a program made again that is not the one before.
func (x *executable) differs(again compiled) error {
	if x.identity != again.identity {
		return &ane.Error{Op: "load", Engine: x.engine.cfg.Name, Name: x.src.File, Err: ane.ErrMismatch,
			Detail: "the weights have changed since the program was compiled", Hint: "compile it again"}
	}
	if !same(x.in, again.in) || !same(x.out, again.out) || x.procedure != again.procedure {
		return &ane.Error{Op: "load", Engine: x.engine.cfg.Name, Name: x.src.File, Err: ane.ErrMismatch,
			Detail: "the framework has laid out the program in another way than before", Hint: "compile it again"}
	}
	return nil
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

// notLoaded is the error of a call on a program that ane.Model takes for loaded.
func (x *executable) notLoaded(op string) error {
	return &ane.Error{Op: op, Engine: x.engine.cfg.Name, Err: ane.ErrNotLoaded,
		Detail: "an Unload that was given up is still out or has come to its end", Hint: "call Unload, then Load"}
}

// Close implements ane.Executable. While a call that was given up is out, the
// program stays, and ends when the call comes back; and when no more calls may be
// out in this process, it ends when one of them comes back.
func (x *executable) Close() error {
	if !x.strays.close() || postpone(x.strays.end) {
		return nil
	}
	ctx, cancel := x.engine.limited()
	defer cancel()
	_, err := attend(ctx, "close", x.engine.cfg.Name, &strays{}, func() error { x.strays.end(); return nil },
		func(error) {})
	return err
}

// end gives the program back.
func (x *executable) end() {
	x.program.Close()
	x.engine.drop()
}
