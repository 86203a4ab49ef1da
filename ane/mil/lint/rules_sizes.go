package lint

import (
	"math/bits"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/ops"
)

// sizeRules are about shapes.
func sizeRules() []Rule {
	return []Rule{
		{ID: "rank", Severity: Error, each: true, placed: true, Title: "A tensor has more than five axes.",
			Reason: "The compiler answers Cannot reshape a tensor of rank > 5.", Fix: "merge axes",
			Source: "ironmill (M)", check: checkFit},
		{ID: "matmul-rank", Severity: Error, each: true, placed: true,
			Title:  "An operand of matmul has more than four axes.",
			Reason: "The compiler answers depth > 1 is not supported for MatMult.", Fix: "merge the batch axes",
			Source: "ironmill (M)", check: checkPlaced},
		{ID: "matmul-inner", Severity: Error, each: true, placed: true,
			Title:  "matmul sums over more than 32768 elements.",
			Reason: "The compiler refuses it.", Fix: "split the axis and add the products",
			Source: "study, compiles for h16g and h18g (C): 40000 fails", check: checkPlaced},
		{ID: "axis-length", Severity: Error, each: true, placed: true, Title: "An axis is longer than the chip takes.",
			Reason: "The compiler refuses it.", Fix: "fold the axis into two",
			Source: "study, compiles for h16g and h18g (C); guide (D)", check: checkFit},
		{ID: "attention-size", Severity: Warning, each: true, Title: "scaled_dot_product_attention is too large " +
			"to stay " +
			"one layer.",
			Reason: "Native attention takes up to 2048 positions, and fewer than 512 queries or keys.",
			Fix:    "write it as matmul, softmax and matmul", Source: "forge, on M1 and M5 (M)", check: checkAttention},
		{ID: "attention-mask", Severity: Warning, Compilers: engineCompilers,
			Title: "scaled_dot_product_attention has a mask.",
			Reason: "In memory the mask is ignored without a word; elsewhere a mask per head or one that is " +
				"broadcast over " +
				"queries gives wrong values.",
			Fix: "write matmul, add the mask, softmax, matmul", Source: "maderix, orion rule 6 (M); forge, on M1 " +
				"and M5 (M)",
			check: checkMask},
		{ID: "tile-factors", Severity: Error, Compilers: engineCompilers, Title: "tile repeats an axis by a factor other " +
			"than " +
			"2, 3, 4 or 8.",
			Reason: "The compiler refuses it.", Fix: "use concat, or tile twice", Source: "ironmill (M)",
			check: checkFactors},
		{ID: "channel-pad", Severity: Error, Compilers: engineCompilers, Title: "pad adds channels or images.",
			Reason: "The compiler answers Channel padding is not supported on ANE.", Fix: "use concat with a constant",
			Source: "ironmill (M); Core ML takes it (study, C)", check: checkPad},
		{ID: "softmax-size", Severity: Note, Compilers: []chip.Compiler{chip.InMemory},
			Title:  "softmax runs over a number of elements that is no power of 2.",
			Reason: "One project met ANECCompile() FAILED; others run 32000.", Fix: "pad the axis with -10000",
			Source: "Espresso (M); maderix runs 32000 (M)", check: checkSoftmax},
		{ID: "einsum-equation", Severity: Warning, Title: "einsum has an equation other than nchw,nwhu->nchu.",
			Reason: "No other equation is known to run.", Fix: "write it with transpose and matmul",
			Source: "forge (M)",
			check:  checkEinsum},
		{ID: "odd-tiles", Severity: Note, each: true, Title: "A tensor is cut into an odd number of tiles.",
			Reason: "The second engine of an M6 gets the smaller part: 11 to 16 % slower (B8).",
			Fix:    "choose a size with an even number of tiles of 2 MiB", Source: "study 15.4 (M)", check: checkTiles},
		{ID: "many-operands", Severity: Note, each: true, Title: "One operation reads more than two tensors.",
			Reason: "A task of an M6 reads two tensors in memory; each further one costs a task.", Fix: "merge inputs",
			Source: "study 9.4 (C)", check: checkOperands},
	}
}

// all visits every value of fixed shape: inputs and results.
func (r *run) all(visit func(v *value)) {
	for _, f := range r.funcs {
		for _, v := range f.inputs {
			if v.fixed {
				visit(v)
			}
		}
		for _, s := range f.stmts {
			for _, v := range s.out {
				if v.fixed {
					visit(v)
				}
			}
		}
	}
}

