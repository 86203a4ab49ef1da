package lint

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// omitted lists the optional arguments of an operator that published programs write out, with their defaults.
// What checkNeeded reports is not among them.
func (r *run) omitted(s *ops.Node) (names, texts []string) {
	add := func(name, text string) {
		if s.Op.Arg(name) == nil && (s.Def == nil || s.Def.Param(name) != nil) {
			names, texts = append(names, name), append(texts, name+" = "+text)
		}
	}
	flag := func(name string) { add(name, r.scalar(mil.Bool, "false")) }
	x := s.Value("x")
	if x == nil || x.Open {
		return nil, nil
	}
	n := len(x.Shape)
	number := func(name string, f float64) {
		if x.DType.Float() {
			add(name, r.float(x.DType, f))
		}
	}
	window := func() {
		spatial := max(n-2, 0)
		add("strides", vector(mil.Int32, same(spatial, 1)))
		add("pad_type", r.scalar(mil.String, `"valid"`))
		add("pad", vector(mil.Int32, same(2*spatial, 0)))
	}
	switch s.Op.Kind {
	case "conv", "conv_transpose":
		window()
		add("dilations", vector(mil.Int32, same(max(n-2, 0), 1)))
		add("groups", r.scalar(mil.Int32, "1"))
	case "max_pool", "avg_pool", "l2_pool":
		window()
		flag("ceil_mode")
		if s.Op.Kind == "avg_pool" {
			flag("exclude_padding_from_average")
		}
	case "matmul":
		flag("transpose_x")
		flag("transpose_y")
	case "softmax":
		add("axis", r.scalar(mil.Int32, "-1"))
	case "layer_norm", "batch_norm", "instance_norm":
		number("epsilon", 1e-5)
	case "l2_norm":
		number("epsilon", 1e-6)
	case "slice_by_index":
		add("stride", vector(mil.Int32, same(n, 1)))
		for _, name := range []string{"begin_mask", "end_mask", "squeeze_mask"} {
			add(name, vector(mil.Bool, same(n, false)))
		}
	case "upsample_bilinear":
		add("align_corners", r.scalar(mil.Bool, "true"))
	case "pad":
		add("mode", r.scalar(mil.String, `"constant"`))
		number("constant_val", 0)
	}
	if strings.HasPrefix(s.Op.Kind, "reduce_") {
		if !strings.HasPrefix(s.Op.Kind, "reduce_arg") {
			var axes []int
			for i := range n {
				axes = append(axes, i)
			}
			if n > 0 {
				add("axes", vector(mil.Int32, axes))
			}
		}
		flag("keep_dims")
	}
	return names, texts
}

func checkMissing(c *check, s *ops.Node) {
	if names, texts := c.omitted(s); len(names) > 0 {
		c.fixed(c.text.give(s.Op, texts...)).warn(s.Op.Pos, "write "+strings.Join(texts, ", "), "%s leaves out %s",
			s.Op.Kind, strings.Join(names, ", "))
	}
}

// epsilons are the defaults of an argument that the compiler requires.
var epsilons = map[string]float64{"rsqrt": 1e-12, "log": 1e-45, "inverse": 1e-4}

// checkNeeded reports an argument that the compiler requires.
func checkNeeded(name string) func(c *check, s *ops.Node) {
	return func(c *check, s *ops.Node) {
		if s.Op.Arg(name) != nil {
			return
		}
		var text string
		switch name {
		case "mode":
			text = c.scalar(mil.String, `"EXACT"`)
		case "interleave":
			text = c.scalar(mil.Bool, "false")
		default:
			d := mil.FP16
			if x := s.Value("x"); x != nil && x.DType.Float() {
				d = x.DType
			}
			text = c.float(d, epsilons[s.Op.Kind])
		}
		text = name + " = " + text
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
	at = t.skip(t.word(at))
	if at < len(t.src) && t.src[at] == '<' {
		depth := 0
		for ; at < len(t.src); at++ {
			switch t.src[at] {
			case '<':
				depth++
			case '>':
				depth--
			}
			if depth == 0 {
				break
			}
		}
		at = t.skip(at + 1)
	}
	if at >= len(t.src) || t.src[at] != '(' {
		return 0
	}
	end, ok := t.after(at)
	if !ok {
		return 0
	}
	return end
}

func checkBias(c *check, s *ops.Node) {
	if a := s.Op.Arg("bias"); a != nil {
		c.warn(a.Pos, "", "%s with a bias", s.Op.Kind)
	}
}
