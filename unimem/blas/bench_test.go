package blas_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/unimem/blas"
)

// BenchmarkProduct compares square products: the library on spans of a Tape, the software engine's matmul of the
// same element type, and the floor, a loop in Go that reads both operands row by row.
func BenchmarkProduct(b *testing.B) {
	for _, n := range []int{128, 512} {
		s := tape(b, 4*4*n*n)
		r := rand.New(rand.NewPCG(5, uint64(n)))
		var m [3]blas.Matrix
		for i := range m {
			var err error
			m[i], err = blas.Take(s, n, n)
			require.NoError(b, err)
			fill(r, m[i])
		}
		rate := func(b *testing.B) {
			b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()),
				"Gflop/s")
		}
		b.Run(fmt.Sprint("library/", n), func(b *testing.B) {
			l := library(b)
			for b.Loop() {
				if err := l.Product(m[2], m[0], m[1]); err != nil {
					b.Fatal(err)
				}
			}
			rate(b)
		})
		b.Run(fmt.Sprint("engine/", n), func(b *testing.B) {
			request := matmul(b, n)
			copyInto(b, request.Input("x"), m[0].Data)
			copyInto(b, request.Input("y"), m[1].Data)
			for b.Loop() {
				if _, err := request.Evaluate(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			rate(b)
		})
		b.Run(fmt.Sprint("floor/", n), func(b *testing.B) {
			x, y, z := m[0].Data, m[1].Data, m[2].Data
			for b.Loop() {
				clear(z)
				for i := range n {
					row := z[i*n:][:n]
					for k := range n {
						f, other := x[i*n+k], y[k*n:][:n]
						for j := range row {
							row[j] += f * other[j]
						}
					}
				}
			}
			rate(b)
		})
	}
}

// matmul is a request of the software engine for z = x y of n x n values of fp32.
func matmul(b *testing.B, n int) *ane.Request {
	ctx := b.Context()
	p := build.New()
	f := p.Func("main")
	f.Output("z", f.Matmul(f.Input("x", build.FP32, n, n), f.Input("y", build.FP32, n, n)))
	program, err := p.Program()
	require.NoError(b, err)
	device, err := engine.Open(ctx, engine.Soft)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, device.Close()) })
	model, err := device.Compile(ctx, ane.Source{Program: program})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, model.Close(context.Background())) })
	request, err := model.NewRequest(ctx)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, request.Close()) })
	return request
}

func copyInto(b *testing.B, x *ane.Tensor, values []float32) {
	_, err := x.WriteFloat32(values)
	require.NoError(b, err)
}
