package models

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
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
	var file weights
	at, err := file.add(mask)
	if err != nil {
		return Model{}, err
	}
	t := func(shape ...int) mil.Type { return mil.TensorOf(mil.FP16, shape...) }
	scores := t(1, heads, seq, seq)
	b := mil.NewBuilder()
	f := b.Func("main")
	k := f.Input("k", mil.FP16, 1, heads, seq, dim)
	q := f.Input("q", mil.FP16, 1, heads, seq, dim)
	v := f.Input("v", mil.FP16, 1, heads, seq, dim)
	no, yes := f.Const("no", mil.BoolScalar(false)), f.Const("yes", mil.BoolScalar(true))
	scale := f.Const("scale", mil.FP16Scalar(1/math.Sqrt(dim)))
	axis := f.Const("axis", mil.Int32Scalar(-1))
	m := f.Blob("mask", t(1, 1, seq, seq), blob.WeightFile, at)
	raw := f.Op("matmul", scores, "raw", mil.A("transpose_x", no), mil.A("transpose_y", yes), mil.A("x", q),
		mil.A("y", k))
	scaled := f.Op("mul", scores, "scaled", mil.A("x", raw), mil.A("y", scale))
	masked := f.Op("add", scores, "masked", mil.A("x", scaled), mil.A("y", m))
	probs := f.Op("softmax", scores, "probs", mil.A("axis", axis), mil.A("x", masked))
	f.Output(f.Op("matmul", t(1, heads, seq, dim), "y", mil.A("transpose_x", no), mil.A("transpose_y", no),
		mil.A("x", probs), mil.A("y", v)))
	return Model{
		Name: "attention", About: "causal attention, 2 heads, mask in a file", Weights: file.files(), Input: factors(),
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
	}.finish(b)
}
