package soft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
)

// The program of these benchmarks is a stack of square matrices: 16 MiB of fp16
// weights, one file each. Products of rank 16 are added to the matrices ahead of the
// runs.
const (
	stackLayers = 8
	stackWidth  = 1024
	stackRank   = 16
)

// stack returns the program and the adapters: new files for one matrix, for every
// matrix, and for every factor.
func stack(t testing.TB) (p weightedProgram, adapters map[string]files) {
	r := rand.New(rand.NewPCG(1, 1))
	var weights []nd
	var body strings.Builder
	last := "x"
	square := fmt.Sprintf("[%d, %d]", stackWidth, stackWidth)
	for i := range stackLayers {
		weights = append(weights, weight(r, mil.FP16, stackWidth, stackWidth), weight(r, mil.FP16, stackWidth,
			stackRank), weight(r, mil.FP16, stackRank, stackWidth))
		fmt.Fprintf(&body, "tensor<fp16, %s> p%d = matmul(x = w%d, y = w%d);\n", square, i, 3*i+1, 3*i+2)
		fmt.Fprintf(&body, "tensor<fp16, %s> s%d = add(x = w%d, y = p%[2]d);\n", square, i, 3*i)
		fmt.Fprintf(&body, "tensor<fp16, [1, %d]> h%d = matmul(x = %s, y = s%[2]d);\n", stackWidth, i, last)
		last = fmt.Sprintf("h%d", i)
	}
	p = withWeights(t, fmt.Sprintf("tensor<fp16, [1, %d]> x", stackWidth), weights, body.String(), last)
	var matrices, factors []int
	for i := range stackLayers {
		matrices, factors = append(matrices, 3*i), append(factors, 3*i+1, 3*i+2)
	}
	return p, map[string]files{"OneMatrix": refill(t, r, weights, 0), "Matrices": refill(t, r, weights, matrices...),
		"Factors": refill(t, r, weights, factors...)}
}

// making measures building executables: the time, and the heap bytes that one
// executable holds.
func making(b *testing.B, build func() ane.Executable) {
	b.ReportAllocs()
	for b.Loop() {
		x := build()
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	held := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := held()
	x := build()
	b.ReportMetric(float64(int64(held()-before))/(1<<20), "MiB-kept")
	runtime.KeepAlive(x)
}

// BenchmarkNewInstance makes an instance of an existing base.
func BenchmarkNewInstance(b *testing.B) {
	p, adapters := stack(b)
	for name, own := range adapters {
		b.Run(name, func(b *testing.B) {
			e := soft.New()
			base := compileOn(b, e, p.text, p.files)
			making(b, func() ane.Executable { return instanceOf(b, base, own) })
			runtime.KeepAlive(base)
			if err := e.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkNewInstanceByCompile does the same by compiling text and weights.
func BenchmarkNewInstanceByCompile(b *testing.B) {
	p, adapters := stack(b)
	for name, own := range adapters {
		b.Run(name, func(b *testing.B) {
			e := soft.New()
			all := own.over(p.files)
			making(b, func() ane.Executable {
				x, err := e.Compile(context.Background(), ane.Source{File: "test.mil", Text: []byte(p.text),
					Weights: all})
				if err != nil {
					b.Fatal(err)
				}
				return x
			})
			if err := e.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkNewInstanceFloor is the least work of an instance, as bare loops: copy the
// changed files, add the matrices to the products of factors and decode the sums.
func BenchmarkNewInstanceFloor(b *testing.B) {
	_, adapters := stack(b)
	const n = stackWidth * stackWidth
	for name, own := range adapters {
		changed := min(len(own), stackLayers)
		b.Run(name, func(b *testing.B) {
			one, two := make([]float32, stackWidth*stackRank), make([]float32, stackRank*stackWidth)
			m, f, product := make([]fp16.Bits, n), make([]float32, n), make([]float32, n)
			b.ReportAllocs()
			for b.Loop() {
				for _, data := range own {
					runtime.KeepAlive(append([]byte(nil), data...))
				}
				for range changed {
					if name == "Factors" {
						gemm.Mul(product, one, two, stackWidth, stackRank, stackWidth)
					}
					fp16.Decode(f, m)
					for i := range f {
						f[i] += product[i]
					}
					sum, ahead := make([]fp16.Bits, n), make([]float32, n)
					fp16.Encode(sum, f)
					fp16.Decode(ahead, sum)
					runtime.KeepAlive(ahead)
				}
			}
		})
	}
}
