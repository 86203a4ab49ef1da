package faulty_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// TestMain fails a run that leaves anything open, whatever the results of its
// tests.
func TestMain(m *testing.M) { leaktest.Main(m) }

const sum = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 3, 5]> a, tensor<fp16, [1, 1, 3, 5]> b) {
        tensor<fp16, [1, 1, 3, 5]> d = sub(x = a, y = b)[name = string("d")];
        tensor<fp16, [1, 1, 3, 5]> s = add(x = a, y = b)[name = string("s")];
    } -> (d, s);
}`

// bench is a program bound on an engine.
type bench struct {
	model   *ane.Model
	request *ane.Request
	tensors map[string]*ane.Tensor
	blocks  []*unimem.Block
}

// bind runs the whole path on a faulty engine. The test closes everything at
// its end, the memory last.
func bind(t *testing.T, f faulty.Fault) *bench {
	t.Helper()
	ctx := context.Background()
	d, err := ane.Open(faulty.Wrap(soft.New(), f), "")
	require.NoError(t, err)
	m, err := d.Compile(ctx, ane.Source{Text: []byte(sum)})
	require.NoError(t, err)
	require.NoError(t, m.Load(ctx))
	b := &bench{model: m, tensors: map[string]*ane.Tensor{}}
	for _, l := range append(m.Inputs(), m.Outputs()...) {
		block, err := unimem.Open(l.Bytes())
		require.NoError(t, err)
		b.blocks = append(b.blocks, block)
		x, err := ane.OnBlock(block, l)
		require.NoError(t, err)
		b.tensors[l.Name] = x
	}
	in, out := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
	for _, l := range m.Inputs() {
		in[l.Name] = b.tensors[l.Name]
	}
	for _, l := range m.Outputs() {
		out[l.Name] = b.tensors[l.Name]
	}
	b.request, err = m.Bind(in, out)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, b.request.Close())
		require.NoError(t, m.Close(ctx))
		require.NoError(t, d.Close())
		for _, block := range b.blocks {
			require.NoError(t, block.Close())
		}
	})
	return b
}

func fault(t *testing.T, name string) faulty.Fault {
	t.Helper()
	f, ok := faulty.ByName(name)
	require.True(t, ok, name)
	return f
}

// run evaluates with all elements of a = 3 and of b = 1.
func (b *bench) run(t *testing.T) {
	t.Helper()
	for i, v := range []float32{3, 1} {
		all := make([]float32, 15)
		for j := range all {
			all[j] = v
		}
		_, err := b.tensors[[]string{"a", "b"}[i]].WriteFloat32(all)
		require.NoError(t, err)
	}
	_, err := b.model.Evaluate(context.Background(), b.request)
	require.NoError(t, err)
}

func (b *bench) values(t *testing.T, name string) []float32 {
	t.Helper()
	got := make([]float32, 15)
	_, err := b.tensors[name].ReadFloat32(got)
	require.NoError(t, err)
	return got
}

func TestNames(t *testing.T) {
	var names []string
	for _, f := range faulty.Faults() {
		require.NotEmpty(t, f.What)
		names = append(names, f.Name)
		same, ok := faulty.ByName(f.Name)
		require.True(t, ok)
		require.Equal(t, f.What, same.What)
	}
	require.True(t, slices.IsSorted(names))
	require.Len(t, slices.Compact(slices.Clone(names)), len(names))
	for _, want := range []string{"hidden-copy", "wrong-result", "neighbour-write"} {
		require.Contains(t, names, want)
	}
	_, ok := faulty.ByName("none")
	require.False(t, ok)
	_, ok = faulty.ByName("")
	require.False(t, ok)
}

// TestEveryFaultRuns: no fault breaks the path itself. Every engine binds, runs
// and closes, twice, and then holds nothing.
func TestEveryFaultRuns(t *testing.T) {
	before := unimem.Live()
	for _, f := range append(faulty.Faults(), faulty.Fault{}) {
		if f.Name == "wrong-names" { // has its own test, since the text's names cannot be bound
			continue
		}
		t.Run("fault "+f.Name, func(t *testing.T) {
			b := bind(t, f)
			for range 2 {
				b.run(t)
			}
			info := soft.New().Info()
			if f.Name != "claims-apple" {
				require.Equal(t, info.Name, b.model.Receipt().Engine)
			}
		})
	}
	require.Equal(t, before, unimem.Live())
}

func TestHonestWrapperChangesNothing(t *testing.T) {
	b := bind(t, faulty.Fault{})
	b.run(t)
	require.Equal(t, slices.Repeat([]float32{2}, 15), b.values(t, "d"))
	require.Equal(t, slices.Repeat([]float32{4}, 15), b.values(t, "s"))
	require.NotNil(t, access.View(b.request, access.Input, "a"))
	require.NotNil(t, access.View(b.request, access.Output, "s"))
}

// TestHiddenCopyIsHidden: the copies give right results; only the path is
// wrong.
func TestHiddenCopyIsHidden(t *testing.T) {
	for _, name := range []string{"hidden-copy", "copies-inputs", "copies-outputs"} {
		t.Run(name, func(t *testing.T) {
			b := bind(t, fault(t, name))
			for range 2 {
				b.run(t)
				require.Equal(t, slices.Repeat([]float32{4}, 15), b.values(t, "s"))
				require.Equal(t, slices.Repeat([]float32{2}, 15), b.values(t, "d"))
			}
		})
	}
}

func TestWrongResultIsFarOff(t *testing.T) {
	b := bind(t, fault(t, "wrong-result"))
	b.run(t)
	got := b.values(t, "s")
	require.Equal(t, slices.Repeat([]float32{4}, 14), got[:14], "only one element is wrong")
	require.Greater(t, max(got[14]/4, 4/got[14]), float32(1000))
}

// TestNeighborWrite: the neighbor is the byte after the tensor, if there is
// one.
func TestNeighborWrite(t *testing.T) {
	b := bind(t, fault(t, "neighbour-write"))
	b.run(t)
	d := b.tensors["d"]
	surface := d.Block().Bytes()
	require.Equal(t, byte(1), surface[d.Layout().Bytes()])
	require.Equal(t, make([]byte, len(surface)-d.Layout().Bytes()-1), surface[d.Layout().Bytes()+1:])
	b.run(t)
	require.Equal(t, byte(2), surface[d.Layout().Bytes()], "every run changes the byte")
}

// TestWrongNames: the wrapper renames tensors and still runs programs.
func TestWrongNames(t *testing.T) {
	d, err := ane.Open(faulty.Wrap(soft.New(), fault(t, "wrong-names")), "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), ane.Source{Text: []byte(sum)})
	require.NoError(t, err)
	require.Equal(t, "a_0", m.Inputs()[0].Name)
	require.NoError(t, m.Close(context.Background()))
	require.NoError(t, d.Close())
}

func TestClaims(t *testing.T) {
	require.Equal(t, "apple", faulty.Wrap(soft.New(), fault(t, "claims-apple")).Info().Name)
	require.True(t, faulty.Wrap(soft.New(), fault(t, "claims-offsets")).Info().Offsets)
	for _, f := range faulty.Faults() {
		if f.Name != "claims-apple" && f.Name != "claims-offsets" {
			require.Equal(t, soft.New().Info(), faulty.Wrap(soft.New(), f).Info(), "%s does not change Info", f.Name)
		}
	}
}
