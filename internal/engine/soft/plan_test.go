package soft_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// graph builds a random program and the values it computes: the references keep
// each value in its own memory.
type graph struct {
	r      *rand.Rand
	params []string
	body   []string
	in     map[string][]byte
	values map[string]nd
	names  []string // in the order of definition
	fresh  map[string]bool
}

func newGraph(r *rand.Rand) *graph {
	return &graph{r: r, in: map[string][]byte{}, values: map[string]nd{}, fresh: map[string]bool{}}
}

// define adds a value under a new name.
func (g *graph) define(x nd) string {
	name := fmt.Sprintf("v%d", len(g.names))
	g.names = append(g.names, name)
	g.values[name] = x
	return name
}

func (g *graph) input(x nd) {
	name := g.define(x)
	g.params = append(g.params, tensorType(x.d, x.shape)+" "+name)
	g.in[name] = encode(x)
}

func (g *graph) constant(x nd) {
	name := g.define(x)
	g.body = append(g.body, fmt.Sprintf("%s %s = const()[name = string(%q), val = %s];", tensorType(x.d, x.shape), name,
		name, x.literal()))
}

// add writes a statement and its results.
func (g *graph) add(call string, results ...nd) {
	var list []string
	for _, x := range results {
		for i, f := range x.v { // stored values are rounded
			x.v[i] = load(x.d, store(x.d, f))
		}
		name := g.define(x)
		g.fresh[name] = true
		list = append(list, tensorType(x.d, x.shape)+" "+name)
	}
	g.body = append(g.body, strings.Join(list, ", ")+" = "+call+";")
}

// any returns a random value, more often a late one, so that lifetimes differ.
func (g *graph) any() (string, nd) {
	k := g.r.IntN(len(g.names))
	if g.r.IntN(2) == 0 {
		k = max(k, g.r.IntN(len(g.names)))
	}
	return g.names[k], g.values[g.names[k]]
}

// grow adds one random operation.
func (g *graph) grow() {
	name, x := g.any()
	rank := len(x.shape)
	switch g.r.IntN(9) {
	case 0, 1: // with itself, with a value of its shape, or with a transposed one
		other := name
		for _, n := range g.names {
			if slices.Equal(g.values[n].shape, x.shape) && g.r.IntN(2) == 0 {
				other = n
			}
		}
		y, sum := g.values[other], zeros(x.d, x.shape...)
		op := []string{"add", "sub", "mul", "maximum"}[g.r.IntN(4)]
		for i := range sum.v {
			sum.v[i] = arithmetic[op](x.v[i], y.v[i])
		}
		g.add(fmt.Sprintf("%s(x = %s, y = %s)", op, name, other), sum)
	case 2:
		perm := g.r.Perm(rank)
		shape := make([]int, rank)
		for i, a := range perm {
			shape[i] = x.shape[a]
		}
		y := zeros(x.d, shape...)
		each(shape, func(i []int) {
			from := make([]int, rank)
			for k, a := range perm {
				from[a] = i[k]
			}
			y.set(x.at(from...), i...)
		})
		g.add(fmt.Sprintf("transpose(x = %s, perm = %s)", name, intVec(perm...)), y)
	case 3, 4: // views, also of views
		shape := []int{volume(x.shape)}
		if shape[0]%2 == 0 && g.r.IntN(2) == 0 {
			shape = []int{2, shape[0] / 2}
		} else if g.r.IntN(2) == 0 {
			shape = []int{1, shape[0], 1}
		}
		g.add(fmt.Sprintf("reshape(x = %s, shape = %s)", name, intVec(shape...)), nd{x.d, shape, slices.Clone(x.v)})
	case 5, 6:
		axis := g.r.IntN(rank)
		if volume(x.shape) > 2000 {
			return
		}
		shape := slices.Clone(x.shape)
		shape[axis] *= 2
		y := zeros(x.d, shape...)
		each(shape, func(i []int) {
			j := slices.Clone(i)
			j[axis] %= x.shape[axis]
			y.set(x.at(j...), i...)
		})
		g.add(fmt.Sprintf("concat(values = (%s, %s), axis = int32(%d), interleave = bool(false))", name, name, axis), y)
	case 7:
		axis := g.r.IntN(rank)
		n := x.shape[axis]
		if n < 2 {
			return
		}
		k := 1 + g.r.IntN(n-1)
		g.add(fmt.Sprintf("split(x = %s, split_sizes = %s, axis = int32(%d))", name, intVec(k, n-k), axis),
			cut(x, axis, 0, 1, k), cut(x, axis, k, 1, n-k))
	case 8:
		y := zeros(x.d, x.shape...)
		for i, f := range x.v {
			y.v[i] = max(f, 0)
		}
		g.add(fmt.Sprintf("relu(x = %s)", name), y)
	}
}

