package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/remark"
)

// resolve analyzes a function of one operation and returns its node and the notes. The
// declared type of the result is checked with the rest.
func resolve(t *testing.T, params, typ, call string) (*ops.Node, []string, mil.ErrorList) {
	t.Helper()
	text := "program(1.3)\n{\nfunc main<ios18>(" + params + ") {\n" + typ + " y = " + call + ";\n} -> (y);\n}\n"
	g, list := analyze(t, text, nil)
	if len(list) > 0 {
		return nil, nil, list
	}
	return g.Nodes[0], g.Notes, nil
}

func half(shape ...int) string { return mil.TensorOf(mil.FP16, shape...).String() }

// ints writes a vector of d.
func ints(d mil.DType, list ...int) string {
	numbers := strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
	return fmt.Sprintf("tensor<%s, [%d]>([%s])", d, len(list), numbers)
}

// TestWindowsOfConvolutions compares with the shapes that PyTorch and TensorFlow give:
// "same" covers ceil(length/stride) places and puts the odd element of padding after
// the axis, "same_lower" before it.
func TestWindowsOfConvolutions(t *testing.T) {
	for name, c := range map[string]struct {
		in, kernel, out int
		settings        string
		before, after   int
	}{
		"valid":                {5, 3, 3, "", 0, 0},
		"stride":               {8, 3, 3, "strides = int32(2)", 0, 0},
		"dilation":             {8, 3, 4, "dilations = int32(2)", 0, 0},
		"custom":               {5, 3, 6, `pad_type = string("custom"), pad = ` + ints(mil.Int32, 1, 2), 1, 2},
		"same":                 {5, 3, 5, `pad_type = string("same")`, 1, 1},
		"same, stride":         {5, 3, 3, `pad_type = string("same"), strides = int32(2)`, 1, 1},
		"same, odd":            {4, 3, 2, `pad_type = string("same"), strides = int32(2)`, 0, 1},
		"same, wide":           {7, 6, 3, `pad_type = string("same"), strides = int32(3)`, 2, 3},
		"same, dilated":        {6, 3, 3, `pad_type = string("same"), strides = int32(2), dilations = int32(2)`, 1, 2},
		"same_lower, odd":      {4, 3, 2, `pad_type = string("same_lower"), strides = int32(2)`, 1, 0},
		"same, no padding":     {6, 1, 3, `pad_type = string("same"), strides = int32(2)`, 0, 0},
		"the longest stride":   {5, 3, 1, "strides = " + ints(mil.Int64, ops.MaxElements), 0, 0},
		"the longest dilation": {5, 1, 5, "dilations = " + ints(mil.Int64, ops.MaxElements), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			params := half(1, 4, c.in) + " x, " + half(2, 4, c.kernel) + " w"
			settings := "x = x, weight = w"
			if c.settings != "" {
				settings += ", " + c.settings
			}
			n, _, list := resolve(t, params, half(1, 2, c.out), "conv("+settings+")")
			require.Empty(t, list)
			w := n.Attrs.(ops.Window)
			require.Equal(t, []int{c.before}, w.Before)
			require.Equal(t, []int{c.after}, w.After)
			require.Equal(t, []int{c.out}, w.Out)
		})
	}
}

// Each group uses its share of the input channels.
func TestGroupsOfConvolutions(t *testing.T) {
	const call = "conv(x = x, weight = w, groups = int32(2))"
	n, _, list := resolve(t, half(1, 6, 5)+" x, "+half(4, 3, 1)+" w", half(1, 4, 5), call)
	require.Empty(t, list)
	require.Equal(t, 2, n.Attrs.(ops.Window).Groups)
	_, _, list = resolve(t, half(1, 6, 5)+" x, "+half(4, 12, 1)+" w", half(1, 4, 5), call)
	require.ErrorContains(t, list, "KernelChannels (12) != InputChannels (6) / Group (2)")
}

func TestKernelsThatDoNotFit(t *testing.T) {
	const custom = `pad_type = string("custom"), pad = `
	for settings, want := range map[string]string{
		"dilations = " + ints(mil.Int64, ops.MaxElements):         "kernel 7 with dilation 2147483648 is too large",
		custom + ints(mil.Int32, 1, 2):                            "spans 7 elements, the padded axis has 6",
		custom + ints(mil.Int32, 0, 4) + ", dilations = int32(2)": "spans 13 elements, the padded axis has 7",
	} {
		call := "conv(x = x, weight = w, " + settings + ")"
		_, _, list := resolve(t, half(1, 4, 3)+" x, "+half(2, 4, 7)+" w", half(1, 2, 1), call)
		require.ErrorContains(t, list, want)
	}
}

