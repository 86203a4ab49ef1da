package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// omitted lists the settings that a statement leaves out though published programs write them, beside those of
// checkNeeded, and what to write for each. No program with slice_update is published.
func (r *run) omitted(s *ops.Node) (names, texts []string) {
	x := s.Value("x")
	if x == nil || x.Open || s.Def == nil || s.Op.Kind == "slice_update" {
		return nil, nil
	}
	for _, p := range s.Def.Params {
		if p.Spelled && s.Op.Arg(p.Name) == nil {
			if text := r.standard(s, p.Name, x.DType); text != "" {
				names, texts = append(names, p.Name), append(texts, p.Name+" = "+text)
			}
		}
	}
	return names, texts
}

// standard returns the default of a setting as the program would write it, a fraction in the type d. It is empty if the
// operator has no such setting for its operand, or d no fractions.
func (r *run) standard(s *ops.Node, name string, d mil.DType) string {
	p, x := s.Def.Param(name), cmp.Or(s.Value("x"), &ops.Value{})
	if p == nil {
		return ""
	}
	switch v := s.Def.Written(p, x.Rank()).(type) {
	case bool:
		return r.scalar(mil.Bool, fmt.Sprint(v))
	case int:
		return r.scalar(mil.Int32, fmt.Sprint(v))
	case string:
		return r.scalar(mil.String, strconv.Quote(v))
	case []bool:
		return vector(mil.Bool, v)
	case []int:
		return vector(mil.Int32, v)
	case float64:
		if d.Float() {
			return r.scalar(d, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return ""
}

func checkMissing(c *check, s *ops.Node) {
	if names, texts := c.omitted(s); len(names) > 0 {
		c.fixed(c.text.give(s.Op, texts...)).warn(s.Op.Pos, "write "+strings.Join(texts, ", "), "%s leaves out %s",
			s.Op.Kind, strings.Join(names, ", "))
	}
}

// checkNeeded reports an argument that the compiler requires.
func checkNeeded(name string) func(c *check, s *ops.Node) {
	return func(c *check, s *ops.Node) {
		if s.Op.Arg(name) != nil {
			return
		}
		d := mil.FP16
		if x := s.Value("x"); x != nil && x.DType.Float() {
			d = x.DType
		}
		text := name + " = " + c.standard(s, name, d)
		c.fixed(c.text.give(s.Op, text)).error(s.Op.Pos, "write "+text, "%s without %s", s.Op.Kind, name)
	}
}

func checkOpen(c *check, s *ops.Node) {
	shape, ok := s.Ints("shape")
	out := result(s)
	if !ok || !slices.Contains(shape, -1) || out == nil {
		return
	}
	var edits []Edit
	a := s.Op.Arg("shape")
	if start, found := c.text.offset(a.Value.Start()); found && !out.Open {
		end := 0
		switch o := a.Value.(type) {
		case mil.Ref:
			end = start + len(o.Name)
		case *mil.Value:
			end = c.text.literalEnd(start)
		}
		if end > start {
			edits = []Edit{{start, end, vector(mil.Int32, out.Shape)}}
		}
	}
	c.fixed(edits).warn(a.Value.Start(), "", "reshape to %v leaves a length to the compiler", few(shape))
}

// literalEnd returns the offset after the typed literal at an offset; 0 if it does not end.
func (t *source) literalEnd(at int) int {
	ok := true
	at = t.skip(t.word(at))
	if at < len(t.src) && t.src[at] == '<' {
		at, ok = t.after(at)
		at = t.skip(at)
	}
	if ok = ok && at < len(t.src) && t.src[at] == '('; !ok {
		return 0
	}
	if at, ok = t.after(at); !ok {
		return 0
	}
	return at
}

func checkBias(c *check, s *ops.Node) {
	if a := s.Op.Arg("bias"); a != nil {
		c.warn(a.Pos, "", "%s with a bias", s.Op.Kind)
	}
}
