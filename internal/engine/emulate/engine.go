package emulate

import (
	"context"
	"errors"
	"fmt"
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
	worst, too, large := e.worst(found)
	switch worst {
	case invalid, limit, refused22, dies:
		return nil, e.refusal(src.File, pos, worst, too)
	}
	x, err := e.Engine.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	if worst == poisons {
		e.host.poison()
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

// worst returns what becomes of the program: the first refusal in the order in which the software would meet it, the
// findings with a consequence that can be emulated, and the first that keeps the program from loading, or nil.
func (e *engine) worst(found []lint.Finding) (worst fate, too []lint.Finding, large *lint.Finding) {
	rank := []fate{invalid, dies, refused22, limit, unloaded, poisons, runs}
	worst = runs
	for i, f := range found {
		fate, _ := fates(f.Rule.ID)
		if fate != runs {
			too = append(too, f)
		}
		if fate == unloaded && large == nil {
			large = &found[i]
		}
		if slices.Index(rank, fate) < slices.Index(rank, worst) {
			worst = fate
		}
	}
	return worst, too, large
}

// EvaluateChain implements ane.Chainer if the wrapped engine does.
func (e *engine) EvaluateChain(ctx context.Context, steps []ane.Invocation) error {
	c, ok := e.Engine.Engine.(ane.Chainer)
	if !ok {
		return e.unsupported("chain", "the engine takes one request at a time")
	}
	if e.host.spoiled() {
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

func (e *engine) unsupported(op, why string) error {
	return &ane.Error{Op: op, Engine: e.name, Err: errors.ErrUnsupported, Detail: why, Hint: "open the broker"}
}

// slots describes the limit of loaded programs.
func (e *engine) slots() string {
	return fmt.Sprintf("%d programs are loaded, at most %d on %s", e.spec.Slots.Value,
		e.spec.Slots.Value, e.chip.Target())
}
