package ops

import (
	"cmp"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// Limits of single operators. Their figures and sources are those of package chip.

// Kernel is the height and the width of a convolution's kernel; false for another operator, and if its weight has not 3
// or 4 axes.
func (n *Node) Kernel() (h, w int, ok bool) {
	weight := n.Value("weight")
	switch {
	case weight == nil || n.Op.Kind != "conv" && n.Op.Kind != "conv_transpose":
	case weight.Rank() == 3:
		return 1, weight.Shape[2], true
	case weight.Rank() == 4:
		return weight.Shape[2], weight.Shape[3], true
	}
	return 0, 0, false
}

func convolutionLimits(p *placing) {
	x, weight, s := p.Value("x"), p.Value("weight"), p.spec
	if h, w, ok := p.Kernel(); ok {
		switch {
		case h == w && over(h, s.KernelSquare):
			n := s.KernelSquare.Value
			p.refuse("kernel-square", cited(s.KernelSquare), "kernel %dx%d, at most %dx%d", h, w, n, n)
		case h != w:
			p.most(w, s.KernelWidth, "kernel-width", "kernel %dx%d: width %d", h, w, w)
			p.most(h, s.KernelHeight, "kernel-height", "kernel %dx%d: height %d", h, w, h)
		}
		if x != nil && x.Rank() > 1 {
			p.most(x.Shape[1], s.ConvChannels, "conv-channels", "%d input channels", x.Shape[1])
		}
	}
	p.spatial()
	if weight == nil || weight.Folded {
		return
	}
	if x != nil && x.Rank() > 2 && over(x.Shape[0], s.DynamicBatch) {
		p.refuse("dynamic-conv-batch", cited(s.DynamicBatch), "batch %d with a weight that is computed", x.Shape[0])
	}
	d, ok := p.Ints("dilations")
	if ok && p.via != chip.CoreML && slices.ContainsFunc(d, func(n int) bool { return n > 1 }) {
		p.refuse("dynamic-conv-dilation", forge, "dilations %s with a weight that is computed", few(d))
	}
}

// spatial refuses three spatial axes.
func (p *placing) spatial() {
	if x := p.Value("x"); x != nil && x.Rank() == 5 && p.via != chip.CoreML {
		p.refuse("conv-3d", ironmill, "%s of shape %v", p.Op.Kind, x.Shape)
	}
}

func poolLimits(p *placing) {
	p.spatial()
	k, ok := p.Ints("kernel_sizes")
	if !ok || len(k) == 0 || len(k) > 2 {
		return
	}
	switch w, s := k[len(k)-1], p.spec; {
	case p.Op.Kind == "max_pool":
		p.most(w, s.PoolWidth, "pool-width", "max_pool %v: width %d", k, w)
	case p.Op.Kind == "avg_pool" && over(w, s.AvgPoolWidth):
		p.doubt("pool-width", cited(s.AvgPoolWidth), "avg_pool %v: width %d, up to %d were tried", k, w,
			s.AvgPoolWidth.Value)
	}
}

func matmulLimits(p *placing) {
	for _, name := range []string{"x", "y"} {
		if v := p.Value(name); v != nil {
			p.most(v.Rank(), p.spec.MatmulRank, "matmul-rank", "matmul: %s has rank %d", name, v.Rank())
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
	p.most(p.Inner(), p.spec.MatmulInner, "matmul-inner", "%s sums over %d", p.Op.Kind, p.Inner())
}

func responseLimits(p *placing) {
	if x := p.Value("x"); x != nil && x.Rank() > 2 {
		channels := Volume(x.Shape[min(x.Rank()-3, 1) : x.Rank()-2]) // a depth counts as channels
		p.most(channels, p.spec.LRNChannels, "lrn-channels", "%s of %d channels", p.Op.Kind, channels)
	}
}

func castLimits(p *placing) {
	for _, v := range append(p.Operands(), p.Out...) {
		if d := v.DType; d == mil.Int32 || d == mil.UInt32 || d.Bits() == 64 || narrow(d) {
			p.refuse("cast-type", ironmill+"; "+forge, "cast with %v", d)
			return
		}
	}
}

func trigonometryLimits(p *placing) {
	if f := p.spec.Trigonometry; f.Known() && !f.Value {
		p.refuse("trigonometry", cited(f), "%s", p.Op.Kind)
	}
}

func topKLimits(p *placing) {
	r := Reason{Rule: "topk", Source: cited(p.spec.TopK)}
	switch ok := p.spec.TopK; {
	case ok.Value, p.via == chip.CoreML && p.spec.Chip != chip.M4:
		return
	case p.via == chip.CoreML:
		r.Remark, r.Why = true, "topk costs 6 to 10 ms on M4"
	case ok.Known():
		r.Sure, r.Why = true, "topk is refused"
	default:
		r.Why = "topk was not tried on this chip"
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
		p.makers(p.Value("indices"))
	}
}

// makers places all that computes a value on the CPU.
func (p *placing) makers(v *Value) {
	if v == nil || v.Made == nil || v.Folded || p.made[v.Made] {
		return
	}
	if p.made == nil {
		p.made = map[*Node]bool{}
	}
	if p.Where == nil {
		p.Where = map[*Node]Where{}
	}
	p.made[v.Made] = true
	p.Where[v.Made] = max(p.Where[v.Made], OnCPU)
	for _, from := range v.Made.Operands() {
		p.makers(from)
	}
}

// updateLimits has the places that are computed: with constant ones published stateful models run on the engine.
func updateLimits(p *placing) {
	begin, end := p.Value("begin"), p.Value("end")
	known := func(v *Value) bool { return v == nil || v.Folded }
	if p.via == chip.CoreML && !(known(begin) && known(end)) {
		p.refuse("moving-update", "", "slice_update at a computed place: the engine's compiler crashes; where Core ML "+
			"does not ask it, it runs on the CPU")
	}
}

func sliceLimits(p *placing) {
	if v := p.Value("begin"); v != nil && !v.Folded && p.via == chip.CoreML {
		p.onCPU("", "%s with a computed begin runs on the CPU", p.Op.Kind)
	}
}

// stateLimits refuses what is no parameter; those are placed as values.
func stateLimits(p *placing) {
	if v := cmp.Or(p.Value("input"), p.Value("state")); v == nil || !v.State {
		p.state(p.Op.Kind + " of a state that is no parameter")
	}
}

func (p *placing) state(why string) {
	if p.via != chip.CoreML {
		p.add(Reason{Rule: "state", Sure: p.via == chip.E5, Why: why, Source: forge})
	}
}

// reluLimits has the relu at the end of a chain of 1x1 convolutions, which Core ML does not leave on the engine.
func reluLimits(p *placing) {
	last := slices.ContainsFunc(p.Out, func(y *Value) bool { return y.Returned })
	if !last || p.spec.Chip != chip.M6 || p.via != chip.CoreML {
		return
	}
	n := 0
	for x := p.Value("x"); x != nil && x.Made != nil; x = x.Made.Value("x") {
		h, w, _ := x.Made.Kernel()
		if h == 1 && w == 1 && x.Rank() == 4 && x.Shape[1] == 512 && x.DType == mil.FP16 {
			n++
		} else if x.Made.Op.Kind != "relu" {
			break
		}
	}
	if n == 32 || n == 34 {
		p.refuse("last-relu", "study 15.4: measured on an M6", "a chain of %d convolutions of 512 channels ends with relu", n)
	}
}

// zeroLimits refuses the product of a reduction with 0.
func zeroLimits(p *placing) {
	for _, pair := range [][2]string{{"x", "y"}, {"y", "x"}} {
		v, factor := p.Value(pair[0]), p.Value(pair[1])
		switch {
		case v == nil || v.Made == nil || v.Made.Def == nil || v.Made.Def.Family != Reductions || factor == nil ||
			!slices.Equal(factor.Floats(), []float64{0}):
			continue
		case p.spec.Chip == chip.M5:
			p.refuse("reduce-times-zero", forge, "a reduction is multiplied by 0")
		default:
			p.doubt("reduce-times-zero", forge, "a reduction is multiplied by 0: ANECCompile() FAILED on M5")
		}
		return
	}
}

func tileLimits(p *placing) {
	reps, ok := p.Ints("reps")
	refused := func(n int) bool { return !slices.Contains([]int{1, 2, 3, 4, 8}, n) }
	if ok && p.via != chip.CoreML && slices.ContainsFunc(reps, refused) {
		p.refuse("tile-factors", ironmill, "tile by %s: factors are 2, 3, 4 and 8", few(reps))
	}
}

func padLimits(p *placing) {
	list, ok := p.Ints("pad")
	pads := func(n int) bool { return n != 0 }
	if ok && p.via != chip.CoreML && len(list) > 4 && slices.ContainsFunc(list[:len(list)-4], pads) {
		p.refuse("channel-pad", ironmill, "pad by %s reaches beyond height and width", few(list))
	}
}

func narrow(d mil.DType) bool { return d == mil.Int4 || d == mil.UInt4 }

// blockLimits refuses scales that change along an axis within the data, but for one for each output channel.
func blockLimits(p *placing) {
	data, scale := p.Value("data"), p.Value("scale")
	if data == nil || scale == nil || data.Rank() != scale.Rank() {
		return
	}
	var axes []int
	for i, n := range scale.Shape {
		if n > 1 && (i > 0 || n != data.Shape[0]) {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		return
	}
	p.refuse("block-quantization", ironmill, "the scale changes along axes %v", axes)
	if f := p.spec.BlockInt4; f.Known() && !f.Value && narrow(data.DType) {
		p.whole = p.via == chip.CoreML
		p.refuse("int4-blocks", cited(f), "%v weights with a scale that changes along axes %v", data.DType, axes)
	}
}

func paletteLimits(p *placing) {
	if lut := p.Value("lut"); p.spec.Chip == chip.M6 && lut != nil && lut.Rank() > 2 && lut.Shape[lut.Rank()-1] > 1 {
		p.whole = p.via == chip.CoreML
		p.refuse("vector-palette", "study 7.5: measured on an M6", "a palette of vectors of %d", lut.Shape[lut.Rank()-1])
	}
}