// TestPoolingRoundsUp follows PyTorch's ceil_mode: a last window that reaches over the
// end counts if it starts within x or the padding before it.
func TestPoolingRoundsUp(t *testing.T) {
	for name, c := range map[string]struct{ in, kernel, stride, before, after, floor, ceil int }{
		"windows that overlap":               {5, 3, 1, 0, 0, 3, 3},
		"nothing is left":                    {6, 2, 2, 0, 0, 3, 3},
		"the last window starts in x":        {4, 2, 3, 0, 0, 1, 2},
		"the last window starts at the end":  {4, 2, 2, 0, 1, 2, 2},
		"the padding before x moves it":      {4, 2, 2, 1, 0, 2, 3},
		"it would start after x and padding": {4, 3, 3, 1, 1, 2, 2},
		"more than one element is left over": {7, 3, 3, 0, 0, 2, 3},
	} {
		for ceil, out := range map[bool]int{false: c.floor, true: c.ceil} {
			call := fmt.Sprintf("max_pool(x = x, kernel_sizes = int32(%d), strides = int32(%d), ceil_mode = bool(%t)",
				c.kernel, c.stride, ceil) + `, pad_type = string("custom"), pad = ` +
				ints(mil.Int32, c.before, c.after) + ")"
			_, _, list := resolve(t, half(1, 1, c.in)+" x", half(1, 1, out), call)
			require.Empty(t, list, "%s, ceil_mode %t", name, ceil)
		}
	}
}

// TestSlicesFollowPython compares with Python's slices of list(range(4)).
func TestSlicesFollowPython(t *testing.T) {
	for python, c := range map[string]struct {
		begin, end, stride int
		fromStart, toEnd   bool
		want               []int
	}{
		"[1:3]":     {1, 3, 1, false, false, []int{1, 2}},
		"[-3:-1]":   {-3, -1, 1, false, false, []int{1, 2}},
		"[0:9]":     {0, 9, 1, false, false, []int{0, 1, 2, 3}},
		"[:2]":      {3, 2, 1, true, false, []int{0, 1}},
		"[2:]":      {2, 0, 1, false, true, []int{2, 3}},
		"[::2]":     {0, 0, 2, true, true, []int{0, 2}},
		"[1::2]":    {1, 0, 2, false, true, []int{1, 3}},
		"[::3]":     {0, 0, 3, true, true, []int{0, 3}},
		"[::-1]":    {0, 0, -1, true, true, []int{3, 2, 1, 0}},
		"[::-2]":    {0, 0, -2, true, true, []int{3, 1}},
		"[::-3]":    {0, 0, -3, true, true, []int{3, 0}},
		"[3:0:-1]":  {3, 0, -1, false, false, []int{3, 2, 1}},
		"[9:1:-1]":  {9, 1, -1, false, false, []int{3, 2}},
		"[:1:-1]":   {0, 1, -1, true, false, []int{3, 2}},
		"[1::-1]":   {1, 3, -1, false, true, []int{1, 0}},
		"[2:-9:-1]": {2, -9, -1, false, false, []int{2, 1, 0}},
	} {
		call := fmt.Sprintf("slice_by_index(x = x, begin = %s, end = %s, stride = %s, begin_mask = %s, end_mask = %s)",
			ints(mil.Int32, c.begin), ints(mil.Int32, c.end), ints(mil.Int32, c.stride), truth(c.fromStart),
			truth(c.toEnd))
		n, _, list := resolve(t, half(4)+" x", half(len(c.want)), call)
		require.Empty(t, list, python)
		s := n.Attrs.(ops.Slice)
		var got []int
		for k := range s.Size[0] {
			got = append(got, s.Begin[0]+k*s.Stride[0])
		}
		require.Equal(t, c.want, got, python)
	}
}

// truth writes a vector of one truth value.
func truth(b bool) string { return fmt.Sprintf("tensor<bool, [1]>([%t])", b) }

// The index of a squeezed axis lies within the axis, counted from either end.
func TestSqueezedIndexes(t *testing.T) {
	for begin, fits := range map[int]bool{-4: false, -3: true, 0: true, 2: true, 3: false} {
		call := fmt.Sprintf("slice_by_index(x = x, begin = %s, end = %s, squeeze_mask = tensor<bool, [2]>([false, "+
			"true]))",
			ints(mil.Int32, 0, begin), ints(mil.Int32, 2, 3))
		n, _, list := resolve(t, half(2, 3)+" x", half(2), call)
		require.Equal(t, fits, list == nil, "%d: %v", begin, list)
		if fits {
			require.Equal(t, (begin+3)%3, n.Attrs.(ops.Slice).Begin[1])
		}
	}
}

