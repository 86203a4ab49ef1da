package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
)

func checkSyntax(c *check) {
	for _, e := range c.invalid {
		c.error(e.Pos, e.Hint, "%s", e.Msg)
	}
}

func checkTypes(c *check, f *ops.Graph) {
	for _, e := range f.Faults {
		if c.compiler != chip.CoreML || !c.passing[e.Pos] {
			c.error(e.Pos, e.Hint, "%s", e.Msg)
		}
	}
}

func checkUnknown(c *check, n *ops.Node) {
	if n.Def == nil && !ops.Foreign(n.Op.Kind) {
		c.error(n.Op.Pos, near.Hint(n.Op.Kind, ops.Names())+c.rule.Fix, "unknown operator %s", n.Op.Kind)
	}
}

// walk visits the operands of arguments, with those in lists and in nested consts.
func walk(args []mil.Arg, visit func(name string, o mil.Operand)) {
	for _, a := range args {
		visit(a.Name, a.Value)
		switch o := a.Value.(type) {
		case *mil.Values:
			for _, item := range o.Items {
				walk([]mil.Arg{{Name: a.Name, Value: item}}, visit)
			}
		case *mil.Nested:
			walk(slices.Concat(o.Args, o.Attrs), visit)
		}
	}
}

func checkBare(c *check, n *ops.Node) {
	walk(n.Op.Args, func(name string, o mil.Operand) {
		m, ok := o.(*mil.Value)
		if !ok || !m.Bare() {
			return
		}
		d := bareType(n, name, m)
		var edits []Edit
		text := ops.BareText(m)
		if at, ok := c.text.offset(m.Pos); ok && c.text.word(at) == at+len(text) {
			edits = []Edit{{at, at + len(text), c.scalar(d, text)}}
		}
		c.fixed(edits).error(m.Pos, "write "+name+" = "+c.scalar(d, near.Cut(text)), "%s: %s: %s has no type",
			n.Op.Kind, name, near.Cut(text))
	})
}

func checkNested(c *check, n *ops.Node) {
	walk(n.Op.Args, func(name string, o mil.Operand) {
		if m, ok := o.(*mil.Nested); ok {
			c.fixed(c.text.flat(m)).note(m.Pos, "", "%s: %s is a const within the statement", n.Op.Kind, name)
		}
	})
}

// flat replaces a nested const by its value; nil if it has none, or a comment that would be lost.
func (t *source) flat(n *mil.Nested) []Edit {
	var v *mil.Value
	for _, a := range slices.Concat(n.Attrs, n.Args) {
		if a.Name == "val" {
			v, _ = a.Value.(*mil.Value)
		}
	}
	if v == nil || v.Bare() {
		return nil
	}
	at, ok := t.offset(n.Pos)
	from, there := t.offset(v.Pos)
	if !ok || !there {
		return nil
	}
	end, to := at+len("const"), t.literalEnd(from)
	for next := t.skip(end); next < len(t.src) && (t.src[next] == '(' || t.src[next] == '['); next = t.skip(end) {
		if end, ok = t.after(next); !ok {
			return nil
		}
	}
	if from < at || to <= from || to > end || strings.Contains(t.src[at:from]+t.src[to:end], "//") {
		return nil
	}
	return []Edit{{at, end, t.src[from:to]}}
}

func checkLabel(c *check, f *ops.Graph) {
	for _, op := range f.Function.Body {
		if op.Kind != "const" || op.Attr("name") != nil || op.Arg("name") != nil || len(op.Results) != 1 {
			continue
		}
		name := op.Results[0].Name
		label := "name = " + c.scalar(mil.String, strconv.Quote(name))
		c.fixed(c.text.label(op, label)).note(op.Pos, "write [name = ..] after const()", "const %s has no name", name)
	}
}

// label inserts an attribute at the start of those of a const; nil if it has none.
func (t *source) label(op *mil.Op, label string) []Edit {
	_, end, ok := t.call(op)
	if !ok {
		return nil
	}
	at := t.skip(end)
	if at < len(t.src) && t.src[at] == '[' {
		return t.insert(at, label)
	}
	return []Edit{{end, end, "[" + label + "]"}}
}

// buildInfo is what mil.NewBuilder writes, as coremltools does.
func (r *run) buildInfo() string {
	var o []mil.Option
	if r.old() {
		o = append(o, mil.OldDialect())
	}
	p, _ := mil.NewBuilder(o...).Program()
	return "\n" + strings.Split(string(mil.Print(p)), "\n")[1]
}

func checkBuildInfo(c *check) {
	p := c.prog
	if len(c.invalid) > 0 || len(p.Funcs) == 0 ||
		slices.ContainsFunc(p.Attrs, func(a mil.Arg) bool { return a.Name == "buildInfo" }) {
		return
	}
	var edits []Edit
	if at, ok := c.text.offset(p.Pos); ok && len(p.Attrs) == 0 {
		at = c.text.skip(at + len("program"))
		if end, ok := c.text.after(at); ok && at < len(c.text.src) && c.text.src[at] == '(' {
			edits = []Edit{{end, end, c.buildInfo()}}
		}
	}
	c.fixed(edits).warn(p.Pos, "", "the program has no buildInfo")
}

func checkOpsetKnown(c *check, f *ops.Graph) {
	fn := f.Function
	if _, ok := chip.Opset(fn.Opset); !ok {
		c.warn(fn.Pos, "", "function %s: opset %s is not known", near.Cut(fn.Name), near.Cut(fn.Opset))
	}
}

func checkOpset(c *check, f *ops.Graph) {
	fn := f.Function
	if first, ok := chip.Opset(fn.Opset); ok && c.OS != 0 && first > c.OS {
		c.error(fn.Pos, "", "function %s: opset %s needs %v; the system is %v", near.Cut(fn.Name), fn.Opset, first,
			c.OS)
	}
}

func checkDialect(c *check) {
	var why []string
	if !c.old() && len(c.funcs) > 0 {
		why = append(why, "program("+near.Cut(c.prog.Version)+")")
	}
	for _, f := range c.funcs {
		if first, ok := chip.Opset(f.Function.Opset); ok && first > 13 && !slices.Contains(why, f.Function.Opset) {
			why = append(why, f.Function.Opset)
		}
	}
	if len(why) > 0 {
		c.warn(c.prog.Pos, "", "%s: M1 and M2 are reported to need program(1.0) and ios16", strings.Join(why, ", "))
	}
}
