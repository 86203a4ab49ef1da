package apple_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/apple"
)

// bank returns a text with functions f0, f1, ..: fI is y = x + n + I, with tensors xI and yI.
func bank(n, functions int) []byte {
	var b strings.Builder
	b.WriteString("program(1.3)\n{\n")
	for i := range functions {
		fmt.Fprintf(&b, `    func f%[1]d<ios18>(tensor<fp16, [1, 64, 1, 32]> x%[1]d) {
        tensor<fp16, [1, 64, 1, 32]> y%[1]d = add(x = x%[1]d, y = fp16(%[2]d))[name = string("y%[1]d")];
    } -> (y%[1]d);
`, i, n+i)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// function is function i of a bank as a Model.
func function(ctx context.Context, d *ane.Device, text []byte, i int) (*ane.Model, error) {
	return d.Compile(ctx, ane.Source{File: "bank.mil", Text: text, Function: fmt.Sprintf("f%d", i)})
}

// shelf is the Models of a bank's functions on one Device, each with a Request.
type shelf struct {
	rigs []*rig
	n    int
}

// newShelf compiles and loads every function of a new bank.
func newShelf(t *testing.T, e *apple.Engine, functions int) *shelf {
	d, err := ane.Open(keptOpen{e}, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s := &shelf{n: fresh()}
	for i := range functions {
		s.rigs = append(s.rigs, s.rig(t, d, functions, i))
	}
	return s
}

// rig compiles, loads and binds function i. The Model may be closed before the end of the test.
func (s *shelf) rig(t *testing.T, d *ane.Device, functions, i int) *rig {
	m, err := function(t.Context(), d, bank(s.n, functions), i)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
	require.NoError(t, m.Load(t.Context()))
	r := &rig{tb: t, device: d, model: m}
	x, y := m.Inputs()[0], m.Outputs()[0]
	r.x, r.y = r.tensor(x, nil), r.tensor(y, nil)
	r.request, err = m.Bind(map[string]*ane.Tensor{x.Name: r.x}, map[string]*ane.Tensor{y.Name: r.y})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.request.Close()) })
	return r
}

// runs checks that function i computes.
func (s *shelf) runs(t *testing.T, i int) {
	t.Helper()
	require.NoError(t, s.rigs[i].run(t.Context(), 2, float32(s.n+i)))
}

// TestFunctionsShareOneLoad: Models of the functions of one text are procedures of one load, compiled once.
func TestFunctionsShareOneLoad(t *testing.T) {
	f := framework(t)
	e := open(t)
	before, used := f.Counts(), e.Usage()
	s := newShelf(t, e, 5)
	again := s.rig(t, s.rigs[0].device, 5, 3) // a second Model of one function
	now := f.Counts()
	require.EqualValues(t, 1, now.Compiles-before.Compiles)
	require.EqualValues(t, 1, now.Loads-before.Loads)
	require.EqualValues(t, 1, now.Loaded-before.Loaded)
	require.EqualValues(t, 5, now.Procedures-before.Procedures)
	require.EqualValues(t, 1, e.Usage().Loaded-used.Loaded)
	require.EqualValues(t, 1, e.Usage().Programs-used.Programs)
	for i, r := range s.rigs {
		s.runs(t, i)
		receipt := r.model.Receipt()
		require.Equal(t, i > 0, receipt.Cached)
		require.Contains(t, strings.Join(receipt.Notes, "\n"), fmt.Sprintf("f%d is procedure %d", i, i))
	}
	require.NoError(t, again.run(t.Context(), 1, float32(s.n+3)))
}

// TestOthersDoNotShareALoad: neither do other texts, nor programs with one function, nor other engines.
func TestOthersDoNotShareALoad(t *testing.T) {
	f := framework(t)
	e, other := open(t), open(t)
	before := f.Counts().Loaded
	n := fresh()
	for i, c := range []struct {
		engine *apple.Engine
		text   []byte
	}{{e, bank(n, 2)}, {e, bank(n, 3)}, {other, bank(n, 2)}, {e, bank(n, 1)}, {e, bank(n, 1)}} {
		x, err := c.engine.Compile(t.Context(), ane.Source{Text: c.text, Function: "f0"})
		require.NoError(t, err)
		defer func() { require.NoError(t, x.Close()) }()
		require.EqualValues(t, i+1, f.Counts().Loaded-before)
	}
}

