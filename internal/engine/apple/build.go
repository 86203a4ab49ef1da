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

// first places the function for Compile. It builds the program unless another executable has.
func (x *executable) first(ctx context.Context) (err error) {
	p := x.program
	x.cached = true
	if p.object.Load() == nil {
		o, c, err := x.build(ctx, false)
		if err != nil {
			return err
		}
		p.object.Store(o)
		p.compiled, p.up = c, true
		x.cached = c.cached
	}
	if p.packed != nil {
		x.packed = len(p.weights)
	}
	if x.placement, err = x.place(p.procedures); err != nil {
		return err
	}
	if x.loaded = p.up; p.up {
		p.wanted++
	}
	return nil
}

// build makes, compiles and loads the program and reads its attributes. On failure it releases everything. If the
// framework cannot load a program from its cache, build purges and compiles it again, once. With purge it does so from
// the start. If the framework refuses several weight files, build packs them into one and compiles again, once. It
// packs later programs of the engine from the start.
func (x *executable) build(ctx context.Context, purge bool) (*objcbridge.Program, compiled, error) {
	if x.engine.packs.Load() {
		x.pack() // what cannot be packed is tried as it is
	}
	o, c, unloadable, err := x.attempt(ctx, purge)
	if refusesFiles(err) && x.pack() {
		x.engine.errors.recovered(err)
		if o, c, unloadable, err = x.attempt(ctx, purge); err == nil {
			x.engine.packs.Store(true)
		}
	}
	if !unloadable || purge {
		return o, c, err
	}
	x.engine.errors.recovered(err)
	o, c, _, err = x.attempt(ctx, true)
	return o, c, err
}

// pack has later attempts use one weight file. It reports whether that is new, and false if it cannot be done.
func (x *executable) pack() bool {
	p := x.program
	if p.packed != nil || len(p.weights) < 2 {
		return false
	}
	packed, err := pack(x.src.File, p.sources)
	if err == nil {
		p.packed = &packed
	}
	return err == nil
}

// attempt is build without the retry. unloadable reports that the framework failed to load
// a program from its cache.
func (x *executable) attempt(ctx context.Context, purge bool) (o *objcbridge.Program, c compiled, unloadable bool,
	err error) {
	e := x.engine
	s := x.program.current()
	if o, err = e.bridge.NewProgram(s.text, s.weights); err != nil {
		return nil, c, false, e.fault("compile", x.src.File, err)
	}
	o.SetPatience(e.patience(ctx))
	if err := o.SetResidency(residencies[x.src.Residency]); err != nil {
		o.Close()
		return nil, c, false, e.fault("compile", x.src.File, err)
	}
	if purge {
		_ = o.Purge() // without the method the framework compiles only programs that it has not cached
	}
	if c, unloadable, err = x.finish(ctx, o); err != nil {
		o.Close()
		return nil, c, unloadable, err
	}
	return o, c, false, nil
}

// finish compiles and loads a program that attempt has made.
func (x *executable) finish(ctx context.Context, o *objcbridge.Program) (c compiled, unloadable bool, err error) {
	e := x.engine
	if err := e.spared(func() (err error) {
		c.cached, err = o.Compile(qos)
		return e.fault("compile", x.src.File, err)
	}); err != nil {
		return c, false, err
	}
	if err := e.inSlot(ctx, func() error { return e.fault("compile", x.src.File, o.Load(qos)) }); err != nil {
		return c, c.cached && corrupt(err), err
	}
	facts, err := o.Inspect()
	if err != nil {
		return c, false, e.fault("compile", x.src.File, err)
	}
	if facts.Recovered != nil {
		e.errors.recovered(facts.Recovered)
	}
	raw, err := o.Attributes()
	if err != nil {
		return c, false, e.fault("compile", x.src.File, err)
	}
	if x.watch != nil {
		x.watch.record(raw, facts)
	}
	c.identity = facts.Identity
	c.procedures, err = x.read(raw)
	return c, false, err
}

// wrong is the error for attributes.
func (x *executable) wrong(err error) error {
	return &ane.Error{Op: "compile", Engine: x.engine.cfg.Name, Name: x.src.File, Err: err}
}

// read reads the program's attributes, which are JSON.
func (x *executable) read(raw []byte) (*attributes.Program, error) {
	tree, err := plist.Read(raw)
	if err != nil {
		return nil, x.wrong(ane.Because(ane.ErrAttributes, err))
	}
	all, err := attributes.Read(tree)
	if err != nil {
		return nil, x.wrong(err)
	}
	return all, nil
}

// place finds the function among the procedures.
func (x *executable) place(all *attributes.Program) (at placement, err error) {
	procedure, err := all.Find(x.named)
	if err != nil {
		return at, x.wrong(err)
	}
	if len(procedure.Unplaced) > 0 {
		return at, x.wrong(ane.Because(ane.ErrAttributes, fmt.Errorf("no entry has the position of %s",
			strings.Join(procedure.Unplaced, ", "))))
	}
	at.procedure = procedure.Number
	if at.in, err = ports(x.function.Params, procedure.Inputs); err != nil {
		return at, err
	}
	at.out, err = ports(results(x.function), procedure.Outputs)
	return at, err
}

// notOfPrograms are error codes that compiling again cannot fix: entitlements, time, code
// signing.
var notOfPrograms = [...]int64{1, 2, 3, 7}

// corrupt reports whether the compiled form of a program may be why the framework failed to load it. Lack of memory or
// rights, or a silent daemon, is another reason.
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
