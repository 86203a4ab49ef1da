package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// settled surveys statements that compute e, which is then a setting, and returns the elements of e.
func settled(t *testing.T, statements string) []float64 {
	t.Helper()
	p, err := mil.Parse("e.mil", []byte(around(statements+"\ntensor<fp32, [1]> z = fill(shape = e);", "z")))
	require.NoError(t, err)
	return ops.Survey("e.mil", p)[0].Values["e"].Floats()
}

// TestSettle has every operator with which a setting may be computed from shapes.
func TestSettle(t *testing.T) {
	v := func(list string) string {
		return fmt.Sprintf("tensor<int32, [%d]>(%s)", strings.Count(list, ",")+1, list)
	}
	// big is [4, 2, 4, 4], v a constant that is no literal argument.
	prefix := "tensor<int32, [4]> sh = shape(x = big);\n" +
		"tensor<int32, [2, 2]> m = reshape(x = sh, shape = " + v("[2, 2]") + ");\n" +
		"int32 one = const()[val = int32(1)];\nint32 five = const()[val = int32(5)];\n"
	const cast32 = "tensor<fp32, [4]> c = cast(x = sh, dtype = string(\"fp32\"));\n"
	const plain, mixed = ", interleave = bool(false));", ", interleave = bool(true));"
	for statement, want := range map[string][]float64{
		"tensor<int32, [4]> e = identity(x = sh);":                                {4, 2, 4, 4},
		"tensor<int32, [4]> e = add(x = sh, y = one);":                            {5, 3, 5, 5},
		"tensor<int32, [4]> e = sub(x = five, y = sh);":                           {1, 3, 1, 1},
		"tensor<int32, [4]> e = mul(x = sh, y = sh);":                             {16, 4, 16, 16},
		"tensor<int32, [4]> e = real_div(x = five, y = sh);":                      {1, 2, 1, 1},
		"tensor<int32, [4]> e = floor_div(x = sh, y = int32(-3));":                {-2, -1, -2, -2},
		"tensor<int32, [4]> e = mod(x = sh, y = int32(-3));":                      {-2, -1, -2, -2},
		"tensor<int32, [4]> e = maximum(x = sh, y = int32(3));":                   {4, 3, 4, 4},
		"tensor<int32, [4]> e = minimum(x = sh, y = int32(3));":                   {3, 2, 3, 3},
		"tensor<int32, [4]> e = neg(x = sh);":                                     {-4, -2, -4, -4},
		"tensor<int32, [4]> e = abs(x = sh);":                                     {4, 2, 4, 4},
		"tensor<bool, [4]> e = greater(x = sh, y = int32(2));":                    {1, 0, 1, 1},
		"tensor<bool, [4]> e = greater_equal(x = sh, y = int32(4));":              {1, 0, 1, 1},
		"tensor<bool, [4]> e = less(x = sh, y = int32(4));":                       {0, 1, 0, 0},
		"tensor<bool, [4]> e = less_equal(x = sh, y = int32(2));":                 {0, 1, 0, 0},
		"tensor<bool, [4]> e = equal(x = sh, y = int32(2));":                      {0, 1, 0, 0},
		"tensor<bool, [4]> e = not_equal(x = sh, y = int32(2));":                  {1, 0, 1, 1},
		"tensor<int16, [4]> e = cast(x = sh, dtype = string(\"int16\"));":         {4, 2, 4, 4},
		"tensor<int32, [2, 2]> e = transpose(x = m, perm = " + v("[1, 0]") + ");": {4, 4, 2, 4},
		"tensor<int32, [4]> e = reverse(x = sh);":                                 {4, 4, 2, 4},
		"tensor<int32, [8]> e = tile(x = sh, reps = " + v("[2]") + ");":           {4, 2, 4, 4, 4, 2, 4, 4},
		"tensor<int32, [1, 4]> e = expand_dims(x = sh, axes = " + v("[0]") + ");": {4, 2, 4, 4},
		"tensor<int32, [1, 4]> e = flatten2d(x = sh, axis = int32(0));":           {4, 2, 4, 4},
		"int32 e = gather(x = sh, indices = one, axis = int32(0));":               {2},
		"tensor<int32, [3]> e = gather(x = sh, indices = " + v("[-3, 9, -9]") +
			", axis = int32(0));": {2, 4, 4},
		"tensor<int32, [2, 3]> e = gather(x = m, indices = " + v("[1, 0, 1]") +
			", axis = int32(1));": {2, 4, 2, 4, 4, 4},
		"tensor<int32, [2]> e = slice_by_index(x = sh, begin = " + v("[-1]") + ", end = " + v("[0]") +
			", stride = " + v("[-2]") + ");": {4, 2},
		"int32 e = slice_by_index(x = sh, begin = " + v("[1]") + ", end = " + v("[2]") +
			", squeeze_mask = tensor<bool, [1]>([true]));": {2},
		"tensor<int32, [2]> e = slice_by_size(x = sh, begin = " + v("[1]") + ", size = " + v("[2]") + ");": {2, 4},
		"tensor<int32, [5]> e = concat(values = (sh, " + v("[7]") + "), axis = int32(0)" + plain: {
			4, 2, 4, 4, 7},
		"tensor<int32, [8]> e = concat(values = (sh, " + v("[6, 7, 8, 9]") + "), axis = int32(0)" + mixed: {
			4, 6, 2, 7, 4, 8, 4, 9},
		"tensor<int32, [3]> e = concat(values = (one, five, one), axis = int32(0), interleave = bool(false));": {
			1, 5, 1},
		"tensor<int32, [2]> e = concat(values = (five, one), axis = int32(-1)" + mixed: {5, 1},
		"tensor<int32, [2, 2]> e = stack(values = (" + v("[1, 2]") + ", " + v("[3, 4]") + "), axis = int32(1));": {
			1, 3, 2, 4},
		"tensor<int32, [2]> d, tensor<int32, [2]> e = split(x = sh, num_splits = int32(2), axis = int32(0));": {4, 4},
		"int32 e = reduce_sum(x = sh);":                                              {14},
		"int32 e = reduce_prod(x = sh);":                                             {128},
		"tensor<int32, [2]> e = reduce_max(x = m, axes = " + v("[0]") + ");":         {4, 4},
		"tensor<int32, [2]> e = reduce_min(x = m, axes = " + v("[1]") + ");":         {2, 4},
		"tensor<int32, [2]> e = range_1d(start = one, end = five, step = int32(2));": {1, 3},
		"tensor<int32, [2]> e = fill(shape = " + v("[2]") + ", value = five);":       {5, 5},
		"tensor<int32, [2, 2]> e = fill_like(ref_tensor = m, value = five);":         {5, 5, 5, 5},
		"tensor<int32, [2, 2]> e = reshape_like(x = sh, ref_tensors = (m), begins = (int32(0)), ends = (int32(2)), " +
			"end_masks = (bool(false)));": {4, 2, 4, 4},
		"tensor<bool, [4]> c = less(x = sh, y = int32(4));\n" +
			"tensor<int32, [4]> e = select(cond = c, a = one, b = five);": {
			5, 1, 5, 5},
		"tensor<bool, [4]> c = less(x = sh, y = int32(4));\ntensor<bool, [4]> d = logical_not(x = c);\n" +
			"tensor<bool, [4]> e = logical_or(x = c, y = d);": {1, 1, 1, 1},
		"tensor<bool, [4]> c = less(x = sh, y = int32(4));\ntensor<bool, [4]> d = logical_xor(x = c, y = c);\n" +
			"tensor<bool, [4]> e = logical_and(x = c, y = d);": {0, 0, 0, 0},
		cast32 + "tensor<fp32, [4]> d = mul(x = c, y = fp32(0.3));\n" +
			"tensor<fp32, [4]> g = floor(x = d);\n" +
			"tensor<int32, [4]> e = cast(x = g, dtype = string(\"int32\"));": {1, 0, 1, 1},
		cast32 + "tensor<fp32, [4]> d = real_div(x = c, y = fp32(8));\n" +
			"tensor<fp32, [4]> g = ceil(x = d);\ntensor<fp32, [4]> e = round(x = g);": {1, 1, 1, 1},
		"tensor<int32, [1, 4]> d = expand_dims(x = sh, axes = " + v("[0]") + ");\n" +
			"tensor<int32, [4]> e = squeeze(x = d, axes = " + v("[0]") + ");": {4, 2, 4, 4},
		// What does not follow, and what no element of the type is.
		"tensor<int32, [4]> e = add(x = i, y = one);":                nil,
		"tensor<int32, [4]> e = floor_div(x = sh, y = int32(0));":    nil,
		"tensor<int32, [4]> e = mul(x = sh, y = int32(2147483647));": nil,
		"tensor<int8, [4]> d = cast(x = tensor<int32, [4]>([1, 2, 3, 128]), dtype = string(\"int8\"));\n" +
			"tensor<int32, [4]> e = cast(x = d, dtype = string(\"int32\"));": nil,
		"tensor<int32, [5000]> d = fill(shape = " + v("[5000]") + ", value = five);\n" +
			"int32 e = reduce_max(x = d);": nil,
		"tensor<fp32, [3]> e = exp(x = tensor<fp32, [3]>([1, 2, 3]));": nil,
	} {
		require.Equal(t, want, settled(t, prefix+statement), statement)
	}
}

