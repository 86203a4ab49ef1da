package enginetest

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/step"
)

// program is a program with an independent reference.
type program struct {
	*build.Program
	name    string
	in, out []ane.Layout // as the program declares them
	write   func(*build.Func)
	// reference computes the outputs, row-major, from the inputs.
	reference func(in [][]float64) [][]float64
}

// made builds the program whose function write writes.
func made(name string, write func(*build.Func), reference func(in [][]float64) [][]float64) *program {
	b := build.New()
	write(b.Func("main"))
	p := &program{Program: step.Must(b.Program()), name: name, write: write, reference: reference}
	f := p.Funcs[0]
	declared := map[string]mil.Type{}
	for _, v := range f.Params {
		p.in = append(p.in, layoutOf(v.Name, v.Type))
	}
	for _, op := range f.Body {
		for _, v := range op.Results {
			declared[v.Name] = v.Type
		}
	}
	for _, r := range f.Results {
		p.out = append(p.out, layoutOf(r.Name, declared[r.Name]))
	}
	return p
}

func layoutOf(name string, t mil.Type) ane.Layout {
	shape, _ := t.Shape() // none is dynamic
	return step.Must(ane.NewLayout(name, t.DType, shape...))
}

// identity multiplies by one, because the engine refuses an output that is an input.
func identity(shape ...int) *program {
	return made(fmt.Sprint("identity", shape), func(f *build.Func) {
		f.Output("y", f.Mul(f.Input("x", mil.FP16, shape...), f.Scalar(1)))
	}, func(in [][]float64) [][]float64 { return in })
}

func addition(shape ...int) *program {
	return made("add", func(f *build.Func) {
		f.Output("y", f.Add(f.Input("a", mil.FP16, shape...), f.Input("b", mil.FP16, shape...)))
	}, func(in [][]float64) [][]float64 {
		return [][]float64{zip(in[0], in[1], func(a, b float64) float64 { return a + b })}
	})
}

// zip applies f to pairs.
func zip(a, b []float64, f func(a, b float64) float64) []float64 {
	c := make([]float64, len(a))
	for i := range a {
		c[i] = f(a[i], b[i])
	}
	return c
}

// order has inputs and outputs whose names do not sort in the order of declaration.
func order() *program {
	return made("order", func(f *build.Func) {
		input := func(name string) build.Value { return f.Input(name, mil.FP16, 1, 4, 3, 32) }
		zeta, beta, alpha := input("zeta"), input("beta"), input("alpha")
		rest := f.Sub(zeta, beta)
		f.Output("rest", rest)
		f.Output("all", f.Mul(rest, alpha))
	}, func(in [][]float64) [][]float64 {
		rest := zip(in[0], in[1], func(a, b float64) float64 { return a - b })
		return [][]float64{rest, zip(rest, in[2], func(a, b float64) float64 { return a * b })}
	})
}

// splitting has two outputs of one layout, whose names sort in reverse order.
func splitting() *program {
	return made("split", func(f *build.Func) {
		parts := f.Split(f.Input("x", mil.FP16, 1, 8, 2, 32), 1, 2)
		f.Output("tail", parts[1])
		f.Output("head", parts[0])
	}, func(in [][]float64) [][]float64 {
		middle := len(in[0]) / 2
		return [][]float64{in[0][middle:], in[0][:middle]}
	})
}

// casting has fp32 inputs and outputs and computes in fp16.
func casting(shape ...int) *program {
	return made("cast", func(f *build.Func) {
		half := f.Mul(f.Cast(f.Input("x", mil.FP32, shape...), mil.FP16), f.Scalar(0.5))
		f.Output("y", f.Cast(half, mil.FP32))
	}, func(in [][]float64) [][]float64 {
		return [][]float64{zip(in[0], in[0], func(a, _ float64) float64 { return a / 2 })}
	})
}

// multiplication is a matrix product of two inputs.
func multiplication(rows, inner, cols int) *program {
	return made("matmul", func(f *build.Func) {
		f.Output("y", f.Matmul(f.Input("x", mil.FP16, 1, 1, rows, inner), f.Input("w", mil.FP16, 1, 1, inner, cols)))
	}, func(in [][]float64) [][]float64 {
		product := make([]float64, rows*cols)
		for i := range product {
			for k := range inner {
				product[i] += in[0][i/cols*inner+k] * in[1][k*cols+i%cols]
			}
		}
		return [][]float64{product}
	})
}

// convolution is a 1x1 convolution with weights from a file.
func convolution() *program { return weighted(99) }

// weighted is convolution with weights of the given seed.
func weighted(seed int) *program {
	const from, to, plane = 8, 4, 2 * 32
	kernel := make([]float32, to*from)
	for i := range kernel {
		kernel[i] = float32(sample(i, seed))
	}
	return made("conv", func(f *build.Func) {
		f.Output("y", f.Conv(f.Input("x", mil.FP16, 1, from, 2, 32), f.Weight("w", kernel, to, from, 1, 1)))
	}, func(in [][]float64) [][]float64 {
		sums := make([]float64, to*plane)
		for i := range sums {
			for c := range from {
				sums[i] += float64(kernel[i/plane*from+c]) * in[0][c*plane+i%plane]
			}
		}
		return [][]float64{sums}
	})
}

// sample is input element i of a run: a multiple of a quarter in [-2, 2], so
// that sums of up to 32 products are exact in fp16.
func sample(i, seed int) float64 { return float64((i*7+i/17+seed*5)%17-8) / 4 }

// samples returns the inputs of run seed.
func (p *program) samples(seed int) [][]float64 {
	in := make([][]float64, len(p.in))
	for i, l := range p.in {
		in[i] = make([]float64, l.Elements())
		for j := range in[i] {
			in[i][j] = sample(j+3*i, seed)
		}
	}
	return in
}

// programs returns the programs whose values are compared.
func programs() []*program {
	return append([]*program{convolution(), identity(1, 8, 4, 32), addition(1, 8, 4, 32), order(), splitting(),
		casting(1, 4, 2, 16), casting(1, 2, 3, 5), multiplication(4, 32, 32), multiplication(3, 20, 7)}, padded()...)
}

// padded returns programs with padded rows.
func padded() []*program {
	return []*program{identity(1, 3, 2, 1), identity(1, 2, 3, 31), identity(1, 2, 3, 33), identity(2, 3, 5, 7),
		identity(6, 10), identity(9)}
}
