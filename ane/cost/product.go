package cost

import (
	"cmp"
	"slices"

	"github.com/anekit/anekit/internal/ops"
)

// product is the arithmetic of a convolution or a matrix product.
type product struct {
	macs      float64
	cin, cout int
	conv      bool
	kh, kw    int // the height and the width of the kernel, 1 for a matrix product
	height    int // of the result
	width     int
	batch     float64 // images
	weight    *weight // constant, else nil
	plain     bool    // neither strided, dilated, grouped nor transposed
	dilated   bool
	eight     bool // 8-bit activations and weights
	score     float64
}

// pixels is the number of positions of the result.
func (p *product) pixels() float64 { return p.batch * float64(p.height) * float64(p.width) }

// density is the share of the weight's elements that are stored; the products of the rest are skipped.
func (p *product) density() float64 {
	if p.weight == nil {
		return 1
	}
	return p.weight.density
}

// is reports whether the kernel has a height and a width.
func (p *product) is(h, w int) bool { return p.kh == h && p.kw == w }

// product returns the arithmetic of a statement; nil for an operator that has none.
func (r *program) product(n *ops.Node) *product {
	if len(n.Out) == 0 {
		return nil
	}
	y, a, b := n.Out[0], n.Value("x"), n.Value("weight")
	if e, ok := n.Attrs.(ops.Einsum); ok {
		inner := 1
		for _, axis := range e.K {
			inner *= axis.Length
		}
		return matrix(y, inner, r.weight(n.List("values")[1]))
	}
	switch n.Op.Kind {
	case "matmul":
		b = n.Value("y")
	case "scaled_dot_product_attention":
		a, b = n.Value("query"), n.Value("key")
	}
	if a == nil || b == nil {
		return nil
	}
	switch n.Op.Kind {
	case "conv", "conv_transpose":
		return r.window(n, a, b, y)
	case "linear":
		p := matrix(y, n.Inner(), r.weight(b))
		p.width, p.batch = int(p.pixels()), 1
		return p
	case "matmul":
		return matrix(y, n.Inner(), cmp.Or(r.weight(b), r.weight(a)))
	case "scaled_dot_product_attention":
		keys := float64(at(b, 1))
		return &product{macs: (elements(a) + elements(y)) * keys, cin: at(a, 0), cout: at(b, 1), kh: 1, kw: 1, height: 1,
			batch: 1, width: at(a, 1), plain: true, score: elements(a) / float64(max(at(a, 0), 1)) * keys}
	}
	return nil
}

func (r *program) window(n *ops.Node, x, w, y *ops.Value) *product {
	if w.Rank() < 3 || w.Rank() != x.Rank() || w.Rank() != y.Rank() {
		return nil
	}
	last := w.Rank() - 1
	p := &product{conv: true, kh: int(volume(w.Shape[2:last])), kw: w.Shape[last], weight: r.weight(w),
		height: int(volume(y.Shape[2:last])), width: y.Shape[last], batch: float64(y.Shape[0])}
	taps, groups := volume(w.Shape[1:]), max(n.Int("groups", 1), 1)
	if n.Op.Kind == "conv_transpose" {
		p.macs, p.cin, p.cout = elements(x)*taps, w.Shape[0], w.Shape[1]*groups
	} else {
		p.macs, p.cin, p.cout = elements(y)*taps, w.Shape[1]*groups, w.Shape[0]
	}
	strides, _ := n.Ints("strides")
	dilations, _ := n.Ints("dilations")
	far := func(n int) bool { return n != 1 }
	p.dilated = slices.ContainsFunc(dilations, far)
	p.plain = n.Op.Kind == "conv" && !slices.ContainsFunc(strides, far) && !p.dilated && groups == 1
	p.eight = x.Made != nil && x.Made.Op.Kind == "dequantize" && p.weight != nil && p.weight.bits == 8
	return p
}

// matrix is a product whose result y sums over inner elements.
func matrix(y *ops.Value, inner int, w *weight) *product {
	return &product{macs: elements(y) * float64(inner), cin: inner, cout: at(y, 0), kh: 1, kw: 1, height: 1,
		width: at(y, 1), batch: volume(y.Shape[:max(y.Rank()-2, 0)]), weight: w, plain: true}
}
