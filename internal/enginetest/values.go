package enginetest

import (
	"math"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
)

// programs returns the programs whose values are compared.
func (e *env) programs() []*program {
	conv, err := convolution()
	e.need(err, "weights")
	return append([]*program{conv}, plain()...)
}

// plain returns the programs without weights.
func plain() []*program {
	return append([]*program{identity(1, 8, 4, 32), addition(1, 8, 4, 32), order(), splitting(),
		casting(1, 4, 2, 16), casting(1, 2, 3, 5), multiplication(4, 32, 32), multiplication(3, 20, 7)}, padded()...)
}

// padded returns programs with padded rows.
func padded() []*program {
	return []*program{identity(1, 3, 2, 1), identity(1, 2, 3, 31), identity(1, 2, 3, 33), identity(2, 3, 5, 7),
		identity(6, 10), identity(9)}
}

func values() []check {
	of := func(list func() []*program) func(*env) {
		return func(e *env) { e.compare(list()...) }
	}
	one := func(p *program) func() []*program { return func() []*program { return []*program{p} } }
	return []check{
		{"values-identity", "multiplying by one returns the input", of(one(identity(1, 8, 4, 32)))},
		{"values-add", "the sum of two inputs", of(one(addition(1, 8, 4, 32)))},
		{"values-order", "inputs and outputs bind by name, in any alphabetical order", of(one(order()))},
		{"values-split", "two outputs of one layout are not swapped", of(one(splitting()))},
		{"values-cast", "fp32 inputs and outputs around fp16",
			of(func() []*program { return []*program{casting(1, 4, 2, 16), casting(1, 2, 3, 5)} })},
		{"values-matmul", "a matrix product of two inputs",
			of(func() []*program { return []*program{multiplication(4, 32, 32), multiplication(3, 20, 7)} })},
		{"values-conv", "a convolution with weights from a file", func(e *env) {
			p, err := convolution()
			e.need(err, "weights")
			e.compare(p)
		}},
		{"values-padded", "rows that do not fill 64 bytes start at the next multiple of 64", of(padded)},
		{"instances", "an instance computes with its own weights, and its base with the original ones", instances},
		{"functions", "the functions of one text are Models of their own; to unload or close one leaves the others",
			functions},
		{"tree", "a tree computes the same as its text; a faulty tree is refused with a mil.ErrorList", tree},
		{"rounding", "every fp16 value is kept, also subnormals; a sum rounds once, to nearest even", rounding},
	}
}

// compare runs programs on cells and on Blocks and compares all elements.
func (e *env) compare(programs ...*program) {
	d := e.device()
	for _, p := range programs {
		m := e.loaded(d, p)
		for _, k := range kinds() {
			e.must(e.rig(m, p, k.room).round(e.ctx, 1), "on %s", k.name)
		}
	}
}

// rounding multiplies all halves by one, and adds pairs of them.
func rounding(e *env) {
	d := e.device()
	var halves, others [1 << 16]float64
	for i := range halves {
		halves[i] = float64(fp16.Bits(i).Float32())
		others[i] = float64(fp16.Bits(i * 40503 % (1 << 16)).Float32())
	}
	p := identity(1, 1, 256, 256)
	r := e.rig(e.loaded(d, p), p, inBlock())
	e.exact(r, [][]float64{halves[:]}, [][]float64{halves[:]})

	p = addition(1, 1, 256, 256)
	sums := zip(halves[:], others[:], func(a, b float64) float64 { return float64(fp16.FromFloat64(a + b).Float32()) })
	r = e.rig(e.loaded(d, p), p, inBlock())
	e.exact(r, [][]float64{halves[:], others[:]}, [][]float64{sums})
}

// exact runs r on in and compares with want, including signs of zeros.
func (e *env) exact(r *rig, in, want [][]float64) {
	e.need(r.fill(in), "inputs")
	_, err := r.model.Evaluate(e.ctx, r.request)
	e.need(err, "evaluate")
	e.must(r.verify(want), "rounding")
	e.must(signs(r.out[0], want[0]), "%s", r.program.name)
}

// signs compares the signs of zeros, which verify ignores.
func signs(t *ane.Tensor, want []float64) error {
	got := make([]float32, len(want))
	if _, err := t.ReadFloat32(got); err != nil {
		return err
	}
	for i, w := range want {
		if w == 0 && math.Signbit(w) != math.Signbit(float64(got[i])) {
			return &ane.Error{Op: "compare", Name: t.Layout().Name, Err: errZero}
		}
	}
	return nil
}
