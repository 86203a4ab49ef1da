package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// operatorRules are about what operators a compiler and a chip take.
func operatorRules() []Rule {
	return []Rule{
		{ID: "refused-operator", Severity: Error, each: true, Compilers: engineCompilers,
			Title:  "The compiler does not take an operator.",
			Reason: "The compiler refuses the program.", Fix: "use other operators",
			Source: "ironmill, on M3 Pro in memory (M); forge, on M5 by E5 (M); study, compiles for h16g and h18g (C)",
			check:  checkPlaced},
		{ID: "trigonometry", Severity: Error, each: true, placed: true,
			Title:  "A program for M1 or M2 uses sin or cos.",
			Reason: "The chip has no table for them.", Fix: "compute it on the host, or as a polynomial",
			Source: "guide (D)",
			check:  checkPlaced},
		{ID: "topk", Severity: Error, each: true, Title: "topk runs on a chip whose compiler refuses it.",
			Reason: "The compiler for h16g refuses it (rc 22), and through Core ML it costs 6 to 10 ms on M4.",
			Fix:    "return the scores and choose on the host", Source: "study (C, M)", check: checkPlaced},
		{ID: "tile-poison", Severity: Error, each: true, Fixable: true, Compilers: []chip.Compiler{chip.InMemory},
			Title: "A program has tile.",
			Reason: "On an M3 Max every later evaluate of the process fails with 0x1d until it exits, also of other " +
				"programs, even if the tile is not used.",
			Fix: "use concat, or copy on the host", Source: "field guide, on M3 Max (M)", check: checkPoison},
		{ID: "only-views", Severity: Error, Compilers: engineCompilers, placed: true,
			Title:  "A program does nothing but reshape, slice or tile.",
			Reason: "The compiler answers ANECCompile() FAILED.", Fix: "multiply by one",
			Source: "ironmill (M); tmc runs a lone tile (M)", check: checkViews},
		{ID: "slow-bridge", Severity: Warning, each: true, Title: "An operator runs as a bridge of 20 to 140 ms.",
			Reason: "On M5 the engine hands these operators over at every call.", Fix: "compute it on the host",
			Source: "forge, on M5 (M)", check: checkPlaced},
		{ID: "contested-operator", Severity: Note, Compilers: engineCompilers,
			Title:  "Projects disagree on whether an operator compiles.",
			Reason: "One or two met ANECCompile() FAILED, others run it.",
			Fix:    "have the fallback ready that the message names",
			Source: "Espresso, rane against orion, maderix, ironmill; qwen-ane, on M5 Max (M)", check: checkPlaced},
	}
}

func checkPoison(c *check) {
	c.kinds(func(s *stmt) {
		edits := c.untiled(s)
		if c.on(chip.M3) {
			c.fixed(edits).error(s.Pos, "", "tile makes every later evaluate of the process fail")
			return
		}
		c.fixed(edits).warn(s.Pos, "", "tile makes every later evaluate of the process fail on an M3 Max")
	}, "tile")
}

// maxCopies is the largest number of operands that a tile is replaced with.
const maxCopies = 64

// untiled replaces a tile with a concat for each axis that it repeats; nil if the text does not show how.
func (r *run) untiled(s *stmt) []Edit {
	x, out := s.in("x"), s.result()
	reps, ok := s.ints("reps")
	if r.text == nil || !ok || x == nil || out == nil || !x.fixed || !out.fixed || len(reps) != len(x.shape) ||
		len(s.out) != 1 {
		return nil
	}
	ref, named := s.arg("x").source.(mil.Ref)
	start, ok := r.text.offset(s.Results[0].Pos)
	from, to, found := r.text.callOf(s.Op)
	if !named || !ok || !found || start > from || strings.Contains(r.text.src[start:from], "(") {
		return nil
	}
	var axes []int
	for i, n := range reps {
		if n < 1 || n > maxCopies {
			return nil
		}
		if n > 1 {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 {
		return []Edit{{from, to, fmt.Sprintf("concat(axis = %s, interleave = %s, values = (%s))", r.scalar(mil.Int32,
			"0"),
			r.scalar(mil.Bool, "false"), ref.Name)}}
	}
	var before strings.Builder
	shape, name := slices.Clone(x.shape), ref.Name
	for i, axis := range axes {
		shape[axis] *= reps[axis]
		call := fmt.Sprintf("concat(axis = %s, interleave = %s, values = (%s))", r.scalar(mil.Int32, fmt.Sprint(axis)),
			r.scalar(mil.Bool, "false"), strings.TrimSuffix(strings.Repeat(name+", ", reps[axis]), ", "))
		if i == len(axes)-1 {
			edits := []Edit{{from, to, call}}
			if before.Len() > 0 {
				edits = append([]Edit{{start, start, before.String()}}, edits...)
			}
			return edits
		}
		name = out.name + "_" + fmt.Sprint(axis)
		for !r.unused(name) {
			name += "_"
		}
		fmt.Fprintf(&before, "%v %s = %s[name = %s];\n        ", mil.TensorOf(x.dtype, shape...), name, call,
			r.scalar(mil.String, `"`+name+`"`))
	}
	return nil
}

func checkViews(c *check) {
	for _, f := range c.funcs {
		tiles, other, first := false, false, (*stmt)(nil)
		for _, s := range f.stmts {
			switch {
			case s.Kind == "const" || s.constexpr():
			case s.family() != ops.Views && s.family() != ops.Slices && s.Kind != "tile":
				other = true
			default:
				tiles = tiles || s.Kind == "tile"
				if first == nil {
					first = s
				}
			}
		}
		switch {
		case other || first == nil:
		case tiles:
			c.warn(first.Pos, "", "function %s only moves elements", cut(f.Name))
		default:
			c.error(first.Pos, "", "function %s only moves elements", cut(f.Name))
		}
	}
}
