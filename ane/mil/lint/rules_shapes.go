package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/shapes"
)

// fix has the other rules see a program whose open axes have the lengths of Options.Shapes, or of its default.
func (r *run) fix(p *mil.Program) {
	fixed, _, err := shapes.Fix(r.found.file, p, "", r.Shapes, nil)
	r.open, r.prog = p, fixed
	if list := (mil.ErrorList)(nil); errors.As(err, &list) {
		r.unfixed = list
	}
}

// probe finds the faults of the default shape that another shape of the range or the enumeration does not have.
func (r *run) probe() {
	if len(r.Shapes) > 0 || len(r.open.Funcs) != 1 || len(r.funcs) != 1 || len(r.funcs[0].Faults) == 0 {
		return
	}
	x := shapes.Of(r.open, r.open.Funcs[0])
	other := map[string][]int{}
	if n := len(x.Enumerated); n > 0 {
		other = x.Enumerated[n-1]
	}
	for name, axes := range x.Ranges {
		for i, a := range axes {
			n := a[0] + 64
			if d := x.Default[name]; i < len(d) {
				n = max(n, d[i]+64)
			}
			if a[1] >= 0 {
				n = min(n, a[1])
			}
			other[name] = append(other[name], n)
		}
	}
	if len(other) == 0 {
		return
	}
	p, _, err := shapes.Fix(r.found.file, r.open, "", other, nil)
	if err != nil {
		return
	}
	r.passing = map[mil.Pos]bool{}
	for _, e := range r.funcs[0].Faults {
		r.passing[e.Pos] = e.Pos != mil.Pos{}
	}
	for _, g := range ops.Survey(r.found.file, p) {
		for _, e := range g.Faults {
			delete(r.passing, e.Pos)
		}
	}
}

// checkShapes says what a compiler does with open axes: once for each function, not for each value.
func checkShapes(c *check) {
	if c.open == nil {
		return
	}
	for _, e := range c.unfixed {
		if errors.Is(e, shapes.ErrOpen) {
			c.error(e.Pos, e.Hint, "%s", e.Msg)
		}
	}
	for _, f := range c.funcs {
		for _, e := range f.Faults {
			if c.compiler == chip.CoreML && c.passing[e.Pos] {
				c.source = evidence{Source: "coremltools", Degree: "D", Chips: "any", Roads: "all"}.String()
				c.warn(e.Pos, "give --shape, or convert the model with another default shape", "%s; so it is for the default "+
					"shape, %s, and not for another that the program takes", e.Msg, defaults(f))
			}
		}
	}
	for i, f := range c.open.Funcs {
		var axes []mil.Var
		for _, v := range f.Params {
			if shapes.Symbolic(v.Type) {
				axes = append(axes, v)
			}
		}
		switch inner := shapes.Inner(f); {
		case len(axes) > 0:
			c.flexible(f, c.prog.Funcs[i], axes)
		case inner > 0 && c.compiler != chip.CoreML:
			c.note(f.Pos, "write their lengths, or compile it with package ane, which does",
				"function %s leaves axes of %d values open, whose lengths follow from its inputs", near.Cut(f.Name),
				inner)
		}
	}
}

// defaults lists the shapes of the inputs: "x [1, 1]".
func defaults(f *ops.Graph) string {
	var all []string
	for _, v := range f.Parameters {
		all = append(all, near.Cut(v.Name)+" "+shapes.Text(v.Shape))
	}
	return strings.Join(all, ", ")
}

// flexible tells of a function with open inputs. fixed is the function with the lengths that were taken.
func (c *check) flexible(f, fixed *mil.Function, inputs []mil.Var) {
	x, first := shapes.Of(c.open, f), inputs[0]
	listed := len(x.Enumerated) > 0
	what := fmt.Sprintf("input %s takes %s", near.Cut(first.Name), x.Allowed(first.Name))
	if len(inputs) > 1 {
		what += fmt.Sprintf(", and %d more are flexible", len(inputs)-1)
	}
	taken := ""
	if i := slices.IndexFunc(fixed.Params, func(v mil.Var) bool { return v.Name == first.Name }); i >= 0 {
		if t, ok := fixed.Params[i].Type.Shape(); ok {
			taken = shapes.Text(t)
		}
	}
	found := evidence{Source: "coremltools #1764, #1909, #2370", Degree: "M", Chips: "unknown", Roads: "coreml"}
	switch {
	case taken == "": // reported as unfixed
	case c.compiler != chip.CoreML:
		c.source = evidence{Source: "guide", Degree: "D", Chips: "any", Roads: "in-memory,e5"}.String()
		c.warn(first.At, "compile it with package ane or this command, which write one shape into the program: "+
			"--shape takes another one", "%s; the %v compiler is known to take fixed shapes alone, and what follows "+
			"is for %s", what, c.compiler, taken)
	case !x.Told(first.Name):
		found.Source, found.Degree = "kokoro-coreml, the E5 runtime's log", "M"
		c.source = found.String()
		c.warn(first.At, "convert the model with a default shape", "%s; the program has no FlexibleShapeInformation, "+
			"which the E5 runtime calls missing, and what follows is for %s", what, taken)
	case listed && calls(f, "layer_norm"):
		found.Source = "coremltools #1909"
		c.source = found.String()
		c.note(first.At, "measure each shape", "%s; the engine runs each of them, but a published model of enumerated "+
			"shapes with layer_norm ran on the CPU", what)
	case listed:
		found.Source = "an engineer of Apple, forum thread 724930; coremltools #2370"
		c.source = found.String()
		c.note(first.At, "measure each shape", "%s; the engine runs each of them", what)
	default:
		c.source = found.String()
		c.note(first.At, "list the other shapes with EnumeratedShapes", "%s; the engine runs the default shape, %s, "+
			"and the CPU or the GPU the others", what, shapes.Text(x.Default[first.Name]))
	}
	if c.compiler == chip.CoreML && len(x.Ranges) > 0 && len(c.open.Funcs) > 1 {
		c.source = evidence{Source: "rustane, a message in the compiler's code", Degree: "I", Chips: "any",
			Roads: "coreml"}.String()
		c.warn(f.Pos, "leave one function in the program, or enumerate the shapes", "a range in a program of %d "+
			"functions: the engine's compiler has the message \"ANEC doesn't support MIL program with RangeDims and "+
			"multi-functions\"", len(c.open.Funcs))
	}
}

// calls reports whether a function calls an operator.
func calls(f *mil.Function, kind string) bool {
	for op := range f.Ops() {
		if op.Kind == kind {
			return true
		}
	}
	return false
}
