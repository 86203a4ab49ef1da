package soft

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
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

	small, err := e.CompileWithin(context.Background(), ane.Source{Text: []byte(folds)}, size)
	require.NoError(t, err)
	less, more, _ := small.(measured).Footprint()
	require.Less(t, less, int64(size), "a constant of %d bytes does not fit into half of them", size)
	require.Greater(t, more, loaded, "every run computes it")
}
