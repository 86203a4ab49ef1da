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

var engineCompilers = []chip.Compiler{chip.InMemory, chip.E5}

// textRules are about the language.
func textRules() []Rule {
	return []Rule{
		{ID: "many", Severity: Note, Title: "A program has more findings than are printed.",
			Reason: "A habit that is repeated hides other faults.", Fix: "fix the findings that are printed first",
			Source: "anekit"},
		{ID: "syntax", Severity: Error, Title: "A text is no MIL program.",
			Reason: "The compiler answers InvalidMILProgram.", Fix: "follow the message",
			Source: "coremltools (D)", check: checkSyntax},
		{ID: "types", Severity: Error, Title: "Arguments or declared types do not fit the operator.",
			Reason: "The compiler infers every type itself and answers Expected tensor<..>; got tensor<..>.",
			Fix:    "declare the type that the operator gives", Source: "coremltools (D)", check: checkTypes},
		{ID: "unknown-operator", Severity: Error, Title: "An operator is in no published operator set.",
			Reason: "The compiler answers InvalidMILProgram.", Fix: "check its spelling",
			Source: "coremltools (D)", check: checkUnknown},
		{ID: "bare-literal", Severity: Error, Fixable: true, Compilers: engineCompilers,
			Title: "A number, true or false stands as an argument without a type.", Reason: "The compiler answers " +
				"ANECCompile() FAILED or InvalidMILProgram.", Fix: "write its type, as in bool(true)",
			Source: "orion rule 15, tmc (M)", check: checkBare},
		{ID: "nested-const", Severity: Note, Fixable: true, Title: "A const stands in place of an operand.",
			Reason: "No compiler is known to write this form, so no chip is known to read it.",
			Fix:    "write its value in its place, as in int32(1)", Source: "anekit (I)", check: checkNested},
		{ID: "const-name", Severity: Note, Fixable: true, Title: "A const has no attribute name.",
			Reason: "One source calls it required, another runs without it.", Fix: "write name = string(\"n\")",
			Source: "forge (D)", check: checkLabel},
		{ID: "build-info", Severity: Warning, Fixable: true, Compilers: engineCompilers,
			Title: "A program has no buildInfo.", Reason: "No program without it is known to compile.",
			Fix:    "give the four keys that coremltools writes",
			Source: "forge, ANE-LM (M): programs with one key or more run", check: checkBuildInfo},
		{ID: "opset-unknown", Severity: Warning, Title: "A function names an opset that no system is known to have.",
			Reason: "The host's compiler refuses an opset that it does not know.", Fix: "write ios16, ios17 or ios18",
			Source: "coremltools (D)", check: checkOpsetKnown},
		{ID: "opset-os", Severity: Error, Title: "The opset is newer than the system.",
			Reason: "The system's compiler does not know the opset.", Fix: "name an older opset, or require a " +
				"newer system",
			Source: "coremltools (D)", check: checkOpset},
		{ID: "old-dialect", Severity: Warning, each: true, Compilers: []chip.Compiler{chip.InMemory},
			Title:  "A program for M1 or M2 is written in the new dialect.",
			Reason: "M1 and M2 are reported to need program(1.0), ios16 and boxed scalars.",
			Fix:    "convert it to the old dialect: ane-roundtrip fmt --dialect old",
			Source: "maderix, a pull request (M); ANE-LM",
			check:  checkDialect},
		{ID: "dynamic-shape", Severity: Error, Title: "An axis has no fixed length.", placed: true,
			Reason: "The engine's compilers need fixed shapes; only the CPU runs such programs.",
			Fix:    "write the length of every axis", Source: "guide (D)", check: checkDynamic},
	}
}

func checkSyntax(c *check) {
	for _, e := range c.invalid {
		c.error(e.Pos, e.Hint, "%s", e.Msg)
	}
}

func checkTypes(c *check) {
	for _, f := range c.funcs {
		for _, e := range f.faults {
			c.error(e.Pos, e.Hint, "%s", e.Msg)
		}
	}
}

func checkUnknown(c *check) {
	for _, f := range c.funcs {
		for _, s := range f.unknown {
			if !ops.Foreign(s.Kind) {
				c.error(s.Pos, near.Hint(s.Kind, ops.Names())+c.rule.Fix, "unknown operator %s", s.Kind)
			}
		}
	}
}

// each visits the statements that are no const.
func (r *run) each(visit func(f *function, s *stmt)) {
	for _, f := range r.funcs {
		for _, s := range f.stmts {
			if s.Kind != "const" {
				visit(f, s)
			}
		}
	}
}

// kinds visits the statements with one of the operators.
func (r *run) kinds(visit func(s *stmt), kinds ...string) {
	r.each(func(_ *function, s *stmt) {
		if slices.Contains(kinds, s.Kind) {
			visit(s)
		}
	})
}

