package lint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/engine/emulate"
	"github.com/anekit/anekit/internal/engine/soft"
)

// constantly are statements that compute a tensor c of 64 halves from constants alone, each beyond a limit or against
// a rule of the engine.
var constantly = map[string]string{
	"rank":        lit("k", 1, 2, 2, 2, 2, 4) + view("c", "k"),
	"axis-length": lit("k", 1, 200000) + cut("c", "k"),
	"kernel-width": lit("w", 1, 1, 1, 31) + lit("k", 1, 1, 1, 64) + t16(1, 1, 1, 64) + " d = conv(" + convArgs +
		", weight = w, x = k);\n" + view("c", "d"),
	"conv-3d": lit("w", 1, 1, 1, 1, 1) + lit("k", 1, 1, 1, 1, 64) + t16(1, 1, 1, 1, 64) + " d = conv(dilations = " +
		vec(1, 1, 1) + ", groups = int32(1), pad = " + vec(0, 0, 0, 0, 0, 0) + `, pad_type = string("valid"), strides = ` +
		vec(1, 1, 1) + ", weight = w, x = k);\n" + view("c", "d"),
	"matmul-inner": lit("k", 1, 40000) + lit("m", 40000, 64) + t16(1, 64) + " d = matmul(transpose_x = bool(false), " +
		"transpose_y = bool(false), x = k, y = m);\n" + view("c", "d"),
	"tile-factors": lit("k", 13) + t16(65) + " d = tile(reps = " + vec(5) + ", x = k);\n" + cut("c", "d"),
	"pool-width": lit("k", 1, 1, 1, 80) + t16(1, 1, 1, 64) + " d = max_pool(ceil_mode = bool(false), kernel_sizes = " +
		vec(1, 17) + ", pad = " + vec(0, 0, 0, 0) + `, pad_type = string("valid"), strides = ` + vec(1, 1) + ", x = k);\n" +
		view("c", "d"),
	"channel-pad": lit("k", 1, 63, 1, 1) + t16(1, 64, 1, 1) + ` d = pad(constant_val = fp16(0), mode = string("constant"), ` +
		"pad = " + vec(0, 0, 0, 1, 0, 0, 0, 0) + ", x = k);\n" + view("c", "d"),
	"trigonometry":     lit("k", 64) + t16(64) + " c = sin(x = k);\n",
	"refused-operator": lit("k", 64) + t16(64) + " c = cumsum(x = k);\n",
	"softmax-size":     lit("k", 65) + t16(65) + " d = softmax(axis = int32(0), x = k);\n" + cut("c", "d"),
	"gelu-mode":        lit("k", 64) + t16(64) + " c = gelu(x = k);\n",
	"epsilon-missing":  lit("k", 64) + t16(64) + " c = log(x = k);\n",
	"cast-type": lit("k", 64) + `tensor<int32, [64]> i = cast(dtype = string("int32"), x = k);` + t16(64) +
		` c = cast(dtype = string("fp16"), x = i);` + "\n",
	"einsum-equation": lit("k", 1, 64) + t16(1, 64) + ` d = einsum(equation = string("ab,cb->ab"), values = (k, k));` +
		view("c", "d"),
	"slice-scale": lit("k", 65) + t16(64) + " c = slice_by_index(begin = " + vec(1) + ", end = " + vec(65) +
		", x = k);\n",
	"elementwise": lit("k", 64) + t16(64) + " d = sigmoid(x = k);" + t16(64) + " c = round(x = d);\n",
	"one-hot": "tensor<int32, [1]> k = const()[val = tensor<int32, [1]>([3])];" + t16(1, 64) + " d = one_hot(axis = " +
		"int32(-1), indices = k, off_value = fp16(0), on_value = fp16(1), one_hot_vector_size = int32(64));\n" +
		view("c", "d"),
}

// lit is a constant from a file.
func lit(name string, shape ...int) string { return weightOf(name, 64, shape...) + "\n" }

// view gives a value the shape of c, and cut takes the first elements of its last axis too.
func view(to, from string) string {
	return t16(64) + " " + to + " = reshape(shape = " + vec(64) + ", x = " + from + ");\n"
}

func cut(to, from string) string {
	if from == "d" {
		return t16(64) + " " + to + " = slice_by_size(begin = " + vec(0) + ", size = " + vec(64) + ", x = d);\n"
	}
	return t16(1, 64) + " e = slice_by_size(begin = " + vec(0, 0) + ", size = " + vec(1, 64) + ", x = " + from + ");\n" +
		view(to, "e")
}

// What compiling computes from constants is to every rule like a constant: limits are those of what reaches the engine.
func TestLimitsAreOfWhatReachesTheEngine(t *testing.T) {
	rules := func(body string) map[string]bool {
		text := fn(t16(64)+" x", body+t16(64)+` y = add(x = x, y = c)[name = string("y")];`, "y")
		all := map[string]bool{}
		for _, f := range lint.Text("p.mil", []byte(text), lint.Options{Compilers: chip.Compilers()}) {
			require.NotEqual(t, "types", f.Rule.ID, "%v\n%s", &f, text)
			all[f.Rule.ID] = true
		}
		return all
	}
	plain := rules(lit("c", 64))
	for name, body := range constantly {
		got := rules(body)
		delete(got, "const-name")
		for rule := range got {
			require.True(t, plain[rule], "%s: a constant has no finding %s\n%s", name, rule, body)
		}
	}
}

// The same for the parameters of operators that make weights: a table with two axes more than its weight is none of the
// engine's tensors. Every chip's emulation takes it.
func TestTablesOfWeightsHaveMoreAxes(t *testing.T) {
	for _, groups := range []int{1, 2} {
		text := fn(t16(1, 4, 1, 32)+" x", fmt.Sprintf("tensor<uint4, [4, 4, 1, 1]> q = const()[name = string(\"q\"), val = "+
			"tensor<uint4, [4, 4, 1, 1]>([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])];\n"+
			"%s w = constexpr_lut_to_dense(indices = q, lut = l)[name = string(\"w\")];\n", t16(4, 4, 1, 1))+t16(1, 4, 1, 32)+
			" y = conv("+convArgs+`, weight = w, x = x)[name = string("y")];`, "y")
		table := fmt.Sprintf("%s l = const()[name = string(\"l\"), val = %[1]s([", t16(groups, 1, 1, 1, 16, 1))
		for i := range 16 * groups {
			if i > 0 {
				table += ", "
			}
			table += fmt.Sprint(i)
		}
		text = strings.Replace(text, ") {\n", ") {\n"+table+"])];\n", 1)
		for _, f := range lint.Text("p.mil", []byte(text), lint.Options{Compilers: chip.Compilers()}) {
			require.NotEqual(t, lint.Error, f.Severity, "%v\n%s", &f, text)
		}
		for _, on := range chip.All() {
			e := emulate.New(soft.New(), on, emulate.NewHost())
			x, err := e.Compile(context.Background(), ane.Source{File: "p.mil", Text: []byte(text)})
			require.NoError(t, err, on)
			require.NoError(t, x.Close())
			require.NoError(t, e.Close())
		}
	}
}
