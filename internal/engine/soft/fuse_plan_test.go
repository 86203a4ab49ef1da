package soft

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/plan"
)

// Bounds of groups, and the columns of a tile of a product.
const bound, tile = 16, 256

// groupsOf compiles a body and returns the operators of each group of its plan, joined by +.
func groupsOf(t *testing.T, params, body, results string, opts ...Option) (groups []string, p *plan.Plan) {
	t.Helper()
	x, err := New(opts...).Compile(t.Context(), ane.Source{Text: []byte("program(1.3)\n{ func main<ios18>(" + params +
		") {\n" + body + "} -> (" + results + "); }")})
	require.NoError(t, err)
	p = x.(*executable).plan
	for _, s := range p.Steps {
		if s.Joined {
			groups[len(groups)-1] += "+" + s.Op
		} else {
			groups = append(groups, s.Op)
		}
	}
	return groups, p
}

// TestGroups: what is fused, and that a value which an output or another operator reads stays.
func TestGroups(t *testing.T) {
	const k, params = "tensor<fp16, [32, 64]> ", "tensor<fp16, [32, 64]> x, tensor<fp16, [32, 64]> z, " +
		"tensor<fp16, [64, 64]> w, tensor<fp16, [64]> b"
	const linear = k + "p = linear(x = x, weight = w, bias = b);\n"
	for name, c := range map[string]struct {
		body, results string
		want          []string
		scratch       int // bytes
	}{
		"chain": {k + "a = relu(x = x);\n" + k + "c = mul(x = a, y = fp16(2));\n" + k + "y = add(x = z, y = c);\n", "y",
			[]string{"relu+mul+add"}, 0},
		"product": {linear + k + "c = add(x = p, y = b);\n" + k + "d = gelu(x = c);\n" + k + "y = add(x = z, y = d);\n",
			"y", []string{"linear+add+gelu+add"}, 0},
		"views": {k + "a = relu(x = x);\n" +
			"tensor<fp16, [2048]> c = reshape(x = a, shape = tensor<int32, [1]>([2048]));\n" +
			"tensor<fp16, [2048]> d = abs(x = c);\n" +
			k + "y = reshape(x = d, shape = tensor<int32, [2]>([32, 64]));\n",
			"y", []string{"relu+abs"}, 0},
		"with itself": {linear + k + "y = mul(x = p, y = p);\n", "y", []string{"linear+mul"}, 0},
		"an output":   {linear + k + "y = relu(x = p);\n", "p, y", []string{"linear", "relu"}, 0},
		"view of output": {linear +
			"tensor<fp16, [2048]> v = reshape(x = p, shape = tensor<int32, [1]>([2048]));\n" + k +
			"y = relu(x = p);\n", "v, y", []string{"linear", "relu"}, 0},
		"two readers": {linear + k + "c = relu(x = p);\n" + k + "y = mul(x = c, y = p);\n", "y",
			[]string{"linear", "relu+mul"}, 4096},
		"broadcast": {"tensor<fp16, [64]> a = relu(x = b);\n" + k + "y = mul(x = a, y = x);\n", "y",
			[]string{"relu", "mul"}, 128},
		"a product before a chain": {k + "a = relu(x = x);\n" + linear + k + "y = mul(x = p, y = a);\n", "y",
			[]string{"relu", "linear+mul"}, 4096},
		"in front of another": {k + "a = relu(x = x);\n" + k + "s = softmax(x = z);\n" + k + "y = mul(x = s, y = a);\n",
			"y", []string{"softmax", "relu+mul"}, 4096},
		"to another size": {k + "a = relu(x = x);\n" +
			"tensor<fp32, [32, 64]> y = cast(x = a, dtype = string(\"fp32\"));\n", "y",
			[]string{"relu", "cast"}, 4096},
	} {
		t.Run(name, func(t *testing.T) {
			got, p := groupsOf(t, params, c.body, c.results)
			require.Equal(t, c.want, got)
			require.Equal(t, c.scratch, p.Scratch)
			apart, q := groupsOf(t, params, c.body, c.results, Unfused())
			require.Len(t, apart, len(p.Steps))
			require.GreaterOrEqual(t, q.Scratch, p.Scratch)
		})
	}
}