// TestSettleDeep checks that a long chain takes neither a deep stack nor time that grows with its square.
func TestSettleDeep(t *testing.T) {
	var b strings.Builder
	b.WriteString("tensor<int32, [4]> v0 = shape(x = big);\n")
	const n = 20000
	for i := range n {
		fmt.Fprintf(&b, "tensor<int32, [4]> v%d = minimum(x = v%d, y = v%d);\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "tensor<int32, [4]> e = maximum(x = v%d, y = v%d);", n, n)
	require.Equal(t, []float64{4, 2, 4, 4}, settled(t, b.String()))
}

// TestSettleShapeOfReshape has the chain with which converters compute the shape of a reshape.
func TestSettleShapeOfReshape(t *testing.T) {
	g, list := analyze(t, around(`tensor<int32, [4]> sh = shape(x = big);
int32 le = gather(x = sh, indices = int32(1), axis = int32(0));
int32 r = floor_div(x = int32(128), y = le);
tensor<int32, [3]> d = concat(values = (int32(1), le, r), axis = int32(0), interleave = bool(false));
tensor<fp16, [1, 2, 64]> y = reshape(x = big, shape = d);`, "y"), nil)
	require.Empty(t, list)
	require.Equal(t, []int{1, 2, 64}, g.Outputs[0].Shape)
	_, list = analyze(t, around(`tensor<int32, [3]> d = concat(values = (ix, ix, ix), axis = int32(0),
interleave = bool(false));
tensor<fp16, [1, 2, 64]> y = reshape(x = big, shape = d);`, "y"), nil)
	require.ErrorContains(t, list, "reshape: shape: has to be a constant")
}

// TestTileOfExpand has what converters write for torch's expand with -1, which keeps an axis.
func TestTileOfExpand(t *testing.T) {
	g, list := analyze(t, around(`tensor<int32, [2]> sh = shape(x = w);
tensor<int32, [2]> d = real_div(x = tensor<int32, [2]>([8, -1]), y = sh);
tensor<fp16, [8, 3]> y = tile(x = w, reps = d);`, "y"), nil)
	require.Empty(t, list)
	require.Equal(t, []int{8, 3}, g.Outputs[0].Shape)
	require.Contains(t, strings.Join(g.Notes, "\n"), "0 computed repetitions of axis 1 of x[4 3] are taken as one")
}
