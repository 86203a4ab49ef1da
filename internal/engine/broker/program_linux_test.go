//go:build !macrules

package broker

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// source writes a program of one statement.
func source(name, in, out, body string) ane.Source {
	text := `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}, ` +
		`{"coremlc-version", "3505.4.1"}, ` +
		`{"coremltools-component-milinternal", ""}, {"coremltools-version", "9.0"}})]
{
    func main<ios18>(` + in + ` x) {
` + body + `
    } -> (` + out + `);
}
`
	return ane.Source{File: name + ".mil", Text: []byte(text)}
}

// negation maps x to -x.
func negation() ane.Source {
	const shape = "tensor<fp16, [1, 2, 3, 32]>"
	return source("negation", shape, "y", shape+` y = mul(x = x, y = fp16(-0x1p+0))[name = string("y")];`)
}

// lastRow takes one row out of planes of 32 KiB, so that its work does not depend on
// the size of x.
func lastRow(bytes int) ane.Source {
	planes := bytes / (32 << 10)
	return source("row", fmt.Sprintf("tensor<fp16, [1, %d, 512, 32]>", planes), "y",
		fmt.Sprintf(`tensor<int32, [4]> begin = const()[name = string("begin"), val = tensor<int32, [4]>([0, %d, 511, 0])];
tensor<int32, [4]> size = const()[name = string("size"), val = tensor<int32, [4]>([1, 1, 1, 32])];
tensor<fp16, [1, 1, 1, 32]> y = slice_by_size(x = x, begin = begin, size = size)[name = string("y")];`, planes-1))
}

// endless multiplies a matrix with itself so often that no test waits for it.
func endless() ane.Source { return long(1024) }

// square is the type of the values of long and endless.
const square = "tensor<fp16, [1, 1, 1024, 1024]>"

// long multiplies a matrix with itself some times, each of which takes tens of milliseconds.
func long(times int) ane.Source {
	body := ""
	from := "x"
	for i := range times {
		to := fmt.Sprintf("y%d", i)
		body += fmt.Sprintf("%s %s = matmul(x = %s, y = x, transpose_x = bool(false), "+
			"transpose_y = bool(false))[name = string(\"%s\")];\n", square, to, from, to)
		from = to
	}
	return source("endless", square, from, body)
}

// rig is an open engine with one program, bound.
type rig struct {
	engine  ane.Engine
	device  *ane.Device
	model   *ane.Model
	in, out *ane.Tensor
	request *ane.Request
}

// memory opens a tensor.
func memory(t testing.TB, l ane.Layout) *ane.Tensor {
	b, err := unimem.Open(l.Bytes())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	x, err := ane.OnBlock(b, l)
	require.NoError(t, err)
	return x
}

// newRig opens the engine and whatever else src needs; everything is closed, in
// order, when the test ends.
func newRig(t testing.TB, o Options, src ane.Source) *rig {
	ctx := context.Background()
	e, err := Open(ctx, o)
	require.NoError(t, err)
	r := &rig{engine: e}
	r.device, err = ane.Open(e, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.device.Close()) })
	r.model, err = r.device.Compile(ctx, src)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.model.Close(ctx)) })
	require.NoError(t, r.model.Load(ctx))
	r.in, r.out = memory(t, r.model.Inputs()[0]), memory(t, r.model.Outputs()[0])
	r.request, err = r.bind(r.in, r.out)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.request.Close()) })
	return r
}

func (r *rig) bind(in, out *ane.Tensor) (*ane.Request, error) {
	return r.model.Bind(map[string]*ane.Tensor{r.model.Inputs()[0].Name: in},
		map[string]*ane.Tensor{r.model.Outputs()[0].Name: out})
}

// run evaluates once.
func (r *rig) run(ctx context.Context) error {
	_, err := r.model.Evaluate(ctx, r.request)
	return err
}

// negates runs the negation of n and says whether it came.
func (r *rig) negates(t testing.TB, n float32) {
	t.Helper()
	require.NoError(t, r.negate(context.Background(), n))
}

func (r *rig) negate(ctx context.Context, n float32) error {
	f := make([]float32, r.in.Layout().Elements())
	for i := range f {
		f[i] = n
	}
	if _, err := r.in.WriteFloat32(f); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	if _, err := r.out.ReadFloat32(f); err != nil {
		return err
	}
	for i, got := range f {
		if got != -n {
			return fmt.Errorf("element %d is %v, want %v", i, got, -n)
		}
	}
	return nil
}

// link is the present link of the engine.
func (r *rig) link(t testing.TB) *link {
	s, err := r.engine.(*engine).link(t.Context())
	require.NoError(t, err)
	return s
}

// pid is the process that the request runs in.
func (r *rig) pid(t testing.TB) int { return r.link(t).child.cmd.Process.Pid }

// starts is how often the engine has reached a broker.
func starts(e ane.Engine) int {
	x := e.(*engine)
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.starts
}