// TestTiles: what follows a product computes on its tiles if these are whole rows, otherwise on the whole result.
func TestTiles(t *testing.T) {
	for columns, want := range map[int][]string{tile: {"linear+add+relu"}, tile + 64: {"linear", "add+relu"}} {
		k := fmt.Sprintf("tensor<fp16, [40, %d]> ", columns)
		got, p := groupsOf(t, fmt.Sprintf("tensor<fp16, [40, 32]> x, tensor<fp16, [%[1]d, 32]> w, tensor<fp16, [%[1]d]> b",
			columns), k+"p = linear(x = x, weight = w);\n"+k+"c = add(x = p, y = b);\n"+k+"y = relu(x = c);\n", "y")
		require.Equal(t, want, got)
		require.Zero(t, p.Scratch)
	}
}

// TestStores: a convolution whose tiles are parts of rows does a sum and limits as it stores them, and no more.
func TestStores(t *testing.T) {
	if !halves.Vectors() {
		t.Skip("this machine has no kernel for it")
	}
	const k = "tensor<fp16, [1, 16, 32, 32]> "
	for steps, want := range map[string][]string{
		"add(b) relu6()":        {"conv+add+relu6"},
		"relu() add(b)":         {"conv+relu", "add"},
		"add(b) add(r) relu()":  {"conv+add", "add+relu"},
		"add(b) relu() gelu()":  {"conv+add+relu", "gelu"},
		"gelu() add(b) relu6()": {"conv", "gelu+add+relu6"},
	} {
		body, at := k+"p = conv(x = x, weight = w);\n", "p"
		for i, step := range strings.Fields(steps) {
			step = strings.Replace(strings.Replace(step, "(", "(x = "+at+", y = ", 1), ", y = )", ")", 1)
			at = name(i)
			body += k + at + " = " + step + ";\n"
		}
		got, _ := groupsOf(t, k+"x, tensor<fp16, [16, 16, 1, 1]> w, tensor<fp16, [1, 16, 1, 1]> b, "+k+"r", body, at)
		got = slices.DeleteFunc(got, func(s string) bool { return s == "" }) // copies of inputs and outputs with gaps
		require.Equal(t, want, got)
	}
}

// TestReductionsReadSurfaces: only one that alone reads an input with gaps has no copy of it.
func TestReductionsReadSurfaces(t *testing.T) {
	const x = "tensor<fp16, [1, 4, 7, 7]>"
	mean := "tensor<fp16, [1, 4]> y = reduce_mean(x = x, axes = tensor<int32, [2]>([2, 3]), keep_dims = bool(false));\n"
	got, _ := groupsOf(t, x+" x", mean, "y")
	require.Equal(t, []string{"reduce_mean"}, got)
	got, _ = groupsOf(t, x+" x", mean+x+" z = relu(x = x);\n", "y, z")
	require.Contains(t, got, "") // the copy
	got, _ = groupsOf(t, x+" x", mean, "y", Unfused())
	require.Contains(t, got, "")
}

// TestGroupsAreBounded: a run yields after a group, and a group keeps its operands for few steps.
func TestGroupsAreBounded(t *testing.T) {
	const k = "tensor<fp16, [32, 64]> "
	chain := strings.Repeat(k+"x = relu(x = x);\n", 40)
	for i := range 40 {
		chain = strings.Replace(chain, k+"x = relu(x = x)", k+name(i+1)+" = relu(x = "+name(i)+")", 1)
	}
	groups, _ := groupsOf(t, k+name(0), chain, name(40))
	require.Len(t, groups, 3)
	require.Equal(t, bound, strings.Count(groups[0], "relu"))

	far := func(passed int) []string {
		body := k + "a = relu(x = " + name(0) + ");\n"
		for i := range passed {
			body += k + name(i+1) + " = softmax(x = " + name(i) + ");\n"
		}
		groups, _ := groupsOf(t, k+name(0), body+k+"y = add(x = a, y = "+name(passed)+");\n", "y")
		return groups
	}
	require.True(t, slices.Contains(far(bound), "relu+add"))
	require.False(t, slices.Contains(far(bound+1), "relu+add"))
}

func name(i int) string { return "v" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }
