package soft_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// bench is a loaded model with tensors on its own Blocks. Close closes
// everything.
type bench struct {
	t      testing.TB
	device *ane.Device
	model  *ane.Model
	mem    memory
	reqs   []*ane.Request
}

func open(t testing.TB, text string) *bench {
	t.Helper()
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	b := &bench{t: t, device: dev, mem: memory{t: t, kind: 1}} // the heap: the race detector sees it
	b.model, err = dev.Compile(context.Background(), ane.Source{File: "test.mil", Text: []byte(text)})
	require.NoError(t, err)
	require.NoError(t, b.model.Load(context.Background()))
	t.Cleanup(func() {
		for _, r := range b.reqs {
			require.NoError(t, r.Close())
		}
		require.NoError(t, b.model.Close(context.Background()))
		require.NoError(t, dev.Close())
		b.mem.close()
	})
	return b
}

// bind makes a request on new tensors and sets all input elements to v.
func (b *bench) bind(v float32) (*ane.Request, map[string]*ane.Tensor) {
	b.t.Helper()
	in, out := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
	for _, l := range b.model.Inputs() {
		in[l.Name] = b.mem.tensor(l)
		list := make([]float32, l.Elements())
		for i := range list {
			list[i] = v
		}
		_, err := in[l.Name].WriteFloat32(list)
		require.NoError(b.t, err)
	}
	for _, l := range b.model.Outputs() {
		out[l.Name] = b.mem.tensor(l)
	}
	r, err := b.model.Bind(in, out)
	require.NoError(b.t, err)
	b.reqs = append(b.reqs, r)
	return r, out
}

// squares computes (x + x) * x through scratch memory.
const squares = `program(1.3)
{
func main<ios18>(tensor<fp16, [40, 33]> x) {
tensor<fp16, [40, 33]> a = add(x = x, y = x);
tensor<fp16, [40, 33]> b = mul(x = a, y = x);
tensor<fp16, [33, 40]> y = transpose(x = b, perm = tensor<int32, [2]>([1, 0]));
} -> (y);
}`

