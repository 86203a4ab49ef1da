// Package emulate makes the software engine and the broker refuse what a chip refuses.
//
// [New] wraps an engine. Compile asks package lint what Apple's compiler for the chip does with the program in memory.
// If a finding of severity error means a refusal, Compile returns a Mac's error, with domain, code and text, and the
// findings at their places. The compiled program runs on the wrapped engine, whose arithmetic is not changed.
//
// A [Host] stands for a process on a machine with that chip. It counts loaded programs, and remembers that a program
// has spoiled the process. [Process] returns the Hosts of this process.
package emulate

import (
	"context"
	"errors"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/engine/wrap"
)

// New returns an engine that works like e and refuses what Apple's software refuses on a chip. It owns e. Process(c)
// is the host of a program; a test may have one of its own.
func New(e ane.Engine, c chip.Chip, h *Host) ane.Engine {
	return &engine{Engine: wrap.Engine{Engine: e}, chip: c, spec: c.Spec(), host: h, name: e.Info().Name}
}

type engine struct {
	wrap.Engine
	chip chip.Chip
	spec chip.Spec
	host *Host
	name string
}

// Info implements ane.Engine: the chip is the emulated one.
func (e *engine) Info() ane.Info {
	i := e.Engine.Info()
	i.Chip = e.chip.Target() + ", emulated"
	return i
}

// Compile implements ane.Engine.
func (e *engine) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("compile", e.name, err)
	}
	found, pos := e.lint(src)
	worst, too, large := worst(found)
	if worst < unloaded {
		return nil, e.refusal(src.File, pos, worst, too)
	}
	x, err := e.Engine.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	if worst == poisons {
		e.host.spoiled.Store(true)
	}
	return &executable{Executable: x, engine: e, file: src.File, large: large}, nil
}

// lint returns the errors that lint finds, and the place of the program.
func (e *engine) lint(src ane.Source) ([]lint.Finding, mil.Pos) {
	o := lint.Options{Chips: []chip.Chip{e.chip}, Compilers: []chip.Compiler{chip.InMemory}}
	tree, err := src.Tree()
	pos := mil.Pos{}
	if err == nil {
		pos = tree.Pos
	}
	var found []lint.Finding
	if src.Text != nil {
		found = lint.Text(src.File, src.Text, o)
	} else if err == nil {
		found = lint.Run(src.File, tree, o)
	}
	return slices.DeleteFunc(found, func(f lint.Finding) bool { return f.Severity != lint.Error }), pos
}

// worst returns the worst fate of the program, and the findings with a consequence that can be emulated. large is the
// first of them that keeps the program from loading, or nil.
func worst(found []lint.Finding) (worst fate, too []lint.Finding, large *lint.Finding) {
	worst = runs
	for i, f := range found {
		fate := fateOf(f.Rule.ID)
		if fate != runs {
			too = append(too, f)
		}
		if fate == unloaded && large == nil {
			large = &found[i]
		}
		worst = min(worst, fate)
	}
	return worst, too, large
}

// EvaluateChain implements ane.Chainer. It passes the chain on if the wrapped engine takes one.
func (e *engine) EvaluateChain(ctx context.Context, steps []ane.Invocation) error {
	c, ok := e.Engine.Engine.(ane.Chainer)
	if !ok {
		return errors.ErrUnsupported
	}
	if e.host.spoiled.Load() {
		return e.evaluateError("chain")
	}
	inner := make([]ane.Invocation, len(steps))
	for i, s := range steps {
		inner[i] = s
		if w, ok := s.(*invocation); ok {
			inner[i] = w.Invocation.Invocation
		}
	}
	return c.EvaluateChain(ctx, inner)
}