func checkBare(c *check) {
	c.each(func(f *function, s *stmt) {
		for _, a := range s.args {
			items := []mil.Operand{a.source}
			if list, ok := a.source.(*mil.Values); ok {
				items = list.Items
			}
			for i, o := range items {
				m, ok := o.(*mil.Value)
				if !ok || !isBare(m) {
					continue
				}
				d := bareType(s, f, a.name, m)
				if i < len(a.values) {
					d = a.values[i].dtype
				}
				var edits []Edit
				text := "true"
				switch l := m.Literal.(type) {
				case mil.Number:
					text = l.Text
				case mil.BoolLit:
					text = strconv.FormatBool(l.Value)
				}
				if at, ok := c.text.offset(m.Pos); ok && c.text.word(at) == at+len(text) {
					edits = []Edit{{at, at + len(text), c.scalar(d, text)}}
				}
				c.fixed(edits).error(m.Pos, "write "+a.name+" = "+c.scalar(d, cut(text)), "%s: %s: %s has no type",
					s.Kind,
					a.name, cut(text))
			}
		}
	})
}

// cut shortens a text for a message.
func cut(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + ".."
	}
	return s
}

func checkNested(c *check) {
	c.each(func(_ *function, s *stmt) {
		for _, a := range s.args {
			items := []mil.Operand{a.source}
			if list, ok := a.source.(*mil.Values); ok {
				items = list.Items
			}
			for _, o := range items {
				if n, ok := o.(*mil.Nested); ok {
					c.fixed(c.text.flat(n)).note(n.Pos, "", "%s: %s is a const within the statement", s.Kind, a.name)
				}
			}
		}
	})
}

// flat replaces a nested const by its value; nil if it has none, or a comment that would be lost.
func (t *source) flat(n *mil.Nested) []Edit {
	v := val(n.Attrs, n.Args)
	if v == nil || isBare(v) {
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

func checkLabel(c *check) {
	for _, f := range c.funcs {
		for _, s := range f.stmts {
			if s.Kind != "const" || s.Attr("name") != nil || s.Op.Arg("name") != nil || len(s.Results) != 1 {
				continue
			}
			name := s.Results[0].Name
			label := "name = " + c.scalar(mil.String, strconv.Quote(name))
			c.fixed(c.text.label(s.Op, label)).note(s.Pos, "write [name = ..] after const()", "const %s has no name",
				name)
		}
	}
}

// label inserts an attribute at the start of those of a const; nil if it has none.
func (t *source) label(op *mil.Op, label string) []Edit {
	_, end, ok := t.callOf(op)
	if !ok {
		return nil
	}
	at := t.skip(end)
	if at < len(t.src) && t.src[at] == '[' {
		text := label
		if next := t.skip(at + 1); next < len(t.src) && t.src[next] != ']' {
			text += ", "
		}
		return []Edit{{at + 1, at + 1, text}}
	}
	return []Edit{{end, end, "[" + label + "]"}}
}

func (t *source) callOf(op *mil.Op) (start, end int, ok bool) {
	if t == nil {
		return 0, 0, false
	}
	return t.call(op)
}

// buildInfo is what coremltools writes, in both dialects.
const (
	buildInfo = `[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}, {"coremlc-version", ` +
		`"3505.4.1"}, {"coremltools-component-milinternal", ""}, {"coremltools-version", "9.0"}})]`
	oldBuildInfo = `[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-component-MIL", ` +
		`"3510.2.1"}, {"coremlc-version", "3505.4.1"}, {"coremltools-component-milinternal", ""}, ` +
		`{"coremltools-version", "9.0"}})]`
)

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
			info := buildInfo
			if c.old() {
				info = oldBuildInfo
			}
			edits = []Edit{{end, end, "\n" + info}}
		}
	}
	c.fixed(edits).warn(p.Pos, "", "the program has no buildInfo")
}

func checkOpsetKnown(c *check) {
	for _, f := range c.funcs {
		if _, ok := chip.Opset(f.Opset); !ok {
			c.warn(f.Pos, "", "function %s: opset %s is not known", cut(f.Name), cut(f.Opset))
		}
	}
}

func checkOpset(c *check) {
	for _, f := range c.funcs {
		if first, ok := chip.Opset(f.Opset); ok && c.OS != 0 && first > c.OS {
			c.error(f.Pos, "", "function %s: opset %s needs %v; the system is %v", cut(f.Name), f.Opset, first, c.OS)
		}
	}
}

func checkDialect(c *check) {
	if !c.on(chip.M1, chip.M2) || len(c.funcs) == 0 {
		return
	}
	var why []string
	if !c.old() {
		why = append(why, "program("+cut(c.prog.Version)+")")
	}
	for _, f := range c.funcs {
		if first, ok := chip.Opset(f.Opset); ok && first > 13 && !slices.Contains(why, f.Opset) {
			why = append(why, f.Opset)
		}
	}
	if len(why) > 0 {
		c.warn(c.prog.Pos, "", "%s: M1 and M2 are reported to need program(1.0) and ios16", strings.Join(why, ", "))
	}
}

func checkDynamic(c *check) {
	for _, f := range c.funcs {
		for _, v := range f.inputs {
			if !v.fixed && (v.typ.Kind == mil.Tensor || v.state) {
				c.error(v.at, "", "input %s: %s has an axis without a length", cut(v.name), cut(v.typ.String()))
			}
		}
		for _, s := range f.stmts {
			for _, v := range s.out {
				if !v.fixed && v.typ.Kind == mil.Tensor {
					c.error(v.at, "", "%s: %s has an axis without a length", cut(v.name), cut(v.typ.String()))
				}
			}
		}
	}
}