func TestManyGoroutinesOnOneModel(t *testing.T) {
	b := open(t, squares)
	type bound struct {
		r   *ane.Request
		out map[string]*ane.Tensor
	}
	var all [32]bound
	for i := range all {
		all[i].r, all[i].out = b.bind(float32(i))
	}
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for range 20 {
				if _, err := b.model.Evaluate(context.Background(), all[i].r); err != nil {
					t.Error(err)
					return
				}
				for _, at := range [][]int{{0, 0}, {32, 39}, {17, 3}} {
					if v, err := all[i].out["y"].At(at...); err != nil || v != float32(2*i*i) {
						t.Errorf("goroutine %d reads %v, %v", i, v, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestManyModelsConcurrently(t *testing.T) {
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			text := strings.ReplaceAll(squares, "main", fmt.Sprintf("f%d", i))
			m, err := dev.Compile(context.Background(), ane.Source{Text: []byte(text)})
			if err != nil {
				t.Error(err)
				return
			}
			mem := memory{t: t, kind: 1}
			in, out := mem.tensor(m.Inputs()[0]), mem.tensor(m.Outputs()[0])
			for range 5 { // Load and Unload in between
				err = errors.Join(m.Load(context.Background()), in.Set(float32(i), 3, 3))
				r, bad := m.Bind(map[string]*ane.Tensor{"x": in}, map[string]*ane.Tensor{"y": out})
				if err = errors.Join(err, bad); err != nil {
					t.Error(err)
					return
				}
				_, err = m.Evaluate(context.Background(), r)
				v, bad := out.At(3, 3)
				if err = errors.Join(err, bad, r.Close(), m.Unload(context.Background())); err != nil ||
					v != float32(2*i*i) {
					t.Errorf("model %d gives %v, %v", i, v, err)
				}
			}
			if err := m.Close(context.Background()); err != nil {
				t.Error(err)
			}
			mem.close()
		})
	}
	wg.Wait()
	require.NoError(t, dev.Close())
}

// TestLoadAgain keeps requests bound across Unload and Load, which takes new
// scratch memory.
func TestLoadAgain(t *testing.T) {
	b := open(t, squares)
	r, out := b.bind(3)
	ctx := context.Background()
	blocks := unimem.Live().Blocks
	for range 3 {
		_, err := b.model.Evaluate(ctx, r)
		require.NoError(t, err)
		v, err := out["y"].At(1, 2)
		require.NoError(t, err)
		require.Equal(t, float32(18), v)
		require.NoError(t, out["y"].Set(0, 1, 2))
		require.NoError(t, b.model.Unload(ctx))
		require.Equal(t, blocks-1, unimem.Live().Blocks, "Unload frees the scratch")
		// Other tensors reuse the memory: a run with stale offsets would write
		// there.
		var others memory
		others.t, others.kind = t, 0
		layout, err := ane.NewLayout("other", mil.UInt8, 1<<14)
		require.NoError(t, err)
		var taken []*ane.Tensor
		for range 64 {
			taken = append(taken, others.tensor(layout))
		}
		_, err = b.model.Evaluate(ctx, r)
		require.ErrorIs(t, err, ane.ErrNotLoaded)
		require.NoError(t, b.model.Load(ctx))
		_, err = b.model.Evaluate(ctx, r)
		require.NoError(t, err)
		for _, x := range taken {
			require.Equal(t, make([]byte, 1<<14), x.Bytes())
		}
		others.close()
	}
	other, _ := b.bind(1)
	_, err := b.model.Evaluate(ctx, other)
	require.NoError(t, err)
}

// TestFunctions compiles each function of a program as a separate model.
func TestFunctions(t *testing.T) {
	text := `program(1.3)
{
func twice<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = add(x = x, y = x); } -> (y);
func main<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = mul(x = x, y = fp16(10)); } -> (y);
}`
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	for name, want := range map[string]float32{"": 30, "main": 30, "twice": 6} {
		m, err := dev.Compile(context.Background(), ane.Source{Text: []byte(text), Function: name})
		require.NoError(t, err)
		require.NoError(t, m.Load(context.Background()))
		b := &bench{t: t, model: m, mem: memory{t: t, kind: 1}}
		r, out := b.bind(3)
		_, err = m.Evaluate(context.Background(), r)
		require.NoError(t, err)
		v, err := out["y"].At(2)
		require.NoError(t, err)
		require.Equal(t, want, v)
		require.NoError(t, r.Close())
		require.NoError(t, m.Close(context.Background()))
		b.mem.close()
	}
	_, err = dev.Compile(context.Background(), ane.Source{Text: []byte(text), Function: "none"})
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	require.Contains(t, err.Error(), "twice, main")
	require.NoError(t, dev.Close())
}

// long holds programs for each kind of kernel that run for seconds.
var long = map[string]string{
	"matmul": chain("tensor<fp16, [1024, 1024]>", "matmul(x = %s, y = %s)", 400),
	"add":    chain("tensor<fp16, [2048, 2048]>", "add(x = %s, y = %s)", 3000),
	"int":    chain("tensor<int32, [2048, 2048]>", "mul(x = %s, y = %s)", 3000),
	"tanh":   chain("tensor<fp16, [2048, 2048]>", "tanh(x = %s)", 500),
	"cast":   casts(300),
	"turn":   chain("tensor<fp16, [2048, 2048]>", "transpose(x = %s, perm = tensor<int32, [2]>([1, 0]))", 3000),
	"pool": chain("tensor<fp16, [1, 1, 1048577]>",
		`max_pool(x = %s, kernel_sizes = tensor<int32, [1]>([1048577]), pad_type = string("same"))`, 2),
	"softmax": chain("tensor<fp16, [2048, 2048]>", "softmax(x = %s)", 500),
	"norm":    chain("tensor<fp16, [2048, 2048]>", "layer_norm(x = %s)", 500),
}

// chain applies an operation repeatedly to its own result.
func chain(kind, op string, n int) string {
	var b strings.Builder
	b.WriteString("program(1.3)\n{\nfunc main<ios18>(" + kind + " x) {\n")
	last := "x"
	for i := range n {
		next := fmt.Sprintf("v%d", i)
		call := strings.ReplaceAll(op, "%s", last)
		b.WriteString(kind + " " + next + " = " + call + ";\n")
		last = next
	}
	return b.String() + "} -> (" + last + ");\n}"
}

// casts changes the type of a tensor to and fro, n times.
func casts(n int) string {
	var b strings.Builder
	b.WriteString("program(1.3)\n{\nfunc main<ios18>(tensor<uint8, [4194304]> v0) {\n")
	for i := range n {
		fmt.Fprintf(&b, "tensor<int8, [4194304]> w%d = cast(x = v%d, dtype = string(\"int8\"));\n"+
			"tensor<uint8, [4194304]> v%d = cast(x = w%d, dtype = string(\"uint8\"));\n", i, i, i+1, i)
	}
	return fmt.Sprintf("%s} -> (v%d);\n}", b.String(), n)
}

// TestCancel ends the context before and during a long run.
func TestCancel(t *testing.T) {
	if testing.Short() {
		t.Skip("needs seconds of arithmetic; run without -short")
	}
	for name, text := range long {
		t.Run(name, func(t *testing.T) {
			if name != "pool" {
				skipEmulated(t, "where an operator ends early does")
			}
			b := open(t, text)
			r, _ := b.bind(1)
			done, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := b.model.Evaluate(done, r)
			require.ErrorIs(t, err, ane.ErrDeadline)
			require.ErrorIs(t, err, context.Canceled)
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			err = await.Done(t, func() error {
				_, err := b.model.Evaluate(ctx, r)
				return err
			})
			require.ErrorIs(t, err, ane.ErrDeadline)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}

// TestCancelWhileWaiting: a run that waits for another run of the same program
// returns when its own context ends.
func TestCancelWhileWaiting(t *testing.T) {
	b := open(t, long["pool"])
	first, _ := b.bind(1)
	second, _ := b.bind(1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := b.model.Evaluate(ctx, first)
		ended <- err
	}()
	short, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	_, err := b.model.Evaluate(short, second)
	require.ErrorIs(t, err, ane.ErrDeadline)
	cancel()
	require.ErrorIs(t, <-ended, ane.ErrDeadline)
}

func TestCompileCancelled(t *testing.T) {
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = dev.Compile(ctx, ane.Source{Text: []byte(squares)})
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.NoError(t, dev.Close())
}

// TestWarmEvaluateAllocatesNothing covers padded and packed surfaces.
func TestWarmEvaluateAllocatesNothing(t *testing.T) {
	for _, text := range []string{tiny, squares} {
		b := open(t, text)
		r, _ := b.bind(1)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, c := range []context.Context{context.Background(), ctx} {
			require.Zero(t, testing.AllocsPerRun(100, func() {
				if _, err := b.model.Evaluate(c, r); err != nil {
					t.Error(err)
				}
			}))
		}
	}
}