func TestSlicesBySizeEndWithTheAxis(t *testing.T) {
	for size, fits := range map[int]bool{-2: false, -1: true, 0: false, 1: true, 2: true, 3: false} {
		out := max(size, 1)
		if size == -1 {
			out = 2 // the rest
		}
		_, _, list := resolve(t, half(3)+" x", half(out), fmt.Sprintf("slice_by_size(x = x, begin = %s, size = %s)",
			ints(mil.Int32, 1), ints(mil.Int32, size)))
		require.Equal(t, fits, list == nil, "%d: %v", size, list)
	}
}

// pad has a pair for each of the last axes.
func TestPadGrowsTheLastAxes(t *testing.T) {
	const channels = "Channel padding is not supported"
	for name, c := range map[string]struct {
		pad           []int
		out           []int
		before, after []int
		noted         bool
	}{
		"one axis": {[]int{1, 2}, []int{2, 3, 4, 8}, []int{0, 0, 0, 1}, []int{0, 0, 0, 2}, false},
		"two axes": {[]int{3, 0, 0, 2}, []int{2, 3, 7, 7}, []int{0, 0, 3, 0}, []int{0, 0, 0, 2}, false},
		"channels by nothing": {[]int{0, 0, 1, 1, 1, 1}, []int{2, 3, 6, 7}, []int{0, 0, 1, 1}, []int{0, 0, 1, 1},
			false},
		"channels":           {[]int{1, 0, 0, 0, 0, 0}, []int{2, 4, 4, 5}, []int{0, 1, 0, 0}, []int{0, 0, 0, 0}, true},
		"channels both ways": {[]int{1, 1, 0, 0, 0, 0}, []int{2, 5, 4, 5}, []int{0, 1, 0, 0}, []int{0, 1, 0, 0}, true},
		"every axis": {[]int{0, 1, 0, 0, 0, 0, 0, 0}, []int{3, 3, 4, 5}, []int{0, 0, 0, 0}, []int{1, 0, 0, 0},
			true},
	} {
		n, notes, list := resolve(t, half(2, 3, 4, 5)+" x", half(c.out...),
			"pad(x = x, pad = "+ints(mil.Int32, c.pad...)+")")
		require.Empty(t, list, name)
		p := n.Attrs.(ops.Pad)
		require.Equal(t, c.before, p.Before, name)
		require.Equal(t, c.after, p.After, name)
		require.Equal(t, c.noted, strings.Contains(strings.Join(notes, "\n"), channels), name)
	}
}

// A tensor of the largest size is accepted, one with one more element is not.
func TestTheLargestTensors(t *testing.T) {
	const large = ops.MaxElements
	axes := ints(mil.Int32, 0, 2, 4)
	reshaped := func(shape ...int) string { return "reshape(x = x, shape = " + ints(mil.Int64, shape...) + ")" }
	for name, c := range map[string]struct {
		x, out []int
		call   string
	}{
		"one axis":           {[]int{large}, []int{large}, "relu(x = x)"},
		"two axes":           {[]int{2, large / 2}, []int{2, large / 2}, "relu(x = x)"},
		"reshaped":           {[]int{2, large / 2}, []int{large}, reshaped(large)},
		"reshaped to two":    {[]int{large}, []int{large / 2, 2}, reshaped(large/2, 2)},
		"of rank 5":          {[]int{2, 3}, []int{1, 2, 1, 3, 1}, reshaped(1, 2, 1, 3, 1)},
		"expanded to rank 5": {[]int{2, 3}, []int{1, 2, 1, 3, 1}, "expand_dims(x = x, axes = " + axes + ")"},
		"matmul of rank 4":   {[]int{2, 3, 4, 4}, []int{2, 3, 4, 4}, "matmul(x = x, y = x)"},
	} {
		_, _, list := resolve(t, half(c.x...)+" x", half(c.out...), c.call)
		require.Empty(t, list, name)
	}
	for name, shape := range map[string][]int{
		"one more": {large + 1}, "twice": {2, large}, "a product that wraps to 0": {-1, large, large, large},
	} {
		_, _, list := resolve(t, half(large)+" x", half(large), reshaped(shape...))
		require.ErrorContains(t, list, "reshape: shape", name)
	}
}

