package soft_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/host"
)

// TestConstantsWiderThanATile multiplies by matrices that the engine decodes when it
// compiles and cuts into tiles when it runs.
func TestConstantsWiderThanATile(t *testing.T) {
	r := seeded(t)
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		for k := range 8 { // of either orientation
			if !effort.Full() && k > 0 {
				break
			}
			n := []int{300, 768}[k%2] // one tile and a rest, three whole tiles
			o, sum := matmulCase(r, d, nil, nil, nil, 40, 3, n)
			for i := range o.in {
				o.in[i].fixed = o.in[i].arg == "y"
			}
			o.near(t, sum.bound)
		}
	}
}

// TestBatchesOfConstants multiplies each matrix of a batch by its own constant.
func TestBatchesOfConstants(t *testing.T) {
	r := seeded(t)
	for _, shape := range [][3]int{{3, 5, 7}, {40, 3, 300}} {
		o, sum := matmulCase(r, mil.FP16, []int{3}, []int{3}, []int{3}, shape[0], shape[1], shape[2])
		o.in[0].fixed, o.in[1].fixed = false, true
		o.near(t, sum.bound)
	}
}

// TestStridesAcrossTiles has lines of 100 outputs, so that tiles begin within lines.
func TestStridesAcrossTiles(t *testing.T) {
	r := seeded(t)
	for _, stride := range []int{2, 3} {
		s := sliding{kernel: []int{1, 3}, stride: []int{1, stride}, dilation: []int{1, 1}, before: []int{0, 1},
			after: []int{0, 1}, in: []int{6, 100 * stride}, out: []int{6, 100}, padType: "custom"}
		x, w := fill(r, mil.FP16, 1, 2, 6, 100*stride), fill(r, mil.FP16, 3, 2, 1, 3)
		sum := convRef(x, w, nd{}, s, 1, false)
		o := operation{op: "conv", in: []operand{{"x", x, false}, {"weight", w, false}}, want: []nd{sum.want},
			settings: s.settings(false)}
		o.near(t, sum.bound)
	}
}

// TestConvsOfOnePlane has windows over one plane: with as many outputs as elements, without and with strides, with a
// kernel that is deeper than the plane, with tiles that begin within narrow lines, and with several strips of lines.
func TestConvsOfOnePlane(t *testing.T) {
	r := seeded(t)
	for _, c := range []struct {
		in, kernel, stride, pad []int
		groups                  int
	}{
		{[]int{1, 6, 8}, []int{3, 3, 3}, []int{1, 1, 1}, []int{1, 1, 1}, 1},
		{[]int{5, 5}, []int{3, 3}, []int{2, 2}, []int{3, 3}, 1},
		{[]int{40, 7}, []int{3, 3}, []int{1, 1}, []int{1, 1}, 1}, {[]int{70, 64}, []int{3, 2}, []int{1, 1}, []int{1, 1}, 2},
		{[]int{140, 62}, []int{2, 3}, []int{1, 2}, []int{1, 1}, 2},
	} {
		n := len(c.in)
		s := sliding{kernel: c.kernel, stride: c.stride, dilation: slices.Repeat([]int{1}, n), before: c.pad, after: c.pad,
			in: c.in, padType: "custom"}
		for i, length := range c.in {
			s.out = append(s.out, (length+2*c.pad[i]-c.kernel[i])/c.stride[i]+1)
		}
		x := fill(r, mil.FP16, append([]int{1, 2}, c.in...)...)
		w, b := fill(r, mil.FP16, append([]int{2, 2 / c.groups}, c.kernel...)...), fill(r, mil.FP16, 2)
		sum := convRef(x, w, b, s, c.groups, true)
		o := operation{op: "conv", in: []operand{{"x", x, false}, {"weight", w, false}, {"bias", b, false}},
			want: []nd{sum.want}, settings: s.settings(false) + fmt.Sprintf(", groups = int32(%d)", c.groups)}
		o.near(t, sum.bound)
	}
}

// TestRowsOfRepeatedElements adds one element to each long row, so that goroutines that
// share the rows start at any of them.
func TestRowsOfRepeatedElements(t *testing.T) {
	r := seeded(t)
	for _, rows := range []int{2, 8} {
		length := 1 << 17 / rows
		x, y := fill(r, mil.FP32, rows, 1), fill(r, mil.FP32, rows, length)
		want := zeros(mil.FP32, rows, length)
		each(want.shape, func(i []int) { want.set(max(x.at(i[0], 0), y.at(i...)), i...) })
		for _, in := range [][]operand{{{"x", x, false}, {"y", y, false}}, {{"x", y, false}, {"y", x, false}}} {
			operation{op: "maximum", in: in, want: []nd{want}}.exact(t)
		}
	}
}

// The description names this system.
func TestInfoNamesTheSystem(t *testing.T) {
	info := soft.New().Info()
	require.True(t, strings.HasPrefix(info.OSBuild, host.Name))
	if !host.Remap {
		require.Contains(t, info.Sharing, "the process's own mapping")
		return
	}
	require.Contains(t, info.Sharing, "a second time")
	version, err := os.ReadFile("/proc/version") // "Linux version RELEASE (..."
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("linux %s", strings.Fields(string(version))[2]), info.OSBuild)
}
