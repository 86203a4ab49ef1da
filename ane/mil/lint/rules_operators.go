package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
)

func checkPoison(c *check, s *ops.Node) {
	edits := c.untiled(s)
	if c.on(chip.M3) {
		c.fixed(edits).error(s.Op.Pos, "", "tile makes every later evaluate of the process fail")
		return
	}
	c.fixed(edits).warn(s.Op.Pos, "", "tile makes every later evaluate of the process fail on an M3 Max")
}

// maxCopies is the largest number of operands that a tile is replaced with.
const maxCopies = 64

// untiled replaces a tile with a concat for each axis that it repeats; nil if the text does not show how.
func (r *run) untiled(s *ops.Node) []Edit {
	x, out := s.Value("x"), result(s)
	reps, ok := s.Ints("reps")
	if r.text == nil || !ok || x == nil || out == nil || x.Open || out.Open || len(reps) != len(x.Shape) ||
		len(s.Out) != 1 {
		return nil
	}
	ref, named := s.Op.Arg("x").Value.(mil.Ref)
	start, ok := r.text.offset(s.Op.Results[0].Pos)
	from, to, found := r.text.call(s.Op)
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
	concat := func(axis, copies int, name string) string {
		return fmt.Sprintf("concat(axis = %s, interleave = %s, values = (%s))", r.scalar(mil.Int32, fmt.Sprint(axis)),
			r.scalar(mil.Bool, "false"), strings.TrimSuffix(strings.Repeat(name+", ", copies), ", "))
	}
	if len(axes) == 0 {
		return []Edit{{from, to, concat(0, 1, ref.Name)}}
	}
	var before strings.Builder
	shape, name, end := slices.Clone(x.Shape), ref.Name, axes[len(axes)-1]
	for _, axis := range axes[:len(axes)-1] {
		shape[axis] *= reps[axis]
		call := concat(axis, reps[axis], name)
		for name = out.Name + "_" + fmt.Sprint(axis); !r.unused(name); {
			name += "_"
		}
		fmt.Fprintf(&before, "%v %s = %s[name = %s];\n        ", mil.TensorOf(x.DType, shape...), name, call,
			r.scalar(mil.String, `"`+name+`"`))
	}
	edits := []Edit{{from, to, concat(end, reps[end], name)}}
	if before.Len() > 0 {
		edits = append([]Edit{{start, start, before.String()}}, edits...)
	}
	return edits
}

func checkViews(c *check, f *ops.Graph) {
	tiles, first := false, (*ops.Node)(nil)
	for _, s := range f.Statements {
		switch {
		case s.Op.Kind == "const" || s.Folded():
			continue
		case family(s) != ops.Views && family(s) != ops.Slices && s.Op.Kind != "tile":
			return
		case first == nil:
			first = s
		}
		tiles = tiles || s.Op.Kind == "tile"
	}
	switch {
	case first == nil:
	case tiles:
		c.warn(first.Op.Pos, "", "function %s only moves elements", near.Cut(f.Function.Name))
	default:
		c.error(first.Op.Pos, "", "function %s only moves elements", near.Cut(f.Function.Name))
	}
}