// text returns the program with these results.
func (g *graph) text(results []string) string {
	return "program(1.3)\n{\nfunc main<ios18>(" + strings.Join(g.params, ", ") + ") {\n" + strings.Join(g.body, "\n") +
		"\n} -> (" + strings.Join(results, ", ") + ");\n}\n"
}

// TestRandomGraphs compares the planned engine with values that never share
// memory: two live values that overlap would differ.
func TestRandomGraphs(t *testing.T) {
	rounds := effort.Cases(250)
	for round := range rounds {
		g := newGraph(rand.New(rand.NewPCG(uint64(round), 11)))
		for range 1 + g.r.IntN(3) {
			g.input(fill(g.r, mil.FP16, randomShape(g.r, 1, 4)...))
		}
		if g.r.IntN(2) == 0 {
			g.constant(fill(g.r, mil.FP16, 1+g.r.IntN(40)))
		}
		for len(g.fresh) == 0 || len(g.names) < 6+g.r.IntN(40) {
			g.grow()
		}
		var results []string
		for _, n := range g.names { // computed values, used later or not, views or not
			if g.fresh[n] && (g.r.IntN(4) == 0 || n == g.names[len(g.names)-1]) {
				results = append(results, n)
			}
		}
		got := evaluate(t, g.text(results), g.in)
		for _, n := range results {
			want := encode(g.values[n])
			for i := range g.values[n].v {
				a, b := got[n][2*i:2*i+2], want[2*i:2*i+2]
				if string(a) != string(b) && !(isNaN(mil.FP16, a) && isNaN(mil.FP16, b)) {
					t.Fatalf("round %d, %s element %d: got %x, want %x\n%s", round, n, i, a, b, clip(g.text(results)))
				}
			}
		}
	}
}

