package soft

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/buildinfo"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/unimem"
)

// Name is the engine's name on receipts.
const Name = run.Name

// Option configures the engine.
type Option func(*engine)

// AllowOffsets lets tensors start after byte 0 of their surface. Hardware engines ignore
// such offsets, so programs that use them are not portable.
func AllowOffsets() Option { return func(e *engine) { e.offsets = true } }

// Numerics makes the engine compute as a chip does. Operands and results of fp16 follow the chip's rules;
// those of fp32, which no chip computes with, and casts stay as in numerics.Reference.
func Numerics(m numerics.Mode) Option { return func(e *engine) { e.mode, e.rules = m, m.Rules() } }

// Rules makes the engine compute with some of a chip's rules, to see what each of them does.
func Rules(r numerics.Rules) Option { return func(e *engine) { e.rules = r } }

// Only makes products compute element i of their result alone; the other elements are undefined. It answers what a
// rule does to one element without the time of all. Einsum and operators that contain products compute all elements.
func Only(i int) Option { return func(e *engine) { e.only = i + 1 } }

// Workers bounds the goroutines that share a large operation. Without it they are as many as processors (GOMAXPROCS,
// also after it changes), at most 16.
func Workers(n int) Option { return func(e *engine) { e.workers = max(n, 1) } }

// Unfused makes every operator a step of its own, to measure and test what fusing changes: time, and no bit.
func Unfused() Option { return func(e *engine) { e.apart = true } }

// New returns the engine. It holds no memory until a program is loaded.
func New(opts ...Option) ane.Engine {
	e := &engine{tables: &halves.Tables{}}
	for _, o := range opts {
		o(e)
	}
	return e
}

type engine struct {
	offsets  bool
	mode     numerics.Mode
	rules    numerics.Rules // those of mode, unless the option Rules sets others
	surfaces run.Surfaces
	tables   *halves.Tables
	crew     run.Crew
	workers  int // bound of parallel
	packFrom int // least elements of packed weights; 0 for packedLeast
	only     int // element that products compute, counted from 1; 0 for all
	apart    bool
}

// Info implements ane.Engine.
func (e *engine) Info() ane.Info {
	return ane.Info{
		Name:     Name,
		Chip:     "software on " + runtime.GOARCH,
		OSBuild:  strings.TrimSpace(host.Name + " " + host.Release()), // the name alone where the release cannot be read
		Numerics: e.mode.Describe(),
		Sharing:  run.Sharing,
		Offsets:  e.offsets,
	}
}

// Compile implements ane.Engine: text to tree to graph to plan. It neither prints nor
// parses a program that is given as a tree.
func (e *engine) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	return e.compile(ctx, src, plan.Limits(math.MaxInt64, e.workers), e.rules)
}

// CompileMode is Compile with the arithmetic of a chip, for this program and its instances alone. Constants that are
// computed or decoded ahead of the runs take at most room bytes. What does not fit is left to every run. The tree, the
// weights and the steps come on top; see Footprint. Runs have at most as many workers as there are processors now, so
// that their workspaces stay within the Footprint.
func (e *engine) CompileMode(
	ctx context.Context, src ane.Source, room int64, m numerics.Mode,
) (ane.Executable, error) {
	return e.compile(ctx, src, plan.Limits(room, run.Parallel(e.workers)), m.Rules())
}

func (e *engine) compile(ctx context.Context, src ane.Source, b plan.Budget, r numerics.Rules) (ane.Executable, error) {
	return e.make(ctx, "compile", src.File, src.Weights, nil, &rooms{}, func() (*plan.Plan, error) {
		p, err := src.TreeContext(reading{ctx}) // AnalyzeStored validates
		if err != nil {
			return nil, err
		}
		g, err := ops.AnalyzeStored(reading{ctx}, src.File, p, src.Function, src.Weights)
		if err != nil {
			return nil, err
		}
		b.Expand = e.packFrom
		pl, err := plan.Make(ctx, g, b, kernels.Arith{Operand: r, Tables: e.tables, Only: e.only, Apart: e.apart,
			Words: buildinfo.Of(p)[buildinfo.Products] == buildinfo.Words})
		if err == nil {
			pl.Links.File = src.File
		}
		return pl, err
	})
}

// make returns the executable of a plan that f makes of weights. It holds these, and those of the base of an instance,
// whose rooms it shares.
func (e *engine) make(
	ctx context.Context, op, file string, weights ane.Weights, base holds, r *rooms, f func() (*plan.Plan, error),
) (ane.Executable, error) {
	own, err := keep(weights)
	if err != nil {
		return nil, refused(op, file, err)
	}
	all := append(own, base...)
	var p *plan.Plan
	err = unimem.Guard(func() (err error) { // a file of weights may become shorter
		p, err = f()
		return err
	}, all.blocks()...)
	if ctx.Err() != nil {
		err = ane.Deadline(op, Name, ctx.Err())
	} else if err != nil {
		err = refused(op, file, err)
	}
	if err != nil {
		own.release()
		return nil, err
	}
	base.retain()
	return &executable{engine: e, plan: p, holds: all, rooms: r, running: make(chan struct{}, 1)}, nil
}

// refused wraps err as a fault of the program or of its weights.
func refused(op, file string, err error) error {
	var list mil.ErrorList
	var one *mil.Error
	if !errors.As(err, &list) && errors.As(err, &one) {
		one.File = file
		err = mil.ErrorList{one}
	}
	return &ane.Error{Op: op, Engine: Name, Name: file, Err: ane.Because(ane.ErrCompile, err)}
}

// Close implements ane.Engine.
func (e *engine) Close() error { return e.surfaces.Close() }
