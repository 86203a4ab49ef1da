package plan

import (
	"context"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
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
func main<ios18>(tensor<fp16, [3, 8]> x) {
tensor<fp16, [8, 8]> a = const()[val = tensor<fp16, [8, 8]>(BLOBFILE(path = string("a.bin"), offset = uint64(64)))];
tensor<fp16, [8, 8]> b = const()[val = tensor<fp16, [8, 8]>(BLOBFILE(path = string("b.bin"), offset = uint64(64)))];
tensor<fp16, [8]> c = const()[val = tensor<fp16, [8]>(BLOBFILE(path = string("c.bin"), offset = uint64(64)))];
tensor<fp16, [3, 8]> s = linear(x = x, weight = a, bias = c);
tensor<fp16, [8, 8]> turned = transpose(x = b, perm = tensor<int32, [2]>([1, 0]));
tensor<fp16, [8, 8]> scaled = mul(x = turned, y = c);
tensor<fp16, [3, 8]> m = matmul(x = s, y = scaled);
tensor<fp16, [3, 8]> y = relu(x = m);
} -> (y);
}`

func compileLayered(t testing.TB) *Plan { return compileWithin(t, Limits(math.MaxInt64, 0)) }

func compileWithin(t testing.TB, b Budget) *Plan {
	p, err := mil.Parse("test.mil", []byte(layered))
	require.NoError(t, err)
	g, err := ops.AnalyzeStored(context.Background(), "test.mil", p, "", held{"a.bin": filled(t, 64, 0x3c),
		"b.bin": filled(t, 64, 0x38), "c.bin": filled(t, 8, 0x34)})
	require.NoError(t, err)
	made, err := Make(context.Background(), g, b, kernels.Arith{Tables: &halves.Tables{}})
	require.NoError(t, err)
	return made
}

// panelsOf returns the constants that a product has decoded.
func panelsOf(s *Step) []float32 { return s.In[1].Ahead }

// TestInstanceShares: an unchanged step, constant or decoded constant of an instance is
// the base's memory, even if others change.
func TestInstanceShares(t *testing.T) {
	base := compileLayered(t)
	ctx := context.Background()
	linear, folded, relu := 1, 2, 3 // after the gather of x
	require.Equal(t, "linear", base.Steps[linear].Op)
	require.Equal(t, "matmul", base.Steps[folded].Op)
	require.Len(t, base.Links.nodes, 2, "transpose and mul")
	require.Len(t, panelsOf(&base.Steps[linear]), 64)
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
			x, err := base.Relink(ctx, c.own)
			require.NoError(t, err)
			p, q := base, x
			for i := range p.Steps {
				changed := i == linear && (c.linear || c.bias) || i == folded && c.folded
				require.Equal(t, !changed, p.Steps[i].Run == q.Steps[i].Run, "runner of step %d", i)
				require.Equal(t, !changed, len(p.Steps[i].In) == 0 ||
					&p.Steps[i].In[0] == &q.Steps[i].In[0], "operands of step %d", i)
			}
			require.Same(t, &p.In[0], &q.In[0])
			require.Same(t, &p.Out[0], &q.Out[0])
			require.Equal(t, [2]int{p.Scratch, p.Work}, [2]int{q.Scratch, q.Work})
			same := func(i int) bool { return &panelsOf(&p.Steps[i])[0] == &panelsOf(&q.Steps[i])[0] }
			require.Equal(t, !c.linear, same(linear), "a, decoded")
			require.Equal(t, !c.folded, same(folded), "b', decoded")
			require.Equal(t, !c.linear, &p.Steps[linear].In[1].Data.Raw[0] == &q.Steps[linear].In[1].Data.Raw[0], "a")
			require.Equal(t, !c.bias, &p.Steps[linear].In[2].Data.Raw[0] == &q.Steps[linear].In[2].Data.Raw[0], "c")
			require.Equal(t, p.Steps[relu].Run, q.Steps[relu].Run)
			for i, n := range p.Links.nodes {
				require.Same(t, n, q.Links.nodes[i], "nodes are the base's, not analysed again")
			}
		})
	}
}

// lent are constants that stay with the caller, one of each path.
type lent map[string][]byte

func (l lent) ReadFile(string) ([]byte, error) { return nil, fs.ErrNotExist }

func (l lent) Constant(path string, _ uint64, _ mil.Type) ([]byte, error) { return l[path], nil }

func (l lent) Hold() (func(), error) { return func() {}, nil }

// TestInstanceComparesNoLargeConstants: an instance reads a large constant that stays with the caller where its own
// weights have it, without comparing. It compares a small one, and shares it.
func TestInstanceComparesNoLargeConstants(t *testing.T) {
	larger := strings.NewReplacer("[8, 8]", "[64, 64]", "[8]", "[64]", "[3, 8]", "[3, 64]")
	program, err := mil.Parse("test.mil", []byte(larger.Replace(layered)))
	require.NoError(t, err)
	made := func() lent {
		return lent{"a.bin": make([]byte, 2*64*64), "b.bin": make([]byte, 2*64*64), "c.bin": make([]byte, 2*64)}
	}
	own, other := made(), made()
	g, err := ops.AnalyzeStored(t.Context(), "test.mil", program, "", own)
	require.NoError(t, err)
	base, err := Make(t.Context(), g, Limits(math.MaxInt64, 0), kernels.Arith{Tables: &halves.Tables{}})
	require.NoError(t, err)
	x, err := base.Relink(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, "linear", base.Steps[0].Op)
	linear := func(p *Plan, operand int) *byte { return &p.Steps[0].In[operand].Data.Raw[0] }
	require.Same(t, &own["a.bin"][0], linear(base, 1))
	require.Same(t, &other["a.bin"][0], linear(x, 1))
	require.Same(t, &own["c.bin"][0], linear(x, 2))
	x, err = base.Relink(t.Context(), own)
	require.NoError(t, err)
	require.Same(t, base.Steps[0].Run, x.Steps[0].Run, "the same memory has not changed")
}

// TestPlanKeepsWhatInstancesNeed: a plan keeps the operands of folded nodes that
// instances need again, and no result that only runs read.
func TestPlanKeepsWhatInstancesNeed(t *testing.T) {
	base := compileLayered(t)
	l := &base.Links
	require.Len(t, l.weights, 3)
	require.Len(t, l.known, 1)
	for v := range l.known {
		require.Equal(t, "turned", v.Name)
	}
	x, err := base.Relink(context.Background(), held{"b.bin": filled(t, 64, 0x30)})
	require.NoError(t, err)
	var names []string
	for v := range x.Links.known {
		names = append(names, v.Name)
	}
	require.ElementsMatch(t, []string{"b", "turned"}, names)
	require.Len(t, l.known, 1, "the base is unchanged")
}

// TestInstanceThatDoesNotFit: an instance that exceeds a budget or workspace of its
// base is an error with a position, not a wrong result. No real operator does that; the
// test provokes it.
func TestInstanceThatDoesNotFit(t *testing.T) {
	base := compileLayered(t)
	own := held{"a.bin": filled(t, 64, 0x30), "b.bin": filled(t, 64, 0x30)}
	refused := func(line int, text string) {
		t.Helper()
		x, err := base.Relink(context.Background(), own)
		require.Nil(t, x)
		var at *mil.Error
		require.ErrorAs(t, err, &at)
		require.Equal(t, line, at.Pos.Line)
		require.ErrorContains(t, err, text)
	}
	base.budget.work = 1
	refused(8, "transpose: computing it ahead of the runs exceeds the budget")
	base.budget.work = 1 << 31
	k := base.Steps[1].kernel
	base.Steps[1].kernel = func(s *kernels.Step) (run.Runner, int) {
		r, n := k(s)
		return r, n + 1
	}
	refused(7, "linear: its workspace is")
	base.Steps[1].kernel = k
	_, err := base.Relink(context.Background(), own)
	require.NoError(t, err)
}

// TestInstanceDecodesSameConstants: an instance decodes ahead the same constants as
// its base.
func TestInstanceDecodesSameConstants(t *testing.T) {
	limits := Limits(math.MaxInt64, 0)
	limits.packed = 100 // a, not b'
	base := compileWithin(t, limits)
	x, err := base.Relink(context.Background(), held{"a.bin": filled(t, 64, 0x30), "b.bin": filled(t, 64, 0x30)})
	require.NoError(t, err)
	for _, p := range []*Plan{base, x} {
		require.Len(t, panelsOf(&p.Steps[1]), 64)
		require.Nil(t, panelsOf(&p.Steps[2]))
	}
}