// The batch axes of both operands are aligned at the right.
func TestMatmulBroadcastsBatches(t *testing.T) {
	n, _, list := resolve(t, half(2, 3, 4, 5)+" x, "+half(3, 5, 6)+" z", half(2, 3, 4, 6), "matmul(x = x, y = z)")
	require.Empty(t, list)
	require.Equal(t, ops.Matmul{M: 4, K: 5, N: 6, Batch: []int{2, 3}, BatchX: []int{2, 3}, BatchY: []int{1, 3}},
		n.Attrs)
}

func TestConcatJoinsOneAxis(t *testing.T) {
	params := half(2, 3) + " x, " + half(4, 3) + " z, " + half(2, 5) + " w"
	_, _, list := resolve(t, params, half(6, 3), "concat(values = (x, z), axis = int32(0), interleave = bool(false))")
	require.Empty(t, list)
	_, _, list = resolve(t, params, half(2, 8), "concat(values = (x, w), axis = int32(-1), interleave = bool(false))")
	require.Empty(t, list)
	_, _, list = resolve(t, params, half(4, 3), "concat(values = (x, w), axis = int32(0), interleave = bool(false))")
	require.ErrorContains(t, list, "only the joined axis may differ")
}

// Int32 is the only type whose casts Apple's engine refuses.
func TestCastsOfInt32AreNoted(t *testing.T) {
	for _, c := range []struct {
		from, to mil.DType
		noted    bool
	}{{mil.FP16, mil.Int32, true}, {mil.Int32, mil.FP16, true}, {mil.FP16, mil.FP32, false},
		{mil.Int8, mil.FP16, false}} {
		_, notes, list := resolve(t, mil.TensorOf(c.from, 2).String()+" x", mil.TensorOf(c.to, 2).String(),
			`cast(x = x, dtype = string("`+c.to.String()+`"))`)
		require.Empty(t, list)
		require.Equal(t, c.noted, strings.Contains(strings.Join(notes, "\n"), "int32"), "%s to %s: %v", c.from, c.to,
			notes)
	}
}

