package soft

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/numerics"
)

// folds computes a constant of 1 MiB ahead of the runs, and has intermediate values of another.
const folds = `program(1.3)
{
func main<ios18>(tensor<fp16, [512, 1024]> x) {
tensor<fp16, [1, 1]> z = const()[name = string("z"), val = tensor<fp16, [1, 1]>([[2]])];
tensor<fp16, [512, 1024]> a = pad(x = z, pad = tensor<int32, [4]>([0, 511, 0, 1023]), mode = string("constant"),
    constant_val = fp16(2));
tensor<fp16, [512, 1024]> b = mul(x = a, y = a);
tensor<fp16, [512, 1024]> c = add(x = x, y = b); // read twice, and so not fused away
tensor<fp16, [512, 1024]> y = softmax(x = c);
} -> (y);
}`

type measured interface {
	Footprint() (held, loaded, bound int64)
}

// TestFootprint: a program tells what it takes, and compiles within what it may take.
func TestFootprint(t *testing.T) {
	const size = 1 << 20
	e := New().(*engine)
	x, err := e.Compile(context.Background(), ane.Source{Text: []byte(folds)})
	require.NoError(t, err)
	held, loaded, bound := x.(measured).Footprint()
	require.GreaterOrEqual(t, held, int64(size))
	require.GreaterOrEqual(t, loaded, int64(size))
	require.NotZero(t, bound)

	small, err := e.CompileMode(context.Background(), ane.Source{Text: []byte(folds)}, size, numerics.Reference)
	require.NoError(t, err)
	less, more, _ := small.(measured).Footprint()
	require.Less(t, less, int64(size), "a constant of %d bytes does not fit into half of them", size)
	require.Greater(t, more, loaded, "every run computes it")
}

// TestFootprintHoldsWithMoreProcessors: what a program tells stays true when there are more processors than it was
// compiled for.
func TestFootprintHoldsWithMoreProcessors(t *testing.T) {
	const product = `program(1.3)
{
func main<ios18>(tensor<fp16, [256, 1024]> x, tensor<fp16, [1024, 256]> w) {
tensor<fp16, [256, 256]> y = matmul(x = x, y = w);
} -> (y);
}`
	ctx := context.Background()
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	e := New().(*engine)
	src := ane.Source{Text: []byte(product)}
	x, err := e.CompileMode(ctx, src, 1<<20, numerics.Reference)
	require.NoError(t, err)
	imitating, err := e.CompileMode(ctx, src, 1<<20, numerics.Reference)
	require.NoError(t, err)
	free, err := e.Compile(ctx, src)
	require.NoError(t, err)
	_, told, _ := x.(measured).Footprint()
	_, one, _ := free.(measured).Footprint()
	runtime.GOMAXPROCS(4)
	_, now, _ := x.(measured).Footprint()
	require.Equal(t, told, now)
	_, now, _ = imitating.(measured).Footprint()
	require.Equal(t, told, now)
	_, more, _ := free.(measured).Footprint()
	require.Greater(t, more, one, "a program of Compile follows the processors")

	require.NoError(t, x.Load(ctx))
	defer func() { require.NoError(t, x.Unload(ctx)) }()
	run := x.(*executable)
	require.EqualValues(t, told, len(run.rooms.any().work)*run.plan.Work)
}

// TestFootprintOfStates: states take memory from Load to Unload, beside the intermediate values.
func TestFootprintOfStates(t *testing.T) {
	x, err := New().Compile(t.Context(), ane.Source{Text: []byte(`program(1.3)
{
func main<ios18>(state<tensor<fp16, [512, 1024]>> s, tensor<fp16, [512, 1024]> x) {
tensor<fp16, [512, 1024]> a = read_state(input = s);
tensor<fp16, [512, 1024]> b = softmax(x = x);
tensor<fp16, [512, 1024]> y = add(x = a, y = b);
} -> (y);
}`)})
	require.NoError(t, err)
	_, loaded, _ := x.(measured).Footprint()
	plan := x.(*executable).plan
	require.GreaterOrEqual(t, plan.States, 1<<20)
	require.GreaterOrEqual(t, loaded, int64(plan.States+plan.Scratch))
}

// TestFootprintOfDecodedWeights: what compiling decodes ahead of the runs stays within half of the room.
func TestFootprintOfDecodedWeights(t *testing.T) {
	const elements = 256 * 256
	src := ane.Source{Text: []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [1, 256, 1, 80]> x) {
tensor<fp16, [256, 256, 1, 1]> w = fill(shape = tensor<int32, [4]>([256, 256, 1, 1]), value = fp16(2));
tensor<fp16, [1, 256, 1, 80]> y = conv(x = x, weight = w);
} -> (y);
}`)}
	for _, c := range []struct {
		room int64
		held int64 // besides the steps
	}{{8 * elements, (2 + 4) * elements}, {8*elements - 8, 2 * elements}, {4*elements - 2, 0}} {
		x, err := New().(*engine).CompileMode(t.Context(), src, c.room, numerics.Reference)
		require.NoError(t, err)
		held, _, _ := x.(measured).Footprint()
		require.Equal(t, c.held, held-int64(len(x.(*executable).plan.Steps))*stepBytes, "room of %d", c.room)
	}
}