// inner returns the length of the axis that a product sums over, and how many numbers of it; 0 if it is not known.
func inner(s *stmt) int {
	switch s.Kind {
	case "matmul":
		x := s.in("x")
		if x == nil || len(x.shape) == 0 {
			return 0
		}
		n := len(x.shape)
		if n > 1 && s.flag("transpose_x") {
			return x.shape[n-2]
		}
		return x.shape[n-1]
	case "linear":
		if w := s.in("weight"); w != nil && len(w.shape) == 2 {
			return w.shape[1]
		}
	case "conv":
		if w := s.in("weight"); w != nil && w.fixed && len(w.shape) > 2 && w.shape[0] > 0 {
			return w.elements() / w.shape[0]
		}
	}
	return 0
}

// checkFit reports the rules that are about tensors.
func checkFit(c *check) {
	c.all(func(v *value) {
		for _, r := range ops.Fit(v.operand(), c.spec) {
			if r.Rule == c.rule.ID {
				c.error(v.at, r.Instead, "%s", r.Why)
			}
		}
	})
}

func checkAttention(c *check) {
	c.kinds(func(s *stmt) {
		q, k := s.in("query"), s.in("key")
		if q == nil || k == nil || len(q.shape) < 2 || len(k.shape) < 2 {
			return
		}
		a, b := q.shape[len(q.shape)-2], k.shape[len(k.shape)-2]
		if max(a, b) > c.spec.Attention.Value || min(a, b) >= c.spec.AttentionLeg.Value {
			c.warn(s.Pos, "", "%d queries and %d keys: native attention takes up to %d, the fewer of them below %d",
				a, b,
				c.spec.Attention.Value, c.spec.AttentionLeg.Value)
		}
	}, "scaled_dot_product_attention")
}

func checkMask(c *check) {
	c.kinds(func(s *stmt) {
		a := s.arg("attn_mask")
		if a == nil {
			return
		}
		if c.compiler == chip.InMemory {
			c.warn(a.pos, "", "this compiler ignores the mask")
			return
		}
		q, m := s.in("query"), s.in("attn_mask")
		if q == nil || m == nil || len(m.shape) < 2 || len(q.shape) < 2 {
			return
		}
		heads := len(m.shape) > 2 && m.shape[len(m.shape)-3] > 1
		if heads || m.shape[len(m.shape)-2] == 1 && q.shape[len(q.shape)-2] > 1 {
			c.warn(a.pos, "", "a mask of shape %v gives wrong values", few(m.shape))
		}
	}, "scaled_dot_product_attention")
}

func checkFactors(c *check) {
	c.kinds(func(s *stmt) {
		reps, ok := s.ints("reps")
		if ok && slices.ContainsFunc(reps, func(n int) bool { return !slices.Contains([]int{1, 2, 3, 4, 8}, n) }) {
			c.error(s.Pos, "", "tile by %v: factors are 2, 3, 4 and 8", few(reps))
		}
	}, "tile")
}

func checkPad(c *check) {
	c.kinds(func(s *stmt) {
		p, ok := s.ints("pad")
		if ok && len(p) > 4 && slices.ContainsFunc(p[:len(p)-4], func(n int) bool { return n != 0 }) {
			c.error(s.Pos, "", "pad by %v reaches beyond height and width", few(p))
		}
	}, "pad")
}

func checkSoftmax(c *check) {
	c.kinds(func(s *stmt) {
		x := s.in("x")
		if x == nil || len(x.shape) == 0 {
			return
		}
		axis := s.integer("axis", -1)
		if axis < 0 {
			axis += len(x.shape)
		}
		if axis >= 0 && axis < len(x.shape) && bits.OnesCount(uint(x.shape[axis])) != 1 {
			c.note(s.Pos, "", "softmax over %d elements", x.shape[axis])
		}
	}, "softmax")
}

func checkEinsum(c *check) {
	c.kinds(func(s *stmt) {
		if e := s.word("equation"); e != "" && e != "nchw,nwhu->nchu" {
			c.warn(s.Pos, "", "einsum %s", cut(e))
		}
	}, "einsum")
}

func checkTiles(c *check) {
	if c.spec.Engines.Value < 2 {
		return
	}
	tile := int(c.spec.OperandBytes.Value)
	c.each(func(f *function, s *stmt) {
		for _, v := range s.out {
			if n := v.bytes()/tile + 1; v.dtype.Float() && !v.folded && n > 2 && n%2 == 1 {
				c.note(v.at, "", "%s: %d bytes make %d tiles", cut(v.name), v.bytes(), n)
			}
		}
	})
}

func checkOperands(c *check) {
	limit := c.spec.TaskReads
	if !limit.Known() {
		return
	}
	c.each(func(_ *function, s *stmt) {
		var read []*value
		for _, v := range s.tensors() {
			if !v.folded && !slices.Contains(read, v) && len(read) < 100 {
				read = append(read, v)
			}
		}
		if len(read) > limit.Value {
			c.note(s.Pos, "", "%s reads %d tensors", s.Kind, len(read))
		}
	})
}
