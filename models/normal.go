package models

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// softmax runs over the channels, not along rows.
func softmax() (Model, error) {
	const classes = 128
	return Model{
		Name: "softmax", About: "softmax over 128 channels", Input: steps(2),
		Tolerance: Tolerance{Abs: 2e-5, Rel: 8e-3,
			Reason: "exp and 1/x come from tables of straight pieces, their arguments are rounded to fp16"},
		Reference: func(in map[string][]float64) map[string][]float64 {
			x, y := in["x"], make([]float64, classes*width)
			for j := range width {
				column := make([]float64, classes)
				for c := range column {
					column[c] = x[c*width+j]
				}
				for c, p := range softmaxOf(column) {
					y[c*width+j] = p
				}
			}
			return map[string][]float64{"y": y}
		},
	}.built(func(f *build.Func) {
		f.Output("y", f.Softmax(f.Input("x", mil.FP16, 1, classes, 1, width), 1))
	})
}

// softmaxOf is the textbook formula.
func softmaxOf(x []float64) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v)
	}
	return each(x, func(v float64) float64 { return math.Exp(v) / sum })
}

// layerNorm normalizes rows, whose means fp16 holds exactly, and scales them by weights.
func layerNorm() (Model, error) {
	const epsilon = 0.5 // a tenth of the variance, so that the test fails without it
	gamma, beta := steps(2)("gamma", width, 1), steps(2)("beta", width, 1)
	return Model{
		Name: "layer-norm", About: "layer norm over rows of 32, two weights in one file",
		Input: multiples(1./8, -32, 31),
		Tolerance: Tolerance{Abs: 1e-2, Rel: 5e-3,
			Reason: "1/sqrt comes from a table of straight pieces; the variance and every step are rounded to fp16"},
		Reference: func(in map[string][]float64) map[string][]float64 {
			x, y := in["x"], make([]float64, channels*width)
			for r := range channels {
				row := x[r*width:][:width]
				mean, variance := 0.0, 0.0
				for _, v := range row {
					mean += v / width
				}
				for _, v := range row {
					variance += (v - mean) * (v - mean) / width
				}
				for j, v := range row {
					y[r*width+j] = (v-mean)/math.Sqrt(variance+epsilon)*gamma[j] + beta[j]
				}
			}
			return map[string][]float64{"y": y}
		},
	}.built(func(f *build.Func) {
		scale, shift := f.Weight("gamma", singles(gamma), width), f.Weight("beta", singles(beta), width)
		f.Output("y", f.LayerNorm(small(f, "x"), []int{-1}, build.Gamma(scale), build.Beta(shift),
			build.Epsilon(epsilon)))
	})
}
