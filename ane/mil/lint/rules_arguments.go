package lint

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// argumentRules are about arguments that a compiler wants written out.
func argumentRules() []Rule {
	return []Rule{
		{ID: "missing-argument", Severity: Warning, Fixable: true, Compilers: engineCompilers,
			Title:  "An optional argument is left to its default.",
			Reason: "The engine's compiler refuses some programs that leave out what the operator set calls optional.",
			Fix:    "write every argument", Source: "orion, ironmill (M)", check: checkMissing},
		{ID: "gelu-mode", Severity: Error, Fixable: true, Compilers: engineCompilers, Title: "gelu has no mode.",
			Reason: "The compiler answers ANECCompile() FAILED.", Fix: `write mode = string("EXACT")`,
			Source: "orion rule 10 (M), ironmill (M)", check: checkNeeded("gelu", "mode")},
		{ID: "concat-interleave", Severity: Error, Fixable: true, Compilers: engineCompilers,
			Title:  "concat has no interleave.",
			Reason: "The compiler answers ANECCompile() FAILED.", Fix: "write interleave = bool(false)",
			Source: "orion rule 1, maderix, ironmill, forge (M)", check: checkNeeded("concat", "interleave")},
		{ID: "epsilon-missing", Severity: Error, Fixable: true, Compilers: engineCompilers,
			Title:  "rsqrt, log or inverse has no epsilon.",
			Reason: "The engine's compiler requires it.", Fix: "write epsilon", Source: "forge, ironmill (M)",
			check: checkNeeded("rsqrt", "epsilon", "log", "epsilon", "inverse", "epsilon")},
		{ID: "reshape-open", Severity: Warning, Fixable: true, Compilers: engineCompilers,
			Title: "reshape leaves an axis open with -1.", Reason: "The engine's compiler is not known to take it.",
			Fix: "write the length", Source: "ironmill (D)", check: checkOpen},
		{ID: "conv-bias", Severity: Warning, Compilers: engineCompilers, Title: "conv has a bias.",
			Reason: "Some programs with a bias are refused with ANECCompile() FAILED, others run.",
			Fix:    "add a [1, C, 1, 1] tensor after the convolution", Source: "orion rule 16 (M); forge runs it (M)",
			check: checkBias},
	}
}

// omitted lists the optional arguments of an operator that published programs write out, with their defaults.
// What checkNeeded reports is not among them.
func (r *run) omitted(s *stmt) (names, texts []string) {
	add := func(name, text string) {
		def := ops.Lookup(s.Kind)
		known := def == nil || slices.ContainsFunc(def.Params, func(p ops.Param) bool { return p.Name == name })
		if s.arg(name) == nil && known {
			names, texts = append(names, name), append(texts, name+" = "+text)
		}
	}
	flag := func(name string) { add(name, r.scalar(mil.Bool, "false")) }
	x := s.in("x")
	if x == nil || !x.fixed {
		return nil, nil
	}
	n := len(x.shape)
	number := func(name string, f float64) {
		if x.dtype.Float() {
			add(name, r.float(x.dtype, f))
		}
	}
	window := func() {
		spatial := max(n-2, 0)
		add("strides", vector(mil.Int32, same(spatial, 1)))
		add("pad_type", r.scalar(mil.String, `"valid"`))
		add("pad", vector(mil.Int32, same(2*spatial, 0)))
	}
	switch s.Kind {
	case "conv", "conv_transpose":
		window()
		add("dilations", vector(mil.Int32, same(max(n-2, 0), 1)))
		add("groups", r.scalar(mil.Int32, "1"))
	case "max_pool", "avg_pool", "l2_pool":
		window()
		flag("ceil_mode")
		if s.Kind == "avg_pool" {
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
	if strings.HasPrefix(s.Kind, "reduce_") {
		if !strings.HasPrefix(s.Kind, "reduce_arg") {
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

func checkMissing(c *check) {
	c.each(func(_ *function, s *stmt) {
		if names, texts := c.omitted(s); len(names) > 0 {
			c.fixed(c.text.giveTo(s, texts)).warn(s.Pos, "write "+strings.Join(texts, ", "), "%s leaves out %s", s.Kind,
				strings.Join(names, ", "))
		}
	})
}

// giveTo inserts arguments into a statement of a text.
func (t *source) giveTo(s *stmt, args []string) []Edit {
	if t == nil {
		return nil
	}
	return t.give(s.Op, args...)
}

// checkNeeded reports arguments that the compiler requires: pairs of an operator and its argument.
func checkNeeded(pairs ...string) func(c *check) {
	defaults := map[string]float64{"rsqrt": 1e-12, "log": 1e-45, "inverse": 1e-4}
	return func(c *check) {
		c.each(func(_ *function, s *stmt) {
			for i := 0; i < len(pairs); i += 2 {
				name := pairs[i+1]
				if s.Kind != pairs[i] || s.arg(name) != nil {
					continue
				}
				var text string
				switch name {
				case "mode":
					text = c.scalar(mil.String, `"EXACT"`)
				case "interleave":
					text = c.scalar(mil.Bool, "false")
				default:
					d := mil.FP16
					if x := s.in("x"); x != nil && x.dtype.Float() {
						d = x.dtype
					}
					text = c.float(d, defaults[s.Kind])
				}
				text = name + " = " + text
				c.fixed(c.text.giveTo(s, []string{text})).error(s.Pos, "write "+text, "%s without %s", s.Kind, name)
			}
		})
	}
}

func checkOpen(c *check) {
	c.kinds(func(s *stmt) {
		shape, ok := s.ints("shape")
		out := s.result()
		if !ok || !slices.Contains(shape, -1) || out == nil {
			return
		}
		var edits []Edit
		a := s.arg("shape")
		if start, found := c.text.offset(a.source.Start()); found && out.fixed {
			end := 0
			switch o := a.source.(type) {
			case mil.Ref:
				end = start + len(o.Name)
			case *mil.Value:
				end = c.text.literalEnd(start)
			}
			if end > start {
				edits = []Edit{{start, end, vector(mil.Int32, out.shape)}}
			}
		}
		c.fixed(edits).warn(a.source.Start(), "", "reshape to %v leaves a length to the compiler", few(shape))
	}, "reshape")
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

// few shortens a list for a message.
func few(list []int) []int {
	if len(list) > 8 {
		return list[:8]
	}
	return list
}

func checkBias(c *check) {
	c.kinds(func(s *stmt) {
		if a := s.arg("bias"); a != nil {
			c.warn(a.pos, "", "%s with a bias", s.Kind)
		}
	}, "conv", "conv_transpose")
}
