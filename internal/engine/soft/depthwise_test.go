package soft_test

import (
	"fmt"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// TestConvOfGroups compares bits: the products of halves are exact in float32, and each sum adds them in the order of
// the channels and kernel positions, those outside x too, then the bias, and rounds once.
func TestConvOfGroups(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(60) {
		groups, each, outputs := 2+r.IntN(5), 1+r.IntN(5)/3, 1+r.IntN(3)
		n := 1 + r.IntN(2)
		in := []int{1 + r.IntN(30), 1 + r.IntN(30)}
		if k%15 == 14 {
			in = []int{40 + r.IntN(60), 100 + r.IntN(60)} // several strips
		}
		x := fill(r, mil.FP16, n, groups*each, in[0], in[1])
		s := randomSliding(r, in, true, false)
		w := fill(r, mil.FP16, groups*outputs, each, s.kernel[0], s.kernel[1])
		b, want := fill(r, mil.FP16, groups*outputs), zeros(mil.FP16, n, groups*outputs, s.out[0], s.out[1])
		o := operation{op: "conv", in: []operand{{"x", x, false}, {"weight", w, k%2 == 0}}, want: []nd{want},
			settings: s.settings(false) + fmt.Sprintf(", groups = int32(%d)", groups)}
		if k%3 == 0 {
			o.in = append(o.in, operand{"bias", b, k%2 == 0})
		}
		for i := range want.v {
			ox, oy := i%s.out[1], i/s.out[1]%s.out[0]
			m, image := i/s.out[1]/s.out[0]%(groups*outputs), i/s.out[1]/s.out[0]/(groups*outputs)
			var sum float32
			for c := range each {
				for ky := range s.kernel[0] {
					for kx := range s.kernel[1] {
						y := oy*s.stride[0] + ky*s.dilation[0] - s.before[0]
						at := ox*s.stride[1] + kx*s.dilation[1] - s.before[1]
						f := 0.0
						if y >= 0 && y < in[0] && at >= 0 && at < in[1] {
							f = x.at(image, m/outputs*each+c, y, at)
						}
						sum += float32(f * w.at(m, c, ky, kx))
					}
				}
			}
			if k%3 == 0 {
				sum += float32(b.v[m])
			}
			want.v[i] = float64(sum)
		}
		o.exact(t)
	}
}
