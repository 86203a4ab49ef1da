package soft

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/buildinfo"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/internal/numerics"
)

// stepsOf compiles a body whose result is y, and returns the steps of its operators.
func stepsOf(t *testing.T, params, body string, opts ...Option) (steps []plan.Step) {
	t.Helper()
	x, err := New(append(opts, Unfused())...).Compile(t.Context(), ane.Source{Text: []byte(
		"program(1.3)\n{ func main<ios18>(" + params + ") {\n" + body + "\n} -> (y); }")})
	require.NoError(t, err, body)
	for _, s := range x.(*executable).plan.Steps {
		if s.Op != "" {
			steps = append(steps, s)
		}
	}
	return steps
}

// runnerOf is the type of the runner of the last step, or the function that made it, if its type is one of many.
func runnerOf(steps []plan.Step) string {
	made := steps[len(steps)-1].Run
	kind := strings.TrimPrefix(fmt.Sprintf("%T", made), "*")
	v := reflect.ValueOf(made)
	if v.Kind() == reflect.Struct {
		v = v.Field(0)
	}
	if f := v.Elem().FieldByName("f"); f.IsValid() {
		kind = runtime.FuncForPC(f.Pointer()).Name()
		kind = strings.ReplaceAll(strings.TrimSuffix(kind[strings.LastIndex(kind, "/")+1:], "-fm"), ")", "")
		if i := strings.Index(kind, ".func"); i > 0 {
			kind = kind[:i]
		}
	}
	return kind[strings.LastIndex(kind, ".")+1:]
}

// of is a field of the runner of the last step.
func of(steps []plan.Step, field string) reflect.Value {
	return reflect.ValueOf(steps[len(steps)-1].Run).Elem().FieldByName(field)
}

