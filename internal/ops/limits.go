package ops

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// Limits of single operators. Their figures and sources are those of package chip.

// Kernel is the height and the width of a convolution's kernel; false for another operator, and if its weight has not 3
// or 4 axes.
func (n *Node) Kernel() (h, w int, ok bool) {
	switch weight := n.Value("weight"); {
	case n.Op.Kind != "conv" && n.Op.Kind != "conv_transpose":
		return 0, 0, false
	case weight == nil || weight.Rank() < 3 || weight.Rank() > 4:
		return 0, 0, false
	case weight.Rank() == 3:
		return 1, weight.Shape[2], true
	default:
		return weight.Shape[2], weight.Shape[3], true
	}
}

func convolutionLimits(p *placing) {
	x, weight, s := p.Value("x"), p.Value("weight"), p.spec
	if h, w, ok := p.Kernel(); ok {
		switch {
		case h == w && over(h, s.KernelSquare):
			n := s.KernelSquare.Value
			p.refuse("kernel-square", s.KernelSquare, "kernel %dx%d, at most %dx%d", h, w, n, n)
		case h == w:
		case over(w, s.KernelWidth):
			p.refuse("kernel-width", s.KernelWidth, "kernel %dx%d: width %d, at most %d", h, w, w, s.KernelWidth.Value)
		}
		if h != w && over(h, s.KernelHeight) {
			p.refuse("kernel-height", s.KernelHeight, "kernel %dx%d: height %d, at most %d", h, w, h,
				s.KernelHeight.Value)
		}
		if x != nil && x.Rank() > 1 && over(x.Shape[1], s.ConvChannels) {
			p.refuse("conv-channels", s.ConvChannels, "%d input channels, at most %d", x.Shape[1], s.ConvChannels.Value)
		}
	}
	p.spatial()
	if weight == nil || weight.Folded {
		return
	}
	if x != nil && x.Rank() > 2 && over(x.Shape[0], s.DynamicBatch) {
		p.refuse("dynamic-conv-batch", s.DynamicBatch, "batch %d with a weight that is computed", x.Shape[0])
	}
	d, ok := p.Ints("dilations")
	if ok && p.via != chip.CoreML && slices.ContainsFunc(d, func(n int) bool { return n > 1 }) {
		p.add(Reason{Rule: "dynamic-conv-dilation", Sure: true, Source: cite("forge, on M5", chip.Measured),
			Why: "dilations " + few(d) + " with a weight that is computed"})
	}
}

// spatial refuses three spatial axes.
func (p *placing) spatial() {
	if x := p.Value("x"); x != nil && x.Rank() == 5 && p.via != chip.CoreML {
		p.refuse("conv-3d", chip.Fact[int]{Degree: chip.Measured, Source: "ironmill"}, "%s of shape %v", p.Op.Kind,
			x.Shape)
	}
}

func poolLimits(p *placing) {
	p.spatial()
	k, ok := p.Ints("kernel_sizes")
	if !ok || len(k) == 0 || len(k) > 2 {
		return
	}
	switch w, s := k[len(k)-1], p.spec; {
	case p.Op.Kind == "max_pool" && over(w, s.PoolWidth):
		p.refuse("pool-width", s.PoolWidth, "max_pool %v: width %d, at most %d", k, w, s.PoolWidth.Value)
	case p.Op.Kind == "avg_pool" && over(w, s.AvgPoolWidth):
		p.doubt("pool-width", s.AvgPoolWidth, "avg_pool %v: width %d, up to %d were tried", k, w, s.AvgPoolWidth.Value)
	}
}

// doubt adds a reason that is not known to hold.
func (p *placing) doubt(rule string, f chip.Fact[int], format string, args ...any) {
	p.add(Reason{Rule: rule, Why: fmt.Sprintf(format, args...), Source: cite(f.Source, f.Degree)})
}

