package soft_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// halvesOf formats halves as a literal of exact numbers. It has no form for the exponent 31: such weights come
// at run time.
func halvesOf(shape string, h []fp16.Bits) string {
	var s []string
	for _, b := range h {
		s = append(s, strconv.FormatFloat(float64(b.Float32()), 'x', -1, 32))
	}
	return "tensor<fp16, " + shape + ">([" + strings.Join(s, ", ") + "])"
}

// convProgram is a convolution of a padded image with constant weights.
type convProgram struct {
	n, in, out, h, w, kh, kw, groups, stride, dilation, pad int

	weight, bias []fp16.Bits
}

func (p convProgram) size() (h, w int) {
	return (p.h+2*p.pad-p.dilation*(p.kh-1)-1)/p.stride + 1, (p.w+2*p.pad-p.dilation*(p.kw-1)-1)/p.stride + 1
}

func (p convProgram) text() string {
	oh, ow := p.size()
	bias := ""
	if p.bias != nil {
		bias = ", bias = " + halvesOf(fmt.Sprintf("[%d]", p.out), p.bias)
	}
	return fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [%d, %d, %d, %d]> x) {
        tensor<fp16, [%d, %d, %d, %d]> y = conv(x = x, weight = %s%s, strides = %s, dilations = %s,
            pad_type = string("custom"), pad = %s, groups = int32(%d))[name = string("y")];
    } -> (y);
}`, p.n, p.in, p.h, p.w, p.n, p.out, oh, ow,
		halvesOf(fmt.Sprintf("[%d, %d, %d, %d]", p.out, p.in/p.groups, p.kh, p.kw), p.weight), bias,
		intVec(p.stride, p.stride), intVec(p.dilation, p.dilation), intVec(p.pad, p.pad, p.pad, p.pad), p.groups)
}

// summer is a scalar function for sums of products: such as that of a set of rules.
type summer interface {
	MAC(x, w []fp16.Bits, bias fp16.Bits) fp16.Bits
}

// want sums each element by the scalar function, kernel row, kernel column, input channel fastest.
func (p convProgram) want(m summer, x []fp16.Bits) []fp16.Bits {
	oh, ow := p.size()
	each, outs := p.in/p.groups, p.out/p.groups
	out := make([]fp16.Bits, 0, p.n*p.out*oh*ow)
	for n := range p.n {
		for o := range p.out {
			for i := range oh {
				for j := range ow {
					var a, b []fp16.Bits
					for kh := range p.kh {
						for kw := range p.kw {
							for c := range each {
								y, z := i*p.stride+kh*p.dilation-p.pad, j*p.stride+kw*p.dilation-p.pad
								v := fp16.Bits(0)
								if y >= 0 && y < p.h && z >= 0 && z < p.w {
									v = x[((n*p.in+o/outs*each+c)*p.h+y)*p.w+z]
								}
								a, b = append(a, v), append(b, p.weight[((o*each+c)*p.kh+kh)*p.kw+kw])
							}
						}
					}
					bias := fp16.Bits(0)
					if p.bias != nil {
						bias = p.bias[o]
					}
					out = append(out, m.MAC(a, b, bias))
				}
			}
		}
	}
	return out
}

// TestConvOfChips compares convolutions with the scalar function, also where sums overflow.
func TestConvOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		p := convProgram{n: 1 + r.IntN(2), groups: 1 + r.IntN(2), h: 1 + r.IntN(6), w: 3 + r.IntN(9), kh: 1,
			kw: 1 + r.IntN(3), stride: 1 + r.IntN(2), dilation: 1, pad: r.IntN(2)}
		p.in, p.out = p.groups*(2+r.IntN(6)), p.groups*(1+r.IntN(6))
		if round%7 == 3 { // as many positions as fit few columns of a product
			p.h, p.w, p.stride, p.pad, p.out = 1, p.kw+r.IntN(3), 1, 0, p.groups*(8+r.IntN(9))
		}
		if p.h > 3 {
			p.kh = 1 + r.IntN(3)
		}
		low, high := uint32(0x2800), uint32(0x4400)
		switch round % 3 {
		case 1: // sums reach the range
			low, high = 0x5400, 0x5c00
		case 2: // products vanish
			low, high = 0, 0x2c00
		}
		halves := func(n int) []fp16.Bits {
			h := make([]fp16.Bits, n)
			for i := range h {
				h[i] = fp16.Bits(low+r.Uint32N(high-low)) | fp16.Bits(r.IntN(2))<<15
			}
			return h
		}
		p.weight = halves(p.out * p.in / p.groups * p.kh * p.kw)
		if r.IntN(2) == 0 {
			p.bias = halves(p.out)
		}
		x := halves(p.n * p.in * p.h * p.w)
		if round%5 == 0 {
			x[r.IntN(len(x))] = 0x7c00
			x[r.IntN(len(x))] = 0xfe01
		}
		for _, m := range chipModes() {
			requireHalves(t, p.want(m.Rules(), x), evaluateHalves(t, p.text(), [][]fp16.Bits{x}, soft.Numerics(m)),
				fmt.Sprintf("%s, %+v", m, p))
		}
	}
}

// TestProductsOfChips compares matmul and linear with the scalar function.
func TestProductsOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range effort.Cases(40) {
		m, k, n := 1+r.IntN(40), 1+r.IntN(70), 1+r.IntN(40)
		if round%8 == 0 {
			k = 600 + r.IntN(40)
		}
		if round%5 == 2 {
			n = 1 + r.IntN(4)
		}
		low, high := uint32(0x2800), uint32(0x4400)
		if round%2 == 1 {
			low, high = 0x5000, 0x5a00
		}
		halves := func(n int) []fp16.Bits {
			h := make([]fp16.Bits, n)
			for i := range h {
				h[i] = fp16.Bits(low+r.Uint32N(high-low)) | fp16.Bits(r.IntN(2))<<15
			}
			return h
		}
		x, y, bias := halves(m*k), halves(k*n), halves(n)
		at := func(i, j int) (a, b []fp16.Bits) {
			for d := range k {
				a, b = append(a, x[i*k+d]), append(b, y[d*n+j])
			}
			return a, b
		}
		turned := make([]fp16.Bits, n*k)
		for i := range turned {
			turned[i] = y[i%k*n+i/k]
		}
		matmul := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [%d, %d]> x, tensor<fp16, [%d, %d]> y) {"+
			" tensor<fp16, [%d, %d]> z = matmul(x = x, y = y, transpose_x = bool(false), transpose_y = bool(false))"+
			"[name = string(\"z\")]; } -> (z); }", m, k, k, n, m, n)
		linear := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [%d, %d]> x) {"+
			" tensor<fp16, [%d, %d]> z = linear(x = x, weight = %s, bias = %s)"+
			"[name = string(\"z\")]; } -> (z); }", m, k, m, n, halvesOf(fmt.Sprintf("[%d, %d]", n, k), turned),
			halvesOf(fmt.Sprintf("[%d]", n), bias))
		for _, mode := range chipModes() {
			plain, biased := make([]fp16.Bits, m*n), make([]fp16.Bits, m*n)
			for i := range m {
				for j := range n {
					a, b := at(i, j)
					plain[i*n+j], biased[i*n+j] = mode.Rules().MAC(a, b, 0), mode.Rules().MAC(a, b, bias[j])
				}
			}
			what := fmt.Sprintf("%s, %d x %d x %d", mode, m, k, n)
			requireHalves(t, plain, evaluateHalves(t, matmul, [][]fp16.Bits{x, y}, soft.Numerics(mode)), "matmul "+what)
			requireHalves(t, biased, evaluateHalves(t, linear, [][]fp16.Bits{x}, soft.Numerics(mode)), "linear "+what)
		}
	}
}

// TestSingleChannelConv: one input channel and one kernel position are an elementwise multiplication, which
// passes 32768 (AG, M1).
func TestSingleChannelConv(t *testing.T) {
	p := convProgram{n: 1, in: 1, out: 1, h: 1, w: 4, kh: 1, kw: 1, groups: 1, stride: 1, dilation: 1,
		weight: []fp16.Bits{0x3c00}}
	x := []fp16.Bits{fp16.FromFloat32(60000), 0x7c00, 1, 0x8000}
	for _, m := range chipModes() {
		requireHalves(t, []fp16.Bits{x[0], 0x7c00, 1, 0},
			evaluateHalves(t, p.text(), [][]fp16.Bits{x}, soft.Numerics(m)), m.String())
	}
	p.weight, p.bias = []fp16.Bits{0x3e00}, []fp16.Bits{0x4c00} // 1.5 and 16: the bias is added to the rounded product
	x = []fp16.Bits{fp16.FromFloat32(40000), 0x3c01, 0, 0xcc00}
	for _, m := range chipModes() {
		r := m.Rules()
		var want []fp16.Bits
		for _, h := range x {
			want = append(want, r.Round(float64(r.Value(r.Round(1.5*float64(r.Value(h)))))+16))
		}
		requireHalves(t, want, evaluateHalves(t, p.text(), [][]fp16.Bits{x}, soft.Numerics(m)), m.String())
	}
}

// TestConvProbes runs the published probes of M4 and M6 as programs: 64 channels, one pixel each.
func TestConvProbes(t *testing.T) {
	data, err := os.ReadFile("../../../internal/numerics/testdata/probes.json")
	require.NoError(t, err)
	var all struct {
		Probes []struct {
			ID, Chip, Op string
			Expected     string `json:"expected_bits"`
			Inputs       struct {
				X    any    `json:"x_bits"`
				W    any    `json:"w_bits"`
				Bias string `json:"bias_bits"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &all))
	half := func(s string) fp16.Bits {
		n, err := strconv.ParseUint(s, 0, 16)
		require.NoError(t, err)
		return fp16.Bits(n)
	}
	modes := map[string]numerics.Mode{"h16g": numerics.M4, "h18g": numerics.M6}
	done := 0
	for _, p := range all.Probes {
		if p.Op != "conv" {
			continue
		}
		x, w := make([]fp16.Bits, 64), make([]fp16.Bits, 64)
		for i, b := range p.Inputs.X.([]any) {
			if x[i] = half(b.(string)); x[i] == 0x7c01 { // the host quieted it
				x[i] = 0x7e01
			}
		}
		switch b := p.Inputs.W.(type) {
		case nil:
			for i := range w {
				w[i] = 0x3c00
			}
		case string:
			w[0] = half(b)
		case []any:
			for i, b := range b {
				w[i] = half(b.(string))
			}
		}
		c := convProgram{n: 1, in: 64, out: 1, h: 1, w: 1, kh: 1, kw: 1, groups: 1, stride: 1, dilation: 1, weight: w}
		if p.Inputs.Bias != "" {
			c.bias = []fp16.Bits{half(p.Inputs.Bias)}
		}
		requireHalves(t, []fp16.Bits{half(p.Expected)},
			evaluateHalves(t, c.text(), [][]fp16.Bits{x}, soft.Numerics(modes[p.Chip])), p.ID)
		done++
	}
	require.Equal(t, 388, done)
}
