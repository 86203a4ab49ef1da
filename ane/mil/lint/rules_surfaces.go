package lint

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
)

// sides visits the inputs and the outputs of a function.
func sides(f *ops.Graph, visit func(side string, list []*ops.Value)) {
	visit("input", f.Parameters)
	visit("output", f.Outputs)
}

// surfaces visits every input and output of fixed shape, once.
func surfaces(f *ops.Graph, visit func(side string, v *ops.Value)) {
	sides(f, func(side string, list []*ops.Value) {
		for _, v := range list {
			if !v.Open && (side == "input" || !slices.Contains(f.Parameters, v)) && v.Literal == nil {
				visit(side, v)
			}
		}
	})
}

// checkSorted is the check of the inputs or the outputs.
func checkSorted(side string) func(c *check, f *ops.Graph) {
	return func(c *check, f *ops.Graph) {
		list := f.Parameters
		if side == "output" {
			list = f.Outputs
		}
		var names, shown []string
		for _, v := range list {
			names, shown = append(names, v.Name), append(shown, near.Cut(v.Name))
		}
		if slices.IsSorted(names) {
			return
		}
		pos := list[0].Pos
		if side == "output" {
			pos = f.Function.Results[0].Pos
		}
		c.fixed(c.renamed(f, side, list)).warn(pos, "", "function %s: the %ss are declared as %v and bound as %v",
			near.Cut(f.Function.Name), side, shown, slices.Sorted(slices.Values(shown)))
	}
}

// renamed gives values names whose sorted order is that of the list: i0_b, i1_a.
func (r *run) renamed(f *ops.Graph, side string, list []*ops.Value) (edits []Edit) {
	if r.text == nil {
		return nil
	}
	for prefix := side[:1]; ; prefix += side[:1] {
		to := map[string]string{}
		free := true
		for i, v := range list {
			name := fmt.Sprintf("%s%0*d_%s", prefix, len(fmt.Sprint(len(list)-1)), i, v.Name)
			to[v.Name] = name
			free = free && r.unused(name)
		}
		if !free {
			continue
		}
		change := func(p mil.Pos, name string) {
			if new, ok := to[name]; ok {
				edits = append(edits, r.text.rename(p, name, new)...)
			}
		}
		for _, p := range f.Function.Params {
			change(p.At, p.Name)
		}
		for _, op := range f.Function.Body {
			for _, v := range op.Results {
				change(v.At, v.Name)
			}
			walk(slices.Concat(op.Args, op.Attrs), func(_ string, o mil.Operand) {
				if ref, ok := o.(mil.Ref); ok {
					change(ref.Pos, ref.Name)
				}
			})
		}
		for _, v := range f.Function.Results {
			change(v.Pos, v.Name)
		}
		return edits
	}
}

// unused reports whether no function has a value of this name.
func (r *run) unused(name string) bool {
	return !slices.ContainsFunc(r.funcs, func(f *ops.Graph) bool { return f.Values[name] != nil })
}

func checkEqual(c *check, f *ops.Graph) {
	sides(f, func(side string, list []*ops.Value) {
		var sizes []int
		for _, v := range list {
			if !v.Open && !v.State {
				sizes = append(sizes, v.Surface())
			}
		}
		if c.OwnSurfaces && len(sizes) > 0 && slices.Min(sizes) != slices.Max(sizes) {
			c.warn(list[0].Pos, "", "function %s: the %ss need %d to %d bytes", near.Cut(f.Function.Name), side,
				slices.Min(sizes), slices.Max(sizes))
		}
	})
}

func checkWidth(c *check, side string, v *ops.Value) {
	if v.Written != nil { // a tensor_buffer says where its rows are
		return
	}
	row := max(v.DType.Bits(), 8) / 8
	if v.Rank() > 0 {
		row *= v.Shape[v.Rank()-1]
	}
	if row%64 != 0 {
		c.note(v.Pos, "", "%s %s: rows of %d bytes are padded to %d", side, near.Cut(v.Name), row, (row+63)/64*64)
	}
}

// stateRow is what the last axis of a state is a multiple of where the engine runs it.
const stateRow = 32

func checkStateWidth(c *check, side string, v *ops.Value) {
	if !v.State || v.Rank() == 0 || v.Shape[v.Rank()-1]%stateRow == 0 {
		return
	}
	n := v.Shape[v.Rank()-1]
	if c.on(chip.M4) {
		c.error(v.Pos, "", "state %s: last axis %d is no multiple of %d", near.Cut(v.Name), n, stateRow)
		return
	}
	c.warn(v.Pos, "", "state %s: last axis %d is no multiple of %d: fails on an M4, not tried here", near.Cut(v.Name), n,
		stateRow)
}

func checkSmall(c *check, side string, v *ops.Value) {
	least := chip.M6.Spec().MinSurface.Value // as on all chips
	if n := v.Surface(); c.OwnSurfaces && int64(n) < least {
		c.note(v.Pos, "", "%s %s needs %d bytes", side, near.Cut(v.Name), n)
	}
}

func checkWide(c *check, side string, v *ops.Value) {
	if v.DType == mil.FP32 {
		c.warn(v.Pos, "", "%s %s is fp32", side, near.Cut(v.Name))
	}
}

func checkFP32(c *check, s *ops.Node) {
	out := result(s)
	if out == nil || s.Folded() || family(s) == ops.Conversions || moves(s) {
		return
	}
	if d := out.DType; d == mil.FP32 || d == mil.FP64 || d.Integer() {
		c.warn(s.Op.Pos, "", "%s computes in %v", s.Op.Kind, d)
	}
}
