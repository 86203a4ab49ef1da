package models

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// attention is causal attention of two heads in the portable form: matmul, scale,
// additive mask, softmax, matmul. The fused operator ignores its mask on real hardware.
func attention() (Model, error) {
	const heads, seq, dim = 2, 32, 64
	const hidden = -1e4 // added by the mask to masked positions
	mask := make([]float64, seq*seq)
	for i := range mask {
		if i%seq > i/seq {
			mask[i] = hidden
		}
	}
	return Model{
		Name: "attention", About: "causal attention, 2 heads, mask in a file", Input: factors(),
		Tolerance: Tolerance{Abs: 4e-3, Rel: 4e-3,
			Reason: "scores are exact; softmax takes exp and 1/x from tables of straight pieces, and its results " +
				"are rounded to fp16"},
		Reference: func(in map[string][]float64) map[string][]float64 {
			q, k, v, y := in["q"], in["k"], in["v"], make([]float64, heads*seq*dim)
			for r := range heads * seq {
				head := r / seq * seq * dim // first element of the head
				seen := make([]float64, r%seq+1)
				for j := range seen {
					for d := range dim {
						seen[j] += q[r*dim+d] * k[head+j*dim+d] / math.Sqrt(dim)
					}
				}
				for j, p := range softmaxOf(seen) {
					for d := range dim {
						y[r*dim+d] += p * v[head+j*dim+d]
					}
				}
			}
			return map[string][]float64{"y": y}
		},
	}.built(func(f *build.Func) {
		k := f.Input("k", mil.FP16, 1, heads, seq, dim)
		q := f.Input("q", mil.FP16, 1, heads, seq, dim)
		v := f.Input("v", mil.FP16, 1, heads, seq, dim)
		scores := f.Mul(f.Matmul(q, k, build.TransposeY(true)), f.Scalar(1/math.Sqrt(dim)))
		masked := f.Add(scores, f.Weight("mask", singles(mask), 1, 1, seq, seq))
		f.Output("y", f.Matmul(f.Softmax(masked, -1), v))
	})
}
