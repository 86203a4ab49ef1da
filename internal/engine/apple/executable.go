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

// executable is one program of the framework. The framework reports layouts only for loaded
// programs, so the program is loaded from Compile to the first Unload.
type executable struct {
	engine   *Engine
	src      ane.Source
	function *mil.Function
	named    string // the requested procedure; empty if the program has only one
	text     []byte // used by program
	weights  []objcbridge.Weight
	watch    *observation // nil except for the known-answer program

	compiled // only its program changes, when Load makes it again

	abandoned abandonedCalls
	loaded    bool // changes only while no other call is in flight
}

// compiled is the result of compiling a text.
type compiled struct {
	program   *objcbridge.Program
	identity  string
	procedure int
	in, out   []port
	cached    bool
	raw       []byte // attributes as JSON
}

// Inputs implements ane.Executable.
func (x *executable) Inputs() []ane.Layout { return layouts(x.in) }

// Outputs implements ane.Executable.
func (x *executable) Outputs() []ane.Layout { return layouts(x.out) }

// Cached implements ane.Executable.
func (x *executable) Cached() bool { return x.cached }

// Notes implements ane.Executable. The framework reports no notes.
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

// build makes, compiles and loads the program and reads its layouts. On failure it releases
// everything. If the framework cannot load a program from its cache, build purges and
// compiles it again, once. With purge it does so from the start.
func (x *executable) build(purge bool) (compiled, error) {
	c, unloadable, err := x.attempt(purge)
	if !unloadable || purge {
		return c, err
	}
	x.engine.recovering(err)
	c, _, err = x.attempt(true)
	return c, err
}

// attempt is build without the retry. unloadable reports that the framework failed to load
// a program from its cache.
func (x *executable) attempt(purge bool) (c compiled, unloadable bool, err error) {
	e := x.engine
	if c.program, err = e.bridge.NewProgram(x.text, x.weights); err != nil {
		return compiled{}, false, e.fault("compile", x.src.File, err)
	}
	if purge {
		_ = c.program.Purge() // without the method the framework compiles only programs that it has not cached
	}
	if unloadable, err = x.finish(&c); err != nil {
		c.program.Close()
		return compiled{}, unloadable, err
	}
	return c, false, nil
}

// finish compiles and loads a program that attempt has made.
func (x *executable) finish(c *compiled) (unloadable bool, err error) {
	e, p := x.engine, c.program
	if c.cached, err = p.Compile(qos); err != nil {
		return false, e.fault("compile", x.src.File, err)
	}
	if err := e.spared(func() error { return e.fault("compile", x.src.File, p.Load(qos)) }); err != nil {
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
		x.watch.record(c.raw, facts)
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
		return wrong(ane.Because(ane.ErrAttributes, fmt.Errorf("no entry has the position of %s",
			strings.Join(procedure.Unplaced, ", "))))
	}
	c.procedure = procedure.Number
	if c.in, err = ports(x.function.Params, procedure.Inputs); err != nil {
		return err
	}
	c.out, err = ports(results(x.function), procedure.Outputs)
	return err
}

// notOfPrograms are error codes that compiling again cannot fix: entitlements, time, code
// signing.
var notOfPrograms = [...]int64{1, 2, 3, 7}

// corrupt reports whether the framework failed to load a program because of its compiled
// form: not for lack of memory or rights, or because its daemon does not answer.
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

// results returns the declarations of a function's results.
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
	return x.setLoaded(ctx, "load", true, x.load)
}

// load loads the program. If the framework has lost the compiled program and its files, or
// cannot load the compiled program, load makes the program again from the same text and
// weights. If that fails, the next Load tries again.
func (x *executable) load() error {
	err := x.engine.spared(func() error { return x.engine.fault("load", x.src.File, x.program.Load(qos)) })
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

// differs returns an error if a program made again differs from the previous one.
func (x *executable) differs(again compiled) error {
	if x.identity != again.identity {
		return &ane.Error{Op: "load", Engine: x.engine.cfg.Name, Name: x.src.File, Err: ane.ErrMismatch,
			Detail: "the weights have changed since the program was compiled", Hint: "compile it again"}
	}
	if !same(x.in, again.in) || !same(x.out, again.out) || x.procedure != again.procedure {
		return &ane.Error{Op: "load", Engine: x.engine.cfg.Name, Name: x.src.File, Err: ane.ErrMismatch,
			Detail: "the framework has changed the layout of the program", Hint: "compile it again"}
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

// Unload implements ane.Executable.
func (x *executable) Unload(ctx context.Context) error {
	return x.setLoaded(ctx, "unload", false, func() error {
		return x.engine.fault("unload", x.src.File, x.program.Unload(qos))
	})
}

// setLoaded runs f, which loads or unloads the program, while no other call is in flight.
func (x *executable) setLoaded(ctx context.Context, op string, loaded bool, f func() error) error {
	if err := x.abandoned.wait(ctx, op, x.engine.cfg.Name); err != nil {
		return err
	}
	if x.loaded == loaded {
		return nil
	}
	record := func(err error) {
		if err == nil {
			x.loaded = loaded
		}
	}
	abandoned, err := await(ctx, op, x.engine.cfg.Name, &x.abandoned, f, record)
	if !abandoned {
		record(err)
	}
	return err
}

// notLoaded is the error of a call on a program that ane.Model considers loaded.
func (x *executable) notLoaded(op string) error {
	return &ane.Error{Op: op, Engine: x.engine.cfg.Name, Err: ane.ErrNotLoaded,
		Detail: "an abandoned Unload is in flight or has finished", Hint: "call Unload, then Load"}
}

// Close implements ane.Executable. If an abandoned call is in flight, the program is
// released after the call returns. If the process has as many abandoned calls as allowed,
// the program is released after one of them returns.
func (x *executable) Close() error {
	if !x.abandoned.close() || postpone(x.abandoned.release) {
		return nil
	}
	ctx, cancel := x.engine.limited()
	defer cancel()
	_, err := awaitUnchecked(ctx, "close", x.engine.cfg.Name, &abandonedCalls{},
		func() error { x.abandoned.release(); return nil },
		func(error) {})
	return err
}

// release releases the program.
func (x *executable) release() {
	x.program.Close()
	x.engine.release()
}
