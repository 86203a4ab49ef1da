package lint

import (
	"math/bits"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/ops"
)

func checkAttention(c *check, s *ops.Node) {
	q, k := s.Value("query"), s.Value("key")
	if q == nil || k == nil || len(q.Shape) < 2 || len(k.Shape) < 2 {
		return
	}
	a, b := q.Shape[len(q.Shape)-2], k.Shape[len(k.Shape)-2]
	if max(a, b) > c.spec.Attention.Value || min(a, b) >= c.spec.AttentionLeg.Value {
		c.warn(s.Op.Pos, "", "%d queries and %d keys: native attention takes up to %d, the fewer of them below %d",
			a, b, c.spec.Attention.Value, c.spec.AttentionLeg.Value)
	}
}

func checkMask(c *check, s *ops.Node) {
	a := s.Op.Arg("attn_mask")
	if a == nil {
		return
	}
	if c.compiler == chip.InMemory {
		c.warn(a.Pos, "", "this compiler ignores the mask")
		return
	}
	q, m := s.Value("query"), s.Value("attn_mask")
	if q == nil || m == nil || len(m.Shape) < 2 || len(q.Shape) < 2 {
		return
	}
	heads := len(m.Shape) > 2 && m.Shape[len(m.Shape)-3] > 1
	if heads || m.Shape[len(m.Shape)-2] == 1 && q.Shape[len(q.Shape)-2] > 1 {
		c.warn(a.Pos, "", "a mask of shape %v gives wrong values", few(m.Shape))
	}
}

func checkSoftmax(c *check, s *ops.Node) {
	x := s.Value("x")
	if x == nil || len(x.Shape) == 0 {
		return
	}
	axis := s.Int("axis", -1)
	if axis < 0 {
		axis += len(x.Shape)
	}
	if axis >= 0 && axis < len(x.Shape) && bits.OnesCount(uint(x.Shape[axis])) != 1 {
		c.note(s.Op.Pos, "", "softmax over %d elements", x.Shape[axis])
	}
}

func checkEinsum(c *check, s *ops.Node) {
	if e := s.Word("equation"); e != "" && e != "nchw,nwhu->nchu" {
		c.warn(s.Op.Pos, "", "einsum %s", near.Cut(e))
	}
}

func checkTiles(c *check, s *ops.Node) {
	tile := int(c.spec.OperandBytes.Value)
	for _, v := range s.Out {
		if n := v.Bytes()/max(tile, 1) + 1; v.DType.Float() && !v.Folded && !v.Open && n > 2 && n%2 == 1 &&
			c.spec.Engines.Value > 1 {
			c.note(v.Pos, "", "%s: %d bytes make %d tiles", near.Cut(v.Name), v.Bytes(), n)
		}
	}
}

func checkOperands(c *check, s *ops.Node) {
	var read []*ops.Value
	for _, v := range s.Operands() {
		if !v.Folded && !slices.Contains(read, v) && len(read) < 100 {
			read = append(read, v)
		}
	}
	if limit := c.spec.TaskReads; limit.Known() && len(read) > limit.Value {
		c.note(s.Op.Pos, "", "%s reads %d tensors", s.Op.Kind, len(read))
	}
}

// saving estimates how many microseconds the engine of an M4 saves over the CPU for a statement, by the fit of the
// study. Movement takes 100 GB/s on the engine and 1.2 times as long on the CPU. Products take 10 TFLOPS against 0.5.
func saving(s *ops.Node) float64 {
	out := result(s)
	if out == nil || s.Folded() {
		return 0
	}
	if k := s.Inner(); k > 0 {
		flops := 2 * float64(k) * float64(out.Elements())
		return flops/0.5e6 - flops/10e6
	}
	bytes := float64(out.Bytes())
	for _, v := range s.Operands() {
		bytes += float64(v.Bytes())
	}
	return 0.2 * bytes / 100e3
}

func checkCPUSmall(c *check, f *ops.Graph) {
	sum, any := 0.0, false
	for _, s := range f.Statements {
		if s.Op.Kind != "const" {
			sum, any = sum+saving(s), true
		}
	}
	if any && sum < 250 {
		c.note(f.Function.Pos, "", "function %s saves some %.0f us on the engine, 250 are needed",
			near.Cut(f.Function.Name), sum)
	}
}
