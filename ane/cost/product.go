package cost

import (
	"strings"
)

// product is the arithmetic of a convolution or a matrix product.
type product struct {
	macs      float64
	cin, cout int
	kernel    []int // of the last axes; empty for a matrix product
	height    int   // of the result
	width     int
	batch     float64 // images
	weight    *tensor // constant, else nil
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
func (s *step) product() *product {
	if len(s.out) == 0 {
		return nil
	}
	y := s.out[0]
	switch s.Kind {
	case "conv", "conv_transpose":
		return s.window(y)
	case "linear":
		x, w := s.arg("x"), s.arg("weight")
		if x == nil || w == nil {
			return nil
		}
		return &product{macs: y.elements() * float64(w.at(0)), cin: w.at(0), cout: w.at(1), height: 1, batch: 1,
			width: int(y.elements()) / max(w.at(1), 1), weight: constantOf(w), plain: true}
	case "matmul":
		return s.matmul(y)
	case "einsum":
		return s.einsum(y)
	case "scaled_dot_product_attention":
		q, k := s.arg("query"), s.arg("key")
		if q == nil || k == nil {
			return nil
		}
		keys := float64(k.at(1))
		return &product{macs: (q.elements() + y.elements()) * keys, cin: q.at(0), cout: k.at(1), height: 1, batch: 1,
			width: q.at(1), plain: true, score: q.elements() / float64(max(q.at(0), 1)) * keys}
	}
	return nil
}

// constantOf returns t if it is a constant, else nil.
func constantOf(t *tensor) *tensor {
	if t != nil && t.known {
		return t
	}
	return nil
}

func (s *step) window(y *tensor) *product {
	x, w := s.arg("x"), s.arg("weight")
	if x == nil || w == nil || len(w.shape) < 3 || len(w.shape) != len(x.shape) {
		return nil
	}
	kernel := w.shape[2:]
	taps := float64(w.shape[1])
	for _, k := range kernel {
		taps *= float64(k)
	}
	p := &product{kernel: kernel, weight: constantOf(w), plain: true, width: y.at(0), height: 1, batch: 1}
	if len(y.shape) > 0 { // none in a result of unknown length
		p.batch = float64(y.shape[0])
	}
	for i := 1; i < len(y.shape)-2; i++ {
		p.height *= y.at(i)
	}
	groups := max(s.integer("groups", 1), 1)
	if s.Kind == "conv_transpose" {
		p.macs, p.cin, p.cout, p.plain = x.elements()*taps, w.shape[0], w.shape[1]*groups, false
	} else {
		p.macs, p.cin, p.cout = y.elements()*taps, w.shape[1]*groups, w.shape[0]
	}
	for _, n := range s.ints("strides") {
		p.strided = p.strided || n != 1
	}
	for _, n := range s.ints("dilations") {
		p.dilated = p.dilated || n != 1
	}
	p.plain = p.plain && !p.strided && !p.dilated && groups == 1
	p.eight = x.made != nil && x.made.Kind == "dequantize" && w.known && w.bits == 8
	return p
}

func (s *step) matmul(y *tensor) *product {
	a, b := s.arg("x"), s.arg("y")
	if a == nil || b == nil {
		return nil
	}
	inner := a.at(0)
	if s.flag("transpose_x") {
		inner = a.at(1)
	}
	p := &product{macs: y.elements() * float64(inner), cin: inner, cout: y.at(0), height: 1, width: y.at(1), batch: 1,
		weight: constantOf(b), plain: true}
	for _, d := range y.shape[:max(len(y.shape)-2, 0)] {
		p.batch *= float64(d)
	}
	if p.weight == nil {
		p.weight = constantOf(a)
	}
	return p
}

func (s *step) einsum(y *tensor) *product {
	values := s.args["values"]
	left, right, ok := strings.Cut(strings.ReplaceAll(s.word("equation"), " ", ""), "->")
	names := strings.Split(left, ",")
	if len(values) != 2 || len(names) != 2 || !ok {
		return nil
	}
	inner := 1
	for i, letter := range names[0] {
		if i < len(values[0].shape) && strings.ContainsRune(names[1], letter) && !strings.ContainsRune(right, letter) {
			inner *= values[0].shape[i]
		}
	}
	p := &product{macs: y.elements() * float64(inner), cin: inner, cout: y.at(0), height: 1, width: y.at(1), batch: 1,
		weight: constantOf(values[1]), plain: true}
	for _, d := range y.shape[:max(len(y.shape)-2, 0)] {
		p.batch *= float64(d)
	}
	return p
}