func matmulLimits(p *placing) {
	for _, name := range []string{"x", "y"} {
		if v := p.Value(name); v != nil && over(v.Rank(), p.spec.MatmulRank) {
			p.refuse("matmul-rank", p.spec.MatmulRank, "matmul: %s has rank %d, at most %d", name, v.Rank(),
				p.spec.MatmulRank.Value)
		}
	}
	productLimits(p)
}

// Inner returns the number of products that each element of the result of matmul, linear and conv sums; 0 if it is
// not known, or another operator.
func (n *Node) Inner() int {
	x, w := n.Value("x"), n.Value("weight")
	switch {
	case n.Op.Kind == "matmul" && x != nil && x.Rank() > 0:
		if n.Flag("transpose_x") && x.Rank() > 1 {
			return x.Shape[x.Rank()-2]
		}
		return x.Shape[x.Rank()-1]
	case n.Op.Kind == "linear" && w != nil && w.Rank() == 2:
		return w.Shape[1]
	case n.Op.Kind == "conv" && w != nil && w.Rank() > 2 && w.Shape[0] > 0:
		return w.Elements() / w.Shape[0]
	}
	return 0
}

func productLimits(p *placing) {
	if k := p.Inner(); over(k, p.spec.MatmulInner) {
		p.refuse("matmul-inner", p.spec.MatmulInner, "%s sums over %d, at most %d", p.Op.Kind, k,
			p.spec.MatmulInner.Value)
	}
}

func responseLimits(p *placing) {
	x := p.Value("x")
	if x == nil || x.Rank() < 2 {
		return
	}
	channels := 1 // of [N, C, H, W] with leading ones; a depth counts as channels
	switch x.Rank() {
	case 3:
		channels = x.Shape[0]
	case 4:
		channels = x.Shape[1]
	case 5:
		channels = x.Shape[1] * x.Shape[2]
	}
	if over(channels, p.spec.LRNChannels) {
		p.refuse("lrn-channels", p.spec.LRNChannels, "%s of %d channels, at most %d", p.Op.Kind, channels,
			p.spec.LRNChannels.Value)
	}
}

func castLimits(p *placing) {
	for _, v := range append(p.Operands(), p.Out...) {
		switch d := v.DType; {
		case d == mil.Int32, d == mil.UInt32, d.Bits() == 64, d == mil.Int4, d == mil.UInt4:
			p.add(Reason{Rule: "cast-type", Sure: true, Why: "cast with " + d.String()})
			return
		}
	}
}

func trigonometryLimits(p *placing) {
	if f := p.spec.Trigonometry; f.Known() && !f.Value {
		p.add(Reason{Rule: "trigonometry", Sure: true, Why: p.Op.Kind, Source: cite(f.Source, f.Degree)})
	}
}

func topKLimits(p *placing) {
	r := Reason{Rule: "topk", Source: cite(p.spec.TopK.Source, p.spec.TopK.Degree)}
	switch ok := p.spec.TopK; {
	case ok.Value, p.via == chip.CoreML && p.spec.Chip != chip.M4:
		return
	case p.via == chip.CoreML:
		r.Remark, r.Why = true, "topk costs 6 to 10 ms on M4"
	case ok.Known():
		r.Sure, r.Why = true, "topk is refused"
	default:
		r.Why = "topk is not known to compile"
	}
	p.add(r)
}

// gatherLimits refuses indices that are computed.
func gatherLimits(p *placing) {
	if v := p.Value("indices"); v != nil && v.Folded {
		return
	}
	p.memory, p.e5 = refused, refused
	if p.via == chip.CoreML {
		p.onCPU("", "gather with computed indices runs on the CPU, with all that computes them")
	}
}

func sliceLimits(p *placing) {
	if v := p.Value("begin"); v != nil && !v.Folded && p.via == chip.CoreML {
		p.onCPU("", "%s with a computed begin runs on the CPU", p.Op.Kind)
	}
}

func stateLimits(p *placing) {
	if p.via != chip.CoreML {
		p.add(Reason{Rule: "state", Sure: p.via == chip.E5, Why: p.Op.Kind + " of a state",
			Source: cite("forge, on M5", chip.Measured)})
	}
}
