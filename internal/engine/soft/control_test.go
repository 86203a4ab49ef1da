package soft_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// control surrounds statements of a function with inputs x and n and the output y.
func control(body string) string {
	return `program(1.3)
{
    func main<ios18>(tensor<fp16, [4, 64]> x, tensor<int32, [1]> n, state<tensor<fp16, [4, 64]>> st) {
` + body + `
    } -> (y);
}`
}

// powers adds and multiplies as often as n says.
const powers = `int32 times = reduce_sum(x = n);
	int32 k, tensor<fp16, [4, 64]> y = while_loop(loop_vars = (int32(0), x))
		test(int32 k, tensor<fp16, [4, 64]> a) { bool m = less(x = k, y = times); } -> (m)
		step(int32 k, tensor<fp16, [4, 64]> a) {
			int32 next = add(x = k, y = int32(1));
			tensor<fp16, [4, 64]> b = add(x = a, y = x);
			tensor<fp16, [4, 64]> c = mul(x = b, y = fp16(0.75));
		} -> (next, c);`

func eighths(n int) []byte {
	x := zeros(mil.FP16, n)
	for i := range x.v {
		x.v[i] = float64(i%17)/8 - 1
	}
	return encode(x)
}

func count(n int) []byte { return le.AppendUint32(nil, uint32(n)) }

// A loop computes what its iterations written one after another compute, in every arithmetic, with one goroutine and
// with several, fused and unfused.
func TestLoopIsItsIterations(t *testing.T) {
	unrolled := "tensor<fp16, [4, 64]> a0 = identity(x = x);\n"
	for i := range 5 {
		unrolled += fmt.Sprintf("tensor<fp16, [4, 64]> b%d = add(x = a%d, y = x);\n", i, i) +
			fmt.Sprintf("tensor<fp16, [4, 64]> a%d = mul(x = b%d, y = fp16(0.75));\n", i+1, i)
	}
	unrolled += "tensor<fp16, [4, 64]> y = identity(x = a5);"
	x := eighths(256)
	for _, m := range numerics.Modes() {
		for _, opts := range [][]soft.Option{nil, {soft.Unfused()}, {soft.Workers(3)}} {
			opts = append(opts, soft.Numerics(m))
			want := evaluateWith(t, control(unrolled), opts, map[string][]byte{"x": x, "n": count(5)}, "y")
			got := evaluateWith(t, control(powers), opts, map[string][]byte{"x": x, "n": count(5)}, "y")
			require.Equal(t, want, got, "%v", m)
			require.Equal(t, x, evaluateWith(t, control(powers), opts, map[string][]byte{"x": x, "n": count(0)}, "y"))
		}
	}
}

func evaluateWith(t *testing.T, text string, opts []soft.Option, in map[string][]byte, out string) []byte {
	t.Helper()
	dev, err := ane.Open(soft.New(opts...), "")
	require.NoError(t, err)
	m, err := dev.Compile(t.Context(), ane.Source{File: "test.mil", Text: []byte(text)})
	require.NoError(t, err)
	s := &stateful{t: t, dev: dev, m: m}
	require.NoError(t, m.Load(t.Context()))
	s.bind()
	defer s.close()
	return s.run(in, out)
}