// TestPaths: at the bounds of a quick path each operator takes the runner that is the quicker one there.
func TestPaths(t *testing.T) {
	const k = "tensor<fp16, "
	same := func(shape, call string) [2]string {
		return [2]string{k + shape + "> x", k + shape + "> y = " + call + ";"}
	}
	other := func(shape, result, call string) [2]string {
		return [2]string{k + shape + "> x", k + result + "> y = " + call + ";"}
	}
	reduced := func(op, shape, result string, axis int) [2]string {
		return other(shape, result, fmt.Sprintf("%s(x = x, axes = tensor<int32, [1]>([%d]), keep_dims = bool(true))", op,
			axis))
	}
	pooled := func(in, out, kernel, stride int) [2]string {
		return other(fmt.Sprintf("[1, 1, 1, %d]", in), fmt.Sprintf("[1, 1, 1, %d]", out), fmt.Sprintf(
			"max_pool(x = x, kernel_sizes = tensor<int32, [2]>([1, %d]), strides = tensor<int32, [2]>([1, %d]), "+
				"pad_type = string(\"valid\"))", kernel, stride))
	}
	grouped := func(groups, in, out, high, wide, kernel, stride int) [2]string {
		return [2]string{fmt.Sprintf("%[1]s[1, %[2]d, %[3]d, %[4]d]> x, %[1]s[%[5]d, %[6]d, %[7]d, 1]> w", k, in, high,
			wide, out, in/groups, kernel), fmt.Sprintf(
			"%s[1, %d, %d, %d]> y = conv(x = x, weight = w, groups = int32(%d), "+
				"strides = tensor<int32, [2]>([%d, 1]), pad_type = string(\"valid\"));", k, out, (high-kernel)/stride+1, wide,
			groups, stride)}
	}
	turned := func(shape, result, perm string) [2]string {
		return other(shape, result, "transpose(x = x, perm = tensor<int32, ["+fmt.Sprint(strings.Count(perm, ",")+1)+
			"]>(["+perm+"]))")
	}
	quick := func(runner, other string) string { // of package spatial, and of machines without its kernels
		if simd.Best() >= simd.AVX2 {
			return runner
		}
		return other
	}
	picked := func(runner string) string { // of package matrix, and of machines without its kernels
		if simd.Best() == simd.AVX2 {
			return "Windows"
		}
		return runner
	}
	const normed = "layer_norm(x = x, axes = tensor<int32, [1]>([0]))"
	for _, c := range []struct {
		text [2]string
		want string
	}{
		{same("[4095]", "sqrt(x = x)"), "decoded"},
		{same("[4096]", "sqrt(x = x)"), "lookUp"},
		{same("[4096]", "clip(x = x, alpha = fp16(-1), beta = fp16(2))"), "clamp"},
		{same("[4096]", "pow(x = x, y = fp16(2.5))"), "lookUp"},
		{same("[4095]", "pow(x = x, y = fp16(2.5))"), "newFloats"},
		{same("[2, 2048]", "pow(x = x, y = tensor<fp16, [2, 1]>([2.5, 3]))"), "newFloats"},
		{same("[1, 4, 4, 32]", "instance_norm(x = x)"), "inRuns"},
		{same("[1, 4, 4, 32]", "l2_norm(x = x)"), "inRuns"},
		{same("[2, 2, 1, 1]", "l2_norm(x = x)"), "inRuns"},
		{same("[32, 1, 1, 1]", "l2_norm(x = x)"), "plain"},
		{same("[4, 32]", "softmax(x = x, axis = int32(1))"), "inRuns"},
		{same("[7, 32]", "softmax(x = x, axis = int32(0))"), "softmax"},
		{same("[8, 32]", "softmax(x = x, axis = int32(0))"), "transposedLoop"},
		{same("[16384, 32]", "softmax(x = x, axis = int32(0))"), "transposedLoop"},
		{same("[16385, 32]", "softmax(x = x, axis = int32(0))"), "softmax"},
		{same("[7, 32]", normed), "plain"},
		{same("[8, 32]", normed), "transposedLoop"},
		{reduced("reduce_sum", "[32, 64]", "[32, 1]", 1), quick("sums", "shortReducer")},
		{reduced("reduce_sum", "[32, 65]", "[32, 1]", 1), quick("sums", "halfReducer")},
		{reduced("reduce_sum", "[2, 4096]", "[2, 1]", 1), quick("sums", "halfReducer")},
		{reduced("reduce_sum", "[2, 4097]", "[2, 1]", 1), "halfReducer"},
		{reduced("reduce_max", "[32, 64]", "[32, 1]", 1), "shortReducer"},
		{reduced("reduce_sum", "[2, 32, 32]", "[1, 32, 32]", 0), "halfReducer"},
		{reduced("reduce_sum", "[40, 16]", "[1, 16]", 0), "halfReducer"},
		{reduced("reduce_sum", "[40, 15]", "[1, 15]", 0), "reducer"},
		{reduced("reduce_max", "[40, 15]", "[1, 15]", 0), "halfReducer"},
		{reduced("reduce_min", "[40, 15]", "[1, 15]", 0), "halfReducer"},
		{reduced("reduce_prod", "[32, 65]", "[32, 1]", 1), "reducer"},
		{pooled(9, 8, 2, 1), quick("maxima", "halfMaxPooler")},
		{pooled(8, 7, 2, 1), quick("maxima", "pooler")},
		{pooled(64, 33, 32, 1), quick("maxima", "halfMaxPooler")},
		{pooled(64, 32, 33, 1), quick("maxima", "pooler")},
		{pooled(16, 8, 2, 2), quick("maxima", "halfMaxPooler")},
		{pooled(23, 8, 2, 3), "halfMaxPooler"},
		{pooled(512, 257, 256, 1), quick("maxima", "pooler")},
		{pooled(512, 256, 257, 1), "pooler"},
		{pooled(1<<15, 1<<15-1, 2, 1), quick("maxima", "halfMaxPooler")},
		{pooled(1<<15+2, 1<<15+1, 2, 1), "halfMaxPooler"},
		{pooled(1<<12, 128, 32, 32), "halfMaxPooler"},
		{pooled(33<<7, 128, 32, 33), "pooler"},
		{pooled(1<<16, 1<<16-1, 2, 1), "halfMaxPooler"},
		{pooled(1<<16+1, 1<<16, 2, 1), "pooler"},
		{grouped(2, 8, 8, 16, 32, 3, 1), "depthwise"}, // 4 x 4 pairs in a group
		{grouped(2, 8, 10, 16, 32, 3, 1), picked("product")},
		{grouped(1, 8, 8, 6, 8, 1, 1), "product"}, // a kernel of one position: 48 are six vectors, 50 are not
		{grouped(1, 8, 8, 5, 10, 1, 1), picked("product")},
		{grouped(1, 2, 2, 16, 32, 3, 1), "product"},
		{grouped(2, 2, 2, 16, 4096, 5, 1), "depthwise"}, // strips of one line, with four below
		{grouped(2, 2, 2, 16, 4096, 6, 1), quick("depthwise", "product")},
		{grouped(2, 2, 2, 16, 1<<14, 4, 1), "depthwise"}, // strips of 64 Ki elements
		{grouped(2, 2, 2, 16, 1<<14+32, 4, 1), "product"},
		{grouped(2, 4, 2, 16, 1<<13, 4, 1), "depthwise"}, // likewise, of two channels
		{grouped(2, 4, 2, 16, 1<<13+32, 4, 1), "product"},
		{grouped(2, 2, 2, 17, 1<<14, 3, 2), "depthwise"}, // likewise, of two phases
		{grouped(2, 2, 2, 17, 1<<14+32, 3, 2), "product"},
		{turned("[3, 5]", "[5, 3]", "1, 0"), "mover"},
		{turned("[4, 4]", "[4, 4]", "1, 0"), "transposer"},
		{turned("[64, 32, 16]", "[32, 64, 16]", "1, 0, 2"), "transposer"},
		{turned("[64, 32, 17]", "[32, 64, 17]", "1, 0, 2"), "mover"},
		{turned("[3, 64, 32]", "[3, 32, 64]", "0, 2, 1"), "transposer"},
		{turned("[3, 64, 32]", "[64, 3, 32]", "1, 0, 2"), "mover"},
	} {
		t.Run(c.text[1], func(t *testing.T) {
			require.Equal(t, c.want, runnerOf(stepsOf(t, c.text[0], c.text[1])))
		})
	}
}

