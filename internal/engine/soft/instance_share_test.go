package soft

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// held are weights in memory.
type held map[string][]byte

func (h held) ReadFile(path string) ([]byte, error) {
	if data, ok := h[path]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

// filled returns a weight file with one fp16 entry of n equal elements.
func filled(t testing.TB, n int, bits byte) []byte {
	var w blob.Writer
	_, err := w.Add(mil.FP16, []byte(strings.Repeat(string([]byte{0, bits}), n)), 0)
	require.NoError(t, err)
	return w.Bytes()
}

// layered is a program of matrix products with weight files a.bin, b.bin, c.bin: y = (x
// a + c) b', where b' = transpose(b) * c is folded.
const layered = `program(1.3)
{
func main<ios18>(tensor<fp16, [4, 8]> x) {
tensor<fp16, [8, 8]> a = const()[val = tensor<fp16, [8, 8]>(BLOBFILE(path = string("a.bin"), offset = uint64(64)))];
tensor<fp16, [8, 8]> b = const()[val = tensor<fp16, [8, 8]>(BLOBFILE(path = string("b.bin"), offset = uint64(64)))];
tensor<fp16, [8]> c = const()[val = tensor<fp16, [8]>(BLOBFILE(path = string("c.bin"), offset = uint64(64)))];
tensor<fp16, [4, 8]> s = linear(x = x, weight = a, bias = c);
tensor<fp16, [8, 8]> turned = transpose(x = b, perm = tensor<int32, [2]>([1, 0]));
tensor<fp16, [8, 8]> scaled = mul(x = turned, y = c);
tensor<fp16, [4, 8]> m = matmul(x = s, y = scaled);
tensor<fp16, [4, 8]> y = relu(x = m);
} -> (y);
}`

func compileLayered(t testing.TB) (ane.Engine, *executable) {
	e := New()
	x, err := e.Compile(context.Background(), ane.Source{File: "test.mil", Text: []byte(layered),
		Weights: held{"a.bin": filled(t, 64, 0x3c), "b.bin": filled(t, 64, 0x38), "c.bin": filled(t, 8, 0x34)}})
	require.NoError(t, err)
	return e, x.(*executable)
}

// panelsOf returns the constants that a product has decoded.
func panelsOf(s *step) []float32 { return s.run.(*product).panels.(*matrices).y.packed }

// TestInstanceShares: an unchanged step, constant or decoded constant of an instance is
// the base's memory, even if others change.
func TestInstanceShares(t *testing.T) {
	e, base := compileLayered(t)
	ctx := context.Background()
	linear, folded, relu := 1, 2, 3 // after the gather of x
	require.Equal(t, "linear", base.plan.steps[linear].op)
	require.Equal(t, "matmul", base.plan.steps[folded].op)
	require.Len(t, base.plan.links.nodes, 2, "transpose and mul")
	require.Len(t, panelsOf(&base.plan.steps[linear]), 64)
	for name, c := range map[string]struct {
		own                  held
		linear, bias, folded bool // changed
	}{
		"nothing":        {nil, false, false, false},
		"the same bytes": {held{"a.bin": filled(t, 64, 0x3c), "b.bin": filled(t, 64, 0x38)}, false, false, false},
		"a":              {held{"a.bin": filled(t, 64, 0x30)}, true, false, false},
		"b":              {held{"b.bin": filled(t, 64, 0x30)}, false, false, true},
		"c":              {held{"c.bin": filled(t, 8, 0x30)}, false, true, true},
		"a and b": {held{"a.bin": filled(t, 64, 0x30), "b.bin": filled(t, 64, 0x30),
			"c.bin": filled(t, 8, 0x34)}, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := base.NewInstance(ctx, c.own)
			require.NoError(t, err)
			p, q := base.plan, x.(*executable).plan
			for i := range p.steps {
				changed := i == linear && (c.linear || c.bias) || i == folded && c.folded
				require.Equal(t, !changed, p.steps[i].run == q.steps[i].run, "runner of step %d", i)
				require.Equal(t, !changed, len(p.steps[i].in) == 0 ||
					&p.steps[i].in[0] == &q.steps[i].in[0], "operands of step %d", i)
				require.Nil(t, q.steps[i].decode)
			}
			require.Same(t, &p.in[0], &q.in[0])
			require.Same(t, &p.out[0], &q.out[0])
			require.Equal(t, [2]int{p.scratch, p.work}, [2]int{q.scratch, q.work})
			same := func(i int) bool { return &panelsOf(&p.steps[i])[0] == &panelsOf(&q.steps[i])[0] }
			require.Equal(t, !c.linear, same(linear), "a, decoded")
			require.Equal(t, !c.folded, same(folded), "b', decoded")
			require.Equal(t, !c.linear, &p.steps[linear].in[1].data.raw[0] == &q.steps[linear].in[1].data.raw[0], "a")
			require.Equal(t, !c.bias, &p.steps[linear].in[2].data.raw[0] == &q.steps[linear].in[2].data.raw[0], "c")
			require.Equal(t, p.steps[relu].run, q.steps[relu].run)
			for i, n := range p.links.nodes {
				require.Same(t, n, q.links.nodes[i], "nodes are the base's, not analysed again")
			}
		})
	}
	require.NoError(t, e.Close())
}