// An endless loop ends with the context, and the model works afterwards.
func TestEndlessLoopEndsWithTheContext(t *testing.T) {
	s := openStateful(t, control(powers))
	defer s.close()
	for name, data := range map[string][]byte{"x": eighths(256), "n": count(1<<31 - 1)} {
		_, err := s.r.Input(name).Write(data)
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := s.r.Evaluate(ctx)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.NotEmpty(t, s.run(map[string][]byte{"n": count(2)}, "y"))
}

// A state that a loop reads and writes has in each iteration what the one before wrote.
func TestStateInALoop(t *testing.T) {
	s := openStateful(t, control(`int32 times = reduce_sum(x = n);
	tensor<fp16, [4, 64]> before = read_state(input = st);
	int32 k, tensor<fp16, [4, 64]> all = while_loop(loop_vars = (int32(0), before))
		test(int32 k, tensor<fp16, [4, 64]> a) { bool m = less(x = k, y = times); } -> (m)
		step(int32 k, tensor<fp16, [4, 64]> a) {
			int32 next = add(x = k, y = int32(1));
			tensor<fp16, [4, 64]> now = read_state(input = st);
			tensor<fp16, [4, 64]> sum = add(x = now, y = x);
			tensor<fp16, [4, 64]> kept = coreml_update_state(state = st, value = sum);
			tensor<fp16, [4, 64]> more = add(x = a, y = before);
		} -> (next, more);
	tensor<fp16, [4, 64]> after = read_state(input = st);
	tensor<fp16, [4, 64]> y = sub(x = after, y = all);`))
	defer s.close()
	x := zeros(mil.FP16, 256)
	for i := range x.v {
		x.v[i] = 1
	}
	in := map[string][]byte{"x": encode(x), "n": count(3)}
	for run, want := range []float64{3, 6 - 3*4, 9 - 6*4} { // the state after, less four times the one before
		got := halfValue(le.Uint16(s.run(in, "y")))
		require.Equal(t, want, got, "run %d", run)
	}
}

// An index beyond a list is a fault of the evaluation.
func TestListsDoNotGrow(t *testing.T) {
	s := openStateful(t, control(`int32 at = reduce_sum(x = n);
	list<tensor<fp16, [4, 64]>, 2> l = make_list(init_length = int32(2), elem_shape = (int32(4), int32(64)),
		dtype = string("fp16"));
	list<tensor<fp16, [4, 64]>, 2> m = list_write(ls = l, index = at, value = x);
	tensor<fp16, [2, 4, 64]> all = list_gather(ls = m, indices = tensor<int32, [2]>([0, 1]));
	tensor<fp16, [4, 64]> y = reduce_sum(x = all, axes = tensor<int32, [1]>([0]));`))
	defer s.close()
	x := eighths(256)
	require.Equal(t, x, s.run(map[string][]byte{"x": x, "n": count(1)}, "y"))
	_, err := s.r.Input("n").Write(count(2))
	require.NoError(t, err)
	_, err = s.r.Evaluate(t.Context())
	require.ErrorIs(t, err, ane.ErrShape)
	require.ErrorContains(t, err, "index 2 of an axis of length 2")
}

// Evaluations of a loop allocate nothing after the first.
func TestLoopsAllocateNothing(t *testing.T) {
	s := openStateful(t, control(powers))
	defer s.close()
	s.run(map[string][]byte{"x": eighths(256), "n": count(100)}, "y")
	few := testing.AllocsPerRun(5, func() { _, _ = s.r.Evaluate(context.Background()) })
	_, err := s.r.Input("n").Write(count(1))
	require.NoError(t, err)
	require.Equal(t, testing.AllocsPerRun(5, func() { _, _ = s.r.Evaluate(context.Background()) }), few)
}

// What does not fit a block is refused with its place.
func TestRefusedBlocks(t *testing.T) {
	loop := func(test, step string) string {
		return "int32 k, tensor<fp16, [4, 64]> y = while_loop(loop_vars = (int32(0), x)) " + test + step + ";"
	}
	const test = "t(int32 k, tensor<fp16, [4, 64]> a) { bool m = less(x = k, y = int32(3)); } -> (m) "
	for name, c := range map[string]struct{ body, want string }{
		"shape changes": {loop(test, "s(int32 k, tensor<fp16, [4, 64]> a) { tensor<fp16, [4, 128]> b = concat("+
			"values = (a, a), axis = int32(1), interleave = bool(false)); } -> (k, b)"),
			"b: tensor<fp16, [4, 128]> where tensor<fp16, [4, 64]> is expected; a loop variable has one type and shape"},
		"type changes": {loop(test, `s(int32 k, tensor<fp16, [4, 64]> a) { tensor<fp32, [4, 64]> b = cast(x = a, `+
			`dtype = string("fp32")); } -> (k, b)`), "b: tensor<fp32, [4, 64]> where"},
		"condition": {loop("t(int32 k, tensor<fp16, [4, 64]> a) { int32 m = add(x = k, y = k); } -> (m) ",
			"s(int32 k, tensor<fp16, [4, 64]> a) {} -> (k, a)"), "int32 is no single bool"},
		"parameters": {loop("t(int32 k) { bool m = less(x = k, y = int32(3)); } -> (m) ",
			"s(int32 k, tensor<fp16, [4, 64]> a) {} -> (k, a)"), "block 1 has 1 parameters for 2"},
		"parameter type": {loop(strings.Replace(test, "fp16", "fp32", 1),
			"s(int32 k, tensor<fp16, [4, 64]> a) {} -> (k, a)"), "a: Expected tensor<fp16, [4, 64]>"},
		"results":   {loop(test, "s(int32 k, tensor<fp16, [4, 64]> a) {} -> (k)"), "block 2 returns 1 values, not 2"},
		"one block": {loop(test, ""), "1 blocks, 2 expected"},
		"branches": {"bool p = less(x = int32(1), y = int32(2)); tensor<fp16, [4, 64]> y = cond(pred = p) " +
			"yes() {} -> (x) no() { tensor<fp16, [4, 1]> b = reduce_sum(x = x, axes = tensor<int32, [1]>([1]), " +
			"keep_dims = bool(true)); } -> (b);", "b: tensor<fp16, [4, 1]> where tensor<fp16, [4, 64]> is expected"},
		"pred": {"tensor<fp16, [4, 64]> y = cond(pred = x) yes() {} -> (x) no() {} -> (x);", "pred"},
		"fault within": {loop(test, "s(int32 k, tensor<fp16, [4, 64]> a) { tensor<fp16, [4, 64]> b = frob(x = a); } "+
			"-> (k, b)"), "unknown operator frob"},
		"blocks of another": {"tensor<fp16, [4, 64]> y = relu(x = x) yes() {} -> (x);",
			"blocks in a statement that takes none"},
		"a list as output": {`list<tensor<fp16, [4]>, 1> y = make_list(elem_shape = (int32(4)), ` +
			`dtype = string("fp16"));`, "output y is a list"},
		"a list as operand": {`list<tensor<fp16, [4]>, 1> l = make_list(elem_shape = (int32(4)), ` +
			`dtype = string("fp16")); tensor<fp16, [1, 4]> y = relu(x = l);`, "a list where a tensor is expected"},
		"an open list": {`list<tensor<fp16, [?]>, 1> l = make_list(elem_shape = (string("n")), ` +
			`dtype = string("fp16")); tensor<fp16, [?]> y = list_read(ls = l, index = int32(0));`,
			"does not follow from a write"},
	} {
		t.Run(name, func(t *testing.T) {
			dev, err := ane.Open(soft.New(), "")
			require.NoError(t, err)
			_, err = dev.Compile(t.Context(), ane.Source{File: "test.mil", Text: []byte(control(c.body))})
			require.ErrorIs(t, err, ane.ErrCompile)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "test.mil:")
			require.NoError(t, dev.Close())
		})
	}
}