// TestPathsOfTurns: the pieces of a matrix are longer if it is narrow, shorter if its items are runs, and fetched ahead
// if the result is larger than the caches.
func TestPathsOfTurns(t *testing.T) {
	const turnPiece, pastHigh = 256, 64
	for _, c := range []struct {
		shape, result, perm string
		unit, high, wide    int
		past                bool
	}{
		{"[64, 512]", "[512, 64]", "1, 0", 1, turnPiece, turnPiece, false},
		{"[16, 8192]", "[8192, 16]", "1, 0", 1, turnPiece, turnPiece, false},
		{"[15, 8192]", "[8192, 15]", "1, 0", 1, 16 * turnPiece, 16 * turnPiece, false},
		{"[64, 512, 16]", "[512, 64, 16]", "1, 0, 2", 16, turnPiece / 4, turnPiece / 4, false},
		{"[2048, 4096]", "[4096, 2048]", "1, 0", 1, pastHigh, halves.FetchCols, true}, // 16 MiB
		{"[2048, 4095]", "[4095, 2048]", "1, 0", 1, turnPiece, turnPiece, false},
	} {
		steps := stepsOf(t, "tensor<fp16, "+c.shape+"> x", "tensor<fp16, "+c.result+"> y = transpose(x = x, perm = "+
			fmt.Sprintf("tensor<int32, [%d]>([%s]));", strings.Count(c.perm, ",")+1, c.perm))
		require.Equal(t, "transposer", runnerOf(steps), c.shape)
		require.EqualValues(t, c.unit, of(steps, "unit").Int(), c.shape)
		require.EqualValues(t, c.high, of(steps, "high").Int(), c.shape)
		require.EqualValues(t, c.wide, of(steps, "wide").Int(), c.shape)
		require.Equal(t, c.past, of(steps, "past").Bool(), c.shape)
	}
}

// TestPathsOfVectors: a product of few rows reads its matrix once, as it is in memory.
func TestPathsOfVectors(t *testing.T) {
	if !halves.Vectors() {
		t.Skip("package halves has no kernel for products of vectors on this processor")
	}
	for _, c := range []struct {
		rows, k, n int
		want       string
	}{
		{1, 64, 64, "vectorProduct"}, {1, 64, 63, "product"}, {1, 32, 128, "vectorProduct"},
		{12, 64, 64, "vectorProduct"}, {17, 64, 64, "product"},
	} {
		steps := stepsOf(t, fmt.Sprintf("tensor<fp16, [%d, %d]> x, tensor<fp16, [%d, %d]> z", c.rows, c.k, c.k, c.n),
			fmt.Sprintf("tensor<fp16, [%d, %d]> y = matmul(x = x, y = z);", c.rows, c.n))
		require.Equal(t, c.want, runnerOf(steps), "%+v", c)
	}
	for n, want := range map[int]string{32: "vectorProduct", 31: "product"} {
		steps := stepsOf(t, fmt.Sprintf("tensor<fp16, [1, 256]> x, tensor<fp16, [%d, 256]> w", n),
			fmt.Sprintf("tensor<fp16, [1, %d]> y = linear(x = x, weight = w);", n))
		require.Equal(t, want, runnerOf(steps), "%d rows", n)
	}
}