// TestPlanKeepsWhatInstancesNeed: a plan keeps the operands of folded nodes that
// instances need again, and no result that only runs read.
func TestPlanKeepsWhatInstancesNeed(t *testing.T) {
	e, base := compileLayered(t)
	l := &base.plan.links
	require.Len(t, l.weights, 3)
	require.Len(t, l.known, 1)
	for v := range l.known {
		require.Equal(t, "turned", v.Name)
	}
	x, err := base.NewInstance(context.Background(), held{"b.bin": filled(t, 64, 0x30)})
	require.NoError(t, err)
	var names []string
	for v := range x.(*executable).plan.links.known {
		names = append(names, v.Name)
	}
	require.ElementsMatch(t, []string{"b", "turned"}, names)
	require.Len(t, l.known, 1, "the base is unchanged")
	require.NoError(t, e.Close())
}

// TestInstanceThatDoesNotFit: an instance that exceeds a budget or workspace of its
// base is an error with a position, not a wrong result. No real operator does that; the
// test provokes it.
func TestInstanceThatDoesNotFit(t *testing.T) {
	e, base := compileLayered(t)
	own := held{"a.bin": filled(t, 64, 0x30), "b.bin": filled(t, 64, 0x30)}
	refused := func(line int, text string) {
		t.Helper()
		x, err := base.NewInstance(context.Background(), own)
		require.Nil(t, x)
		require.ErrorIs(t, err, ane.ErrCompile)
		require.ErrorContains(t, err, fmt.Sprintf("test.mil:%d:", line))
		require.ErrorContains(t, err, text)
	}
	old := limits
	t.Cleanup(func() { limits = old })
	limits.work = 1
	refused(8, "transpose: computing it ahead of the runs exceeds the budget")
	limits = old
	k := base.plan.steps[1].kernel
	base.plan.steps[1].kernel = func(s *step) (runner, int) {
		r, n := k(s)
		return r, n + 1
	}
	refused(7, "linear: its workspace is")
	base.plan.steps[1].kernel = k
	_, err := base.NewInstance(context.Background(), own)
	require.NoError(t, err)
	require.NoError(t, e.Close())
}

// TestInstanceDecodesSameConstants: an instance decodes ahead the same constants as
// its base.
func TestInstanceDecodesSameConstants(t *testing.T) {
	old := limits
	t.Cleanup(func() { limits = old })
	limits.packed = 100 // a, not b'
	e, base := compileLayered(t)
	x, err := base.NewInstance(context.Background(), held{"a.bin": filled(t, 64, 0x30), "b.bin": filled(t, 64, 0x30)})
	require.NoError(t, err)
	for _, p := range []*plan{base.plan, x.(*executable).plan} {
		require.Len(t, panelsOf(&p.steps[1]), 64)
		require.Nil(t, panelsOf(&p.steps[2]))
	}
	require.NoError(t, e.Close())
}