// A setting has at most 2^16 elements, and split has at most 2^16 results.
func TestTheLongestSettings(t *testing.T) {
	const most = 1 << 16
	split := func(length int, name string, setting *mil.Value) (int, error) {
		x, err := ops.Parameter(mil.V(mil.TensorOf(mil.FP16, length), "x"))
		require.NoError(t, err)
		axis, _, err := ops.Constant(mil.Int32Scalar(0))
		require.NoError(t, err)
		value, _, err := ops.Constant(setting)
		require.NoError(t, err)
		out, _, err := ops.Lookup("split").Infer(one("x", x), one("axis", axis), one(name, value))
		return len(out), err
	}
	ones := func(n int) *mil.Value { return mil.Int32s(slices.Repeat([]int{1}, n)...) }
	for _, n := range []int{1, most} {
		got, err := split(n, "num_splits", mil.Int32Scalar(n))
		require.NoError(t, err)
		require.Equal(t, n, got)
		got, err = split(n, "split_sizes", ones(n))
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	_, err := split(most+1, "num_splits", mil.Int32Scalar(most+1))
	require.Error(t, err)
	_, err = split(most+1, "split_sizes", ones(most+1))
	require.Error(t, err)
}

// Messages show the first ten numbers of a list.
func TestListsInMessages(t *testing.T) {
	for n, want := range map[int]string{10: "[1 1 1 1 1 1 1 1 1 -2]", 11: "[1 1 1 1 1 1 1 1 1 1 ..]"} {
		shape := append(slices.Repeat([]int{1}, n-1), -2)
		_, _, list := resolve(t, half(2)+" x", half(2), "reshape(x = x, shape = "+ints(mil.Int32, shape...)+")")
		require.ErrorContains(t, list, "shape: "+want+";")
	}
}

// The hint on a setting of a scalar shows no vector of zero elements.
func TestSettingsOfScalars(t *testing.T) {
	_, _, list := resolve(t, "fp16 x", "fp16", "slice_by_index(x = x, begin = fp16(1), end = int32(1))")
	require.NotEmpty(t, list)
	require.NotContains(t, list.Error(), "[0]")
}

// The last note reports that notes are left out. A note still counts operators after it.
func TestLastNoteReportsOmittedNotes(t *testing.T) {
	body := "tensor<fp32, [3]> u = relu(x = f);\n"
	for i := range remark.Max + 2 {
		body += fmt.Sprintf("fp16 c%d = const()[val = fp16(1e9)];\n", i)
	}
	body += "tensor<fp32, [3]> v = relu(x = f);\ntensor<int32, [3]> nn = cast(x = f, dtype = string(\"int32\"));\n" +
		"tensor<int32, [3]> z = add(x = nn, y = nn);"
	g, list := analyze(t, around(body, "z"), nil)
	require.Empty(t, list)
	require.Len(t, g.Notes, remark.Max+1)
	require.Contains(t, g.Notes[0], "relu, and 1 more operator: fp32")
	require.Contains(t, g.Notes[remark.Max-1], "fp16(1e+09)")
	require.Equal(t, "more notes are left out", g.Notes[remark.Max])
}

// An offset of 0 is the offset of the header.
func TestOffsetsOfWeights(t *testing.T) {
	for offset, inFile := range map[string]bool{"uint64(0)": true, "int64(-1)": false} {
		blobfile := `BLOBFILE(path = string("w.bin"), offset = ` + offset + ")"
		text := "tensor<fp16, [2]> y = add(x = q, y = tensor<fp16, [2]>(" + blobfile + "));"
		_, list := analyze(t, around(text, "y"), weights(t))
		require.NotEmpty(t, list)
		if inFile {
			require.ErrorIs(t, list, blob.ErrOffset)
		} else {
			require.NotErrorIs(t, list, blob.ErrOffset)
		}
	}
}

// Reread stops after mil.MaxFaults and adds the fault "too many faults".
func TestRereadStopsAfterManyFaults(t *testing.T) {
	var body strings.Builder
	for i := range mil.MaxFaults + 2 {
		fmt.Fprintf(&body, blobConst, "tensor<fp16, [2]>", i)
	}
	body.WriteString("tensor<fp16, [2]> y = add(x = c0, y = c1);")
	g, list := analyze(t, around(body.String(), "y"), weights(t))
	require.Empty(t, list)
	require.Len(t, g.Weights, mil.MaxFaults+2)
	_, list = ops.Reread("e.mil", g.Weights, broken{})
	require.Len(t, list, 1, "one file, one fault")
	require.Contains(t, list[0].Error(), fmt.Sprintf("on fire (%d constants)", mil.MaxFaults+2))
	_, list = ops.Reread("e.mil", g.Weights, files{"w.bin": holding(t, mil.FP32, 1, 2, 3, 4)})
	require.Len(t, list, mil.MaxFaults+1)
	require.Equal(t, "too many faults", list[mil.MaxFaults].Msg)
}

// A note on numbers out of range counts those that it does not show.
func TestNotesCountOtherElements(t *testing.T) {
	for literal, want := range map[string]string{
		"[70000, 1, 2, 3]": "becomes infinite;", "[70000, 80000, 1, 2]": "like 1 more;",
		"[70000, 80000, 90000, 1]": "like 2 more;",
	} {
		statement := "tensor<fp16, [4]> c = const()[val = tensor<fp16, [4]>(" + literal + ")];\n" +
			"tensor<fp16, [2]> y = relu(x = q);"
		g, list := analyze(t, around(statement, "y"), nil)
		require.Empty(t, list)
		require.Len(t, g.Notes, 1)
		require.Contains(t, g.Notes[0], want)
	}
}

// An epsilon that is left out has the type of x: the operator computes as with the same number written there.
func TestDefaultEpsilonHasTheTypeOfX(t *testing.T) {
	for call, number := range map[string]string{
		"layer_norm(x = x%s)": "1e-5", "instance_norm(x = x%s)": "1e-5", "l2_norm(x = x%s)": "1e-6",
		"batch_norm(mean = m, variance = m, x = x%s)": "1e-5", "rsqrt(x = x%s)": "1e-12", "log(x = x%s)": "1e-45",
		"inverse(x = x%s)": "1e-4",
	} {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			typ := mil.TensorOf(d, 1, 2, 3, 4).String()
			params := typ + " x, " + mil.TensorOf(d, 2).String() + " m"
			left, _, list := resolve(t, params, typ, fmt.Sprintf(call, ""))
			require.Empty(t, list)
			written, _, list := resolve(t, params, typ, fmt.Sprintf(call, ", epsilon = "+d.String()+"("+number+")"))
			require.Empty(t, list)
			require.Equal(t, written.Attrs, left.Attrs, "%s of %s", call, d)
		}
	}
}
