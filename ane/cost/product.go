package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/ops"
)

// product is the arithmetic of a convolution or a matrix product.
type product struct {
	macs      float64
	cin, cout int
	kernel    []int // of the last axes; empty for a matrix product
	height    int   // of the result
	width     int
	batch     float64 // images
	weight    *weight // constant, else nil
	plain     bool    // neither strided, dilated, grouped nor transposed
	dilated   bool
	strided   bool
	eight     bool // 8-bit activations and weights
	score     float64
}

// pixels is the number of positions of the result.
func (p *product) pixels() float64 { return p.batch * float64(p.height) * float64(p.width) }

// kh and kw return the height and the width of the kernel.
func (p *product) kw() int {
	if n := len(p.kernel); n > 0 {
		return p.kernel[n-1]
	}
	return 1
}

func (p *product) kh() int {
	n := 1
	for _, k := range p.kernel[:max(len(p.kernel)-1, 0)] {
		n *= k
	}
	return n
}

// product returns the arithmetic of a step; nil for an operator that has none.
func (r *program) product(s *step) *product {
	if len(s.Out) == 0 {
		return nil
	}
	y := s.Out[0]
	switch s.Op.Kind {
	case "conv", "conv_transpose":
		return r.window(s, y)
	case "linear":
		x, w := s.Value("x"), s.Value("weight")
		if x == nil || w == nil {
			return nil
		}
		return &product{macs: elements(y) * float64(at(w, 0)), cin: at(w, 0), cout: at(w, 1), height: 1, batch: 1,
			width: int(elements(y)) / max(at(w, 1), 1), weight: r.weight(w), plain: true}
	case "matmul":
		return r.matmul(s, y)
	case "einsum":
		return r.einsum(s, y)
	case "scaled_dot_product_attention":
		q, k := s.Value("query"), s.Value("key")
		if q == nil || k == nil {
			return nil
		}
		keys := float64(at(k, 1))
		return &product{macs: (elements(q) + elements(y)) * keys, cin: at(q, 0), cout: at(k, 1), height: 1, batch: 1,
			width: at(q, 1), plain: true, score: elements(q) / float64(max(at(q, 0), 1)) * keys}
	}
	return nil
}

func (r *program) window(s *step, y *ops.Value) *product {
	x, w := s.Value("x"), s.Value("weight")
	if x == nil || w == nil || len(w.Shape) < 3 || len(w.Shape) != len(x.Shape) {
		return nil
	}
	kernel := w.Shape[2:]
	taps := float64(w.Shape[1])
	for _, k := range kernel {
		taps *= float64(k)
	}
	p := &product{kernel: kernel, weight: r.weight(w), plain: true, width: at(y, 0), height: 1, batch: 1}
	if len(y.Shape) > 0 { // none in a result of unknown length
		p.batch = float64(y.Shape[0])
	}
	for i := 1; i < len(y.Shape)-2; i++ {
		p.height *= at(y, i)
	}
	groups := max(s.Int("groups", 1), 1)
	if s.Op.Kind == "conv_transpose" {
		p.macs, p.cin, p.cout, p.plain = elements(x)*taps, w.Shape[0], w.Shape[1]*groups, false
	} else {
		p.macs, p.cin, p.cout = elements(y)*taps, w.Shape[1]*groups, w.Shape[0]
	}
	strides, _ := s.Ints("strides")
	dilations, _ := s.Ints("dilations")
	far := func(n int) bool { return n != 1 }
	p.strided, p.dilated = slices.ContainsFunc(strides, far), slices.ContainsFunc(dilations, far)
	p.plain = p.plain && !p.strided && !p.dilated && groups == 1
	p.eight = x.Made != nil && x.Made.Op.Kind == "dequantize" && p.weight != nil && p.weight.bits == 8
	return p
}

// matrix is a product whose result y sums over inner elements.
func matrix(y *ops.Value, inner int, w *weight) *product {
	p := &product{macs: elements(y) * float64(inner), cin: inner, cout: at(y, 0), height: 1, width: at(y, 1), batch: 1,
		weight: w, plain: true}
	for _, d := range y.Shape[:max(y.Rank()-2, 0)] {
		p.batch *= float64(d)
	}
	return p
}

func (r *program) matmul(s *step, y *ops.Value) *product {
	a, b := s.Value("x"), s.Value("y")
	if a == nil || b == nil {
		return nil
	}
	inner := at(a, 0)
	if s.Flag("transpose_x") {
		inner = at(a, 1)
	}
	return matrix(y, inner, cmp.Or(r.weight(b), r.weight(a)))
}

func (r *program) einsum(s *step, y *ops.Value) *product {
	values := s.List("values")
	left, right, ok := strings.Cut(strings.ReplaceAll(s.Word("equation"), " ", ""), "->")
	names := strings.Split(left, ",")
	if len(values) != 2 || len(names) != 2 || !ok {
		return nil
	}
	inner := 1
	for i, letter := range names[0] {
		if i < values[0].Rank() && strings.ContainsRune(names[1], letter) && !strings.ContainsRune(right, letter) {
			inner *= values[0].Shape[i]
		}
	}
	return matrix(y, inner, r.weight(values[1]))
}
