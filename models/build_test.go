package models_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/models"
)

// ports builds the models again with package build. If exact is true, the text is that
// of the model, byte by byte.
var ports = map[string]struct {
	exact bool
	build func(t *testing.T, f *build.Func, m models.Model)
}{
	"identity": {true, func(t *testing.T, f *build.Func, m models.Model) {
		x := f.Input("x", build.FP16, 1, 64, 1, 32)
		f.Output("y", f.Mul(x, f.Const("one", mil.FP16Scalar(1))))
	}},
	"add": {true, func(t *testing.T, f *build.Func, m models.Model) {
		a, b := f.Input("a", build.FP16, 1, 64, 1, 32), f.Input("b", build.FP16, 1, 64, 1, 32)
		f.Output("c", f.Add(a, b))
	}},
	"scale-bias": {false, func(t *testing.T, f *build.Func, m models.Model) {
		x := f.Input("x", build.FP16, 1, 64, 1, 32)
		f.Output("y", f.Add(f.Mul(x, f.Scalar(1.5)), f.Scalar(-0.25)))
	}},
	"cast": {false, func(t *testing.T, f *build.Func, m models.Model) {
		x := f.Input("x", build.FP32, 1, 64, 1, 20)
		f.Output("y", f.Cast(f.Mul(f.Cast(x, build.FP16), f.Scalar(0.5)), build.FP32))
	}},
	"conv-1x1": {true, func(t *testing.T, f *build.Func, m models.Model) {
		x := f.Input("x", build.FP16, 1, 64, 1, 64)
		w := f.Weight("w", weights(t, m, "w"), 32, 64, 1, 1)
		f.Output("y", f.Conv(x, w, build.Padding{0, 0, 0, 0}))
	}},
	"conv-3x3": {true, func(t *testing.T, f *build.Func, m models.Model) {
		x := f.Input("x", build.FP16, 1, 8, 16, 32)
		w := f.Weight("w", weights(t, m, "w"), 16, 8, 3, 3)
		f.Output("y", f.Conv(x, w, build.Padding{1, 1, 1, 1}))
	}},
	"softmax": {true, func(t *testing.T, f *build.Func, m models.Model) {
		f.Output("y", f.Softmax(f.Input("x", build.FP16, 1, 128, 1, 32), 1))
	}},
	"layer-norm": {false, func(t *testing.T, f *build.Func, m models.Model) {
		x := f.Input("x", build.FP16, 1, 64, 1, 32)
		gamma, beta := f.Weight("gamma", weights(t, m, "gamma"), 32), f.Weight("beta", weights(t, m, "beta"), 32)
		f.Output("y", f.LayerNorm(x, []int{-1}, build.Gamma(gamma), build.Beta(beta), build.Epsilon(0.5)))
	}},
	"split": {false, func(t *testing.T, f *build.Func, m models.Model) {
		parts := f.SplitSizes(f.Input("x", build.FP16, 1, 64, 1, 32), 1, 32, 32)
		f.Output("y0", f.Mul(parts[0], f.Scalar(2)))
		f.Output("y1", f.Abs(parts[1]))
	}},
	"packed-matmul": {false, func(t *testing.T, f *build.Func, m models.Model) {
		x := f.Input("x", build.FP16, 1, 64, 1, 96)
		act := f.Reshape(f.SliceBySize(x, []int{0, 0, 0, 0}, []int{1, 64, 1, 32}), 1, 1, 64, 32)
		weight := f.Reshape(f.SliceBySize(x, []int{0, 0, 0, 32}, []int{1, 64, 1, 64}), 1, 1, 64, 64)
		y := f.Matmul(f.Transpose(act, 0, 1, 3, 2), weight)
		f.Output("y", f.Reshape(f.Transpose(y, 0, 1, 3, 2), 1, 64, 1, 32))
	}},
	"attention": {false, func(t *testing.T, f *build.Func, m models.Model) {
		k, q, v := f.Input("k", build.FP16, 1, 2, 32, 64), f.Input("q", build.FP16, 1, 2, 32, 64),
			f.Input("v", build.FP16, 1, 2, 32, 64)
		mask := f.Weight("mask", weights(t, m, "mask"), 1, 1, 32, 32)
		scores := f.Mul(f.Matmul(q, k, build.TransposeY(true)), f.Scalar(1/math.Sqrt(64)))
		f.Output("y", f.Matmul(f.Softmax(f.Add(scores, mask), -1), v))
	}},
}

// weights reads a weight of the model.
func weights(t *testing.T, m models.Model, name string) []float32 {
	p, err := mil.Parse(m.Name, m.Text)
	require.NoError(t, err)
	body := p.Funcs[0].Body
	i := slices.IndexFunc(body, func(op *mil.Op) bool { return len(op.Results) == 1 && op.Results[0].Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	e := &evaluation{files: m.Weights}
	values, err := e.weights(body[i].Attr("val").Value.(*mil.Value))
	require.NoError(t, err)
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// Package build gives models with the same results, and with the same text if exact.
func TestModelsBuiltFromOperators(t *testing.T) {
	all, err := models.All()
	require.NoError(t, err)
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			port, ok := ports[m.Name]
			require.True(t, ok, "write a port of it")
			b := build.New()
			port.build(t, b.Func("main"), m)
			p, err := b.Program()
			require.NoError(t, err)
			require.Empty(t, p.Notes)
			if port.exact {
				require.Equal(t, string(m.Text), string(p.Text()))
			}
			again := m
			again.Text = p.Text()
			if len(m.Weights) > 0 {
				again.Weights = nil
				for path := range m.Weights {
					data, err := p.Weights.ReadFile(path)
					require.NoError(t, err)
					require.Equal(t, m.Weights[path], data)
					again.Weights = map[string][]byte{path: data}
				}
			}
			compare(t, again)
		})
	}
}