// A tensor_buffer has its strides on the surface.
func TestTensorBuffersHaveTheirStrides(t *testing.T) {
	const typ = "tensor_buffer<fp16, shape=[1, 4, 2, 8], strides=[512, 128, 32, 1], interleave_factors=[1, 1, 1, 1]>"
	s := openStateful(t, `program(1.3)
{
    func main<ios18>(`+typ+` x) {
        tensor<fp16, [1, 4, 2, 8]> t = tensor_buffer_to_tensor<ios17>(input = x);
        tensor<fp16, [1, 4, 2, 8]> d = mul(x = t, y = fp16(2));
        `+typ+` y = tensor_to_tensor_buffer<ios17>(input = d, interleave_factors = tensor<uint8, [4]>([1, 1, 1, 1]),
            strides = tensor<int64, [4]>([512, 128, 32, 1]));
    } -> (y);
}`)
	defer s.close()
	for _, l := range []ane.Layout{s.r.Input("x").Layout(), s.r.Output("y").Layout()} {
		require.Equal(t, []int{1024, 256, 64}, []int{l.BatchStride, l.PlaneStride, l.RowStride})
	}
	x := zeros(mil.FP16, 64)
	for i := range x.v {
		x.v[i] = float64(i)
	}
	want := zeros(mil.FP16, 64)
	for i := range want.v {
		want.v[i] = 2 * x.v[i]
	}
	require.Equal(t, encode(want), s.run(map[string][]byte{"x": encode(x)}, "y"))
}