// TestOutputs covers results that are views, duplicates, constants or operands
// of other operations.
func TestOutputs(t *testing.T) {
	const one = "tensor<fp16, [1, 4]>([1, 2, 3, 4])"
	for name, c := range map[string]struct {
		params, body, results string
		in                    []float64
		want                  map[string][]float64
	}{
		"two views of one value": {"tensor<fp16, [2, 2]> x", `tensor<fp16, [2, 2]> a = add(x = x, y = x);
tensor<fp16, [4]> y = reshape(x = a, shape = tensor<int32, [1]>([4]));
tensor<fp16, [1, 4]> z = reshape(x = a, shape = tensor<int32, [2]>([1, 4]));`, "y, z", []float64{1, 2, 3, 4},
			map[string][]float64{"y": {2, 4, 6, 8}, "z": {2, 4, 6, 8}}},
		"a value and its view": {"tensor<fp16, [2, 2]> x", `tensor<fp16, [2, 2]> a = add(x = x, y = x);
tensor<fp16, [4]> y = reshape(x = a, shape = tensor<int32, [1]>([4]));`, "y, a", []float64{1, 2, 3, 4},
			map[string][]float64{"y": {2, 4, 6, 8}, "a": {2, 4, 6, 8}}},
		"view of an input": {"tensor<fp16, [2, 2]> x",
			`tensor<fp16, [4]> y = reshape(x = x, shape = tensor<int32, [1]>([4]));
tensor<fp16, [1, 4]> z = expand_dims(x = y, axes = tensor<int32, [1]>([0]));`, "z, y", []float64{1, 2, 3, 4},
			map[string][]float64{"y": {1, 2, 3, 4}, "z": {1, 2, 3, 4}}},
		"view of a packed input": {"tensor<fp16, [4]> x",
			`tensor<fp16, [1, 4]> y = expand_dims(x = x, axes = tensor<int32, [1]>([0]));`,
			"y", []float64{1, 2, 3, 4}, map[string][]float64{"y": {1, 2, 3, 4}}},
		"output used later": {"tensor<fp16, [4]> x", `tensor<fp16, [4]> a = add(x = x, y = x);
tensor<fp16, [4]> b = mul(x = a, y = a);
tensor<fp16, [4]> c = sub(x = b, y = a);`, "a, b, c", []float64{1, 2, 3, 4},
			map[string][]float64{"a": {2, 4, 6, 8}, "b": {4, 16, 36, 64}, "c": {2, 12, 30, 56}}},
		"constants": {"tensor<fp16, [4]> x", "tensor<fp16, [1, 4]> k = const()[val = " + one + `];
tensor<fp16, [1, 4]> y = add(x = k, y = k);
tensor<fp16, [4]> z = squeeze(x = y);
tensor<fp16, [4, 1]> w = transpose(x = k, perm = tensor<int32, [2]>([1, 0]));
tensor<fp16, [4]> s = reshape(x = k, shape = tensor<int32, [1]>([4]));`, "y, z, w, s", []float64{9, 9, 9, 9},
			map[string][]float64{"y": {2, 4, 6, 8}, "z": {2, 4, 6, 8}, "w": {1, 2, 3, 4}, "s": {1, 2, 3, 4}}},
		"dead code": {"tensor<fp16, [4]> x", `tensor<fp16, [4]> dead = mul(x = x, y = x);
tensor<fp16, [2]> left, tensor<fp16, [2]> right = split(x = x, num_splits = int32(2), axis = int32(0));
tensor<fp16, [4]> deader = relu(x = dead);`, "right", []float64{1, 2, 3, 4}, map[string][]float64{"right": {3, 4}}},
		"chain of views": {"tensor<fp16, [2, 2]> x",
			`tensor<fp16, [4]> a = reshape(x = x, shape = tensor<int32, [1]>([4]));
tensor<fp16, [4, 1]> b = expand_dims(x = a, axes = tensor<int32, [1]>([-1]));
tensor<fp16, [4]> c = squeeze(x = b);
tensor<fp16, [4]> y = add(x = c, y = a);`, "y, b", []float64{1, 2, 3, 4}, map[string][]float64{"y": {2, 4, 6, 8}, "b": {1, 2, 3, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			text := "program(1.3)\n{\nfunc main<ios18>(" + c.params + ") {\n" + c.body + "\n} -> (" + c.results +
				");\n}"
			for range 3 { // once on each kind of memory
				got := evaluate(t, text, map[string][]byte{"x": encode(nd{mil.FP16, []int{len(c.in)}, c.in})})
				for out, want := range c.want {
					require.Equal(t, encode(nd{mil.FP16, []int{len(want)}, want}), got[out], out)
				}
			}
		})
	}
}

// TestUnusedInputs binds inputs that the program never reads, padded or not.
func TestUnusedInputs(t *testing.T) {
	text := `program(1.3)
{
func main<ios18>(tensor<fp16, [3, 5]> padded, tensor<fp16, [32]> packed, tensor<fp16, [2]> x) {
tensor<fp16, [2]> y = relu(x = x);
} -> (y);
}`
	got := evaluate(t, text, map[string][]byte{"x": encode(nd{mil.FP16, []int{2}, []float64{-1, 2}}),
		"padded": make([]byte, 30), "packed": make([]byte, 64)})
	require.Equal(t, encode(nd{mil.FP16, []int{2}, []float64{0, 2}}), got["y"])
}

// TestNoInputs runs a program that has only constants.
func TestNoInputs(t *testing.T) {
	got := evaluate(t, `program(1.3)
{
func main<ios18>() {
fp16 y = add(x = fp16(1), y = fp16(2));
} -> (y);
}`, nil)
	require.Equal(t, encode(nd{mil.FP16, nil, []float64{3}}), got["y"])
}
