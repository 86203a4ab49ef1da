package lint

import (
	"slices"

	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
)

func checkDead(c *check, f *ops.Graph) {
	for _, r := range f.Function.Results {
		switch v := f.Values[r.Name]; {
		case v == nil:
		case slices.Contains(f.Parameters, v) && !v.State:
			c.error(r.Pos, "", "output %s is an input", near.Cut(v.Name))
		case v.Literal != nil:
			c.error(r.Pos, "compute it from an input", "output %s is a constant", near.Cut(v.Name))
		case v.Folded:
			c.error(r.Pos, "compute it from an input", "output %s depends on no input", near.Cut(v.Name))
		}
	}
}

func checkUnusedInput(c *check, f *ops.Graph) {
	for _, v := range f.Parameters {
		switch {
		case len(v.Uses) > 0 || v.Returned:
		case c.spec.UnusedInput.Known() && !c.spec.UnusedInput.Value:
			c.error(v.Pos, "", "no operation uses input %s", near.Cut(v.Name))
		default:
			c.warn(v.Pos, "", "no operation uses input %s", near.Cut(v.Name))
		}
	}
}

// live returns the statements that an output or a state needs. A statement takes only what is above it.
func live(f *ops.Graph) map[*ops.Node]bool {
	live := map[*ops.Node]bool{}
	for _, v := range f.Outputs {
		live[v.Made] = true
	}
	for _, n := range slices.Backward(f.Statements) {
		if live[n] = live[n] || len(n.Out) == 0; live[n] { // without results it writes a state
			for _, v := range n.Arguments() {
				live[v.Made] = true
			}
			for _, b := range n.Blocks { // the statements in them are above
				for _, v := range b.Results {
					live[v.Made] = true
				}
			}
		}
	}
	return live
}

func checkUnusedValue(c *check, f *ops.Graph) {
	live := live(f)
	for _, n := range f.Statements {
		if n.Op.Kind != "const" && !live[n] && len(n.Out) > 0 {
			c.warn(n.Out[0].Pos, "", "no output needs %s", near.Cut(n.Out[0].Name))
		}
	}
}

func checkUnusedConst(c *check, f *ops.Graph) {
	for _, n := range f.Statements {
		if n.Op.Kind == "const" && len(n.Out) == 1 && len(n.Out[0].Uses) == 0 && !n.Out[0].Returned {
			c.note(n.Out[0].Pos, "", "nothing uses %s", near.Cut(n.Out[0].Name))
		}
	}
}

func checkShared(c *check) {
	first := map[string]string{} // the function that has a name first
	for _, f := range c.funcs {
		for _, v := range slices.Concat(f.Parameters, f.Outputs) {
			if owner, taken := first[v.Name]; !taken {
				first[v.Name] = f.Function.Name
			} else if owner != f.Function.Name {
				c.warn(v.Pos, "", "%s is an input or output of %s too", near.Cut(v.Name), near.Cut(owner))
			}
		}
	}
}