// TestPathsOfLines: programs that ask for words add products in parts of rows, others in order.
func TestPathsOfLines(t *testing.T) {
	if !gemm.Strips() {
		t.Skip("the kernel of rows needs AVX2, and no wider one")
	}
	for _, words := range []bool{false, true} {
		text := "program(1.3)\n{ func main<ios18>(tensor<fp16, [1, 256]> x, tensor<fp16, [32, 256]> w) {\n" +
			"tensor<fp16, [1, 32]> y = linear(x = x, weight = w);\n} -> (y); }"
		if words {
			text = strings.Replace(text, "{", fmt.Sprintf("[buildInfo = dict<string, string>({{%q, %q}})]\n{",
				buildinfo.Products, buildinfo.Words), 1)
		}
		x, err := New().Compile(t.Context(), ane.Source{Text: []byte(text)})
		require.NoError(t, err)
		steps := x.(*executable).plan.Steps
		require.Equal(t, words, of(steps, "lines").Bool())
	}
}

// TestPathsOfTables: a step of 4,096 elements looks a function up in a table, one of 256 does so later, a smaller one
// computes it.
func TestPathsOfTables(t *testing.T) {
	const always, later = 0, 1 << 16
	for n, want := range map[int]int64{255: -1, 256: later, 4095: later, 4096: always} {
		for _, op := range []string{"tanh", "exp"} {
			steps := stepsOf(t, fmt.Sprintf("tensor<fp16, [1, %d]> x", n), fmt.Sprintf("tensor<fp16, [1, %d]> y = %s(x = x);",
				n, op))
			table := of(steps, "table").Elem()
			require.Equal(t, want < 0, table.FieldByName("few").Bool(), "%s of %d", op, n)
			require.Equal(t, max(want, 0), table.FieldByName("left").FieldByName("v").Int(), "%s of %d", op, n)
		}
	}
	for n, want := range map[int]bool{3: false, 4: true} {
		steps := stepsOf(t, fmt.Sprintf("tensor<fp16, [1, %[1]d, 32]> q, tensor<fp16, [1, 64, 32]> k", n),
			fmt.Sprintf("tensor<fp16, [1, %d, 32]> y = scaled_dot_product_attention(query = q, key = k, value = k);", n),
			Numerics(numerics.M1))
		require.Equal(t, want, !of(steps, "table").Elem().FieldByName("few").Bool(), "%d x 64 scores", n)
	}
}

// TestPathsOfWeights: a large weight of a convolution with few columns is decoded in each run, others once.
func TestPathsOfWeights(t *testing.T) {
	for _, c := range []struct {
		outputs, columns, groups int
		ahead                    bool
	}{{512, 64, 1, false}, {512, 65, 1, true}, {511, 64, 1, true}, {512, 64, 2, true}, {1024, 64, 2, false}} {
		steps := stepsOf(t, fmt.Sprintf("tensor<fp16, [1, 512, 1, %d]> x", c.columns), fmt.Sprintf(
			"tensor<fp16, [%[1]d, %[3]d, 1, 1]> w = fill(shape = tensor<int32, [4]>([%[1]d, %[3]d, 1, 1]), value = fp16(2));\n"+
				"tensor<fp16, [1, %[1]d, 1, %[2]d]> y = conv(x = x, weight = w, groups = int32(%[4]d));", c.outputs, c.columns,
			512/c.groups, c.groups))
		require.Equal(t, c.ahead, steps[0].In[1].Ahead != nil, "%+v", c)
	}
}