// TestUnloadOfOneFunctionLeavesOthers, in every order: the program is loaded while one Model is.
func TestUnloadOfOneFunctionLeavesOthers(t *testing.T) {
	f := framework(t)
	e := open(t)
	before := f.Counts().Loaded
	for _, order := range permutations(3) {
		s := newShelf(t, e, 3)
		for at, i := range order {
			require.NoError(t, s.rigs[i].model.Unload(t.Context()))
			_, err := s.rigs[i].model.Evaluate(t.Context(), s.rigs[i].request)
			require.ErrorIs(t, err, ane.ErrNotLoaded)
			for _, j := range order[at+1:] {
				s.runs(t, j)
			}
		}
		require.Equal(t, before, f.Counts().Loaded)
		for at, i := range order {
			require.NoError(t, s.rigs[i].model.Load(t.Context()))
			require.EqualValues(t, 1, f.Counts().Loaded-before)
			for _, j := range order[:at+1] {
				s.runs(t, j)
			}
		}
		for at, i := range order {
			require.NoError(t, s.rigs[i].request.Close())
			require.NoError(t, s.rigs[i].model.Close(t.Context()))
			for _, j := range order[at+1:] {
				s.runs(t, j)
			}
		}
		require.Equal(t, before, f.Counts().Loaded)
	}
}

func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			q := append(append(append([]int{}, p[:at]...), n-1), p[at:]...)
			all = append(all, q)
		}
	}
	return all
}

// TestCloseOfTheLoadedFunctionUnloads: a program that no Model wants loaded gives its slot back, though other Models of
// it are open.
func TestCloseOfTheLoadedFunctionUnloads(t *testing.T) {
	f := framework(t)
	e := open(t)
	before := f.Counts().Loaded
	s := newShelf(t, e, 2)
	require.NoError(t, s.rigs[0].model.Unload(t.Context()))
	x, err := e.Compile(t.Context(), ane.Source{Text: bank(s.n, 2), Function: "f0"})
	require.NoError(t, err)
	require.NoError(t, s.rigs[1].model.Unload(t.Context()))
	require.EqualValues(t, 1, f.Counts().Loaded-before)
	require.NoError(t, x.Close()) // it was loaded since Compile
	require.Equal(t, before, f.Counts().Loaded)
	x, err = e.Compile(t.Context(), ane.Source{Text: bank(s.n, 2), Function: "f0"})
	require.NoError(t, err)
	require.Equal(t, before, f.Counts().Loaded, "the layouts are known without a load")
	require.NoError(t, x.Close())
	require.NoError(t, s.rigs[1].model.Load(t.Context()))
	s.runs(t, 1)
}

// TestConcurrentFunctions: goroutines that compile, load, run, unload and close functions of one text share one
// compile.
func TestConcurrentFunctions(t *testing.T) {
	f := framework(t)
	e := open(t)
	before := f.Counts()
	n, functions := fresh(), 4
	d, err := ane.Open(keptOpen{e}, "")
	require.NoError(t, err)
	var all sync.WaitGroup
	compiled := make(chan struct{})
	var first sync.WaitGroup
	for i := range functions {
		first.Add(1)
		all.Go(func() {
			m, err := function(t.Context(), d, bank(n, functions), i)
			first.Done()
			if err != nil {
				t.Error(err)
				return
			}
			<-compiled
			life(t, d, m, float32(n+i))
		})
	}
	first.Wait()
	require.EqualValues(t, 1, f.Counts().Compiles-before.Compiles)
	require.EqualValues(t, 1, f.Counts().Loads-before.Loads)
	require.EqualValues(t, 1, f.Counts().Loaded-before.Loaded)
	close(compiled)
	all.Wait()
	require.NoError(t, d.Close())
	require.EqualValues(t, 1, f.Counts().Compiles-before.Compiles)
	require.Equal(t, before.Loaded, f.Counts().Loaded)
}

// life loads and unloads m at random and checks y = x + n while it is loaded, then closes it.
func life(t *testing.T, d *ane.Device, m *ane.Model, n float32) {
	ctx := t.Context()
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	check(m.Load(ctx))
	r := &rig{tb: t, device: d, model: m}
	q, err := m.NewRequest(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	r.request, r.x, r.y = q, q.Input(m.Inputs()[0].Name), q.Output(m.Outputs()[0].Name)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for range effort.Rounds(400, 40) {
		check(m.Load(ctx))
		check(r.run(ctx, 1, n))
		if random.IntN(3) > 0 {
			check(m.Unload(ctx))
		}
	}
	check(q.Close())
	check(m.Close(ctx))
}

// TestProcedureBanks: the 112 layers of the dump m5pro-26.6.2-procedure-banks are Models of two loads.
func TestProcedureBanks(t *testing.T) {
	f := framework(t)
	e := open(t)
	before := f.Counts()
	var all []ane.Executable
	for _, functions := range []int{64, 48} {
		text := bank(fresh(), functions)
		for i := range functions {
			x, err := e.Compile(t.Context(), ane.Source{Text: text, Function: fmt.Sprintf("f%d", i)})
			require.NoError(t, err)
			all = append(all, x)
		}
	}
	now := f.Counts()
	require.EqualValues(t, 2, now.Compiles-before.Compiles)
	require.EqualValues(t, 2, now.Loads-before.Loads)
	require.EqualValues(t, 112, now.Procedures-before.Procedures)
	for _, x := range all {
		require.NoError(t, x.Close())
	}
	require.Equal(t, before.Loaded, f.Counts().Loaded)
}