// TestPathsOfRightOperands: a large weight of a product is decoded in each run, others once. A run has the same bits.
func TestPathsOfRightOperands(t *testing.T) {
	for _, c := range []struct {
		n     int
		body  string
		ahead bool
	}{
		{512, "linear(x = x, weight = w)", false}, {511, "linear(x = x, weight = w)", true},
		{512, "matmul(x = x, y = w, transpose_y = bool(true))", false},
		{511, "matmul(x = x, y = w, transpose_y = bool(true))", true},
	} {
		steps := stepsOf(t, "tensor<fp16, [32, 512]> x", fmt.Sprintf("tensor<fp16, [%[1]d, 512]> w = fill(shape = "+
			"tensor<int32, [2]>([%[1]d, 512]), value = fp16(2));\ntensor<fp16, [32, %[1]d]> y = %[2]s;", c.n, c.body))
		require.Equal(t, c.ahead, steps[0].In[1].Ahead != nil, "%+v", c)
	}
}

// TestPathsOfPackedWeights: products and convolutions of one position read weights of up to 8 bits packed.
func TestPathsOfPackedWeights(t *testing.T) {
	for _, c := range []struct {
		params, weight string
		elements       int // of weight
		body           string
		packed         bool
	}{
		{"[2, 64]", "[64, 64]", 4096, "[2, 64]> y = linear(x = x, weight = w);", true},
		{"[1, 64, 1, 32]", "[64, 64, 1, 1]", 4096, "[1, 64, 1, 32]> y = conv(x = x, weight = w);", true},
		{"[1, 64, 1, 32]", "[64, 32, 1, 1]", 2048, "[1, 64, 1, 32]> y = conv(x = x, weight = w, groups = int32(2));",
			false},
		{"[1, 64, 1, 32]", "[64, 64, 1, 2]", 8192, "[1, 64, 1, 31]> y = conv(x = x, weight = w);", false},
		{"[2, 64]", "[64, 64]", 4096, "[2, 64]> y = matmul(x = x, y = w);", true},
		{"[2, 2, 64]", "[2, 64, 64]", 8192, "[2, 2, 64]> y = matmul(x = x, y = w);", false},
	} {
		for _, bits := range []string{"int4", "int8"} {
			ones := strings.Repeat("1, ", strings.Count(c.weight, ",")) + "1"
			list := strings.TrimSuffix(strings.Repeat("3, ", c.elements), ", ")
			steps := stepsOf(t, "tensor<fp16, "+c.params+"> x", "tensor<fp16, "+c.weight+"> w = "+
				"constexpr_blockwise_shift_scale(data = tensor<"+bits+", "+c.weight+">(["+list+"]), scale = tensor<fp16, ["+
				ones+"]>([2]));\ntensor<fp16, "+c.body)
			require.Equal(t, c.packed, steps[len(steps)-1].Packed != nil, "%s of %s", c.body, bits)
		}
	}
}

// TestPathsOfFewColumns: a chip's product of few columns is computed as one of few rows.
func TestPathsOfFewColumns(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		turned        bool
	}{{8, 4, true}, {7, 4, false}, {8, 5, false}, {64, 1, true}} {
		steps := stepsOf(t, fmt.Sprintf("tensor<fp16, [%d, 64]> x, tensor<fp16, [64, %d]> z", c.rows, c.columns),
			fmt.Sprintf("tensor<fp16, [%d, %d]> y = matmul(x = x, y = z);", c.rows, c.columns), Numerics(numerics.M1))
		panels := of(steps, "panels").Elem().Type().String()
		require.Equal(t, c.turned, strings.HasSuffix(panels, ".exchangedPanels"), "%+v: %s", c, panels)
	}
}

// TestPathsOfSeeds: a seed of 0 or more draws the same numbers in each run, and so they are drawn once, when compiling.
func TestPathsOfSeeds(t *testing.T) {
	for seed, steps := range map[int]int{-1: 1, 0: 0, 1: 0} {
		require.Len(t, stepsOf(t, "tensor<fp16, [32]> x", fmt.Sprintf("tensor<fp16, [32]> y = random_uniform(shape = "+
			"tensor<int32, [1]>([32]), low = fp16(0), high = fp16(1), seed = int32(%d));", seed)), steps, "seed %d", seed)
	}
}

// TestPathsOfGreatest: the greatest of lanes side by side is found for rows of them at a time.
func TestPathsOfGreatest(t *testing.T) {
	steps := stepsOf(t, "tensor<fp16, [40, 512]> x", "tensor<fp16, [1, 512]> y = reduce_max(x = x, "+
		"axes = tensor<int32, [1]>([0]), keep_dims = bool(true));")
	require.EqualValues(t, 1, of(steps, "n").Int())
}
