package soft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
)

// endsAfter is a context that ends when it has been asked for its error so many times, in the middle of a step too.
type endsAfter struct {
	context.Context
	left atomic.Int64
}

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelFused: a run that ends within a fused group, at any check of its context, returns the context's error, and
// the next run has the results of the first.
func TestCancelFused(t *testing.T) {
	const text = `program(1.3)
{
func main<ios18>(tensor<fp16, [200, 64]> x, tensor<fp16, [200, 64]> w, tensor<fp16, [200]> b) {
tensor<fp16, [200, 200]> p = linear(x = x, weight = w, bias = b);
tensor<fp16, [200, 200]> q = silu(x = p);
tensor<fp16, [200, 200]> r = mul(x = q, y = q);
tensor<fp16, [200, 200]> s = softmax(x = r, axis = int32(-1));
tensor<fp16, [200, 200]> a = sub(x = s, y = r);
tensor<fp16, [200, 200]> c = sigmoid(x = a);
tensor<fp16, [200, 200]> y = add(x = c, y = b);
} -> (y, r);
}
`
	for _, workers := range []int{1, 2} {
		d, err := ane.Open(soft.New(soft.Workers(workers)), "")
		require.NoError(t, err)
		defer func() { require.NoError(t, d.Close()) }()
		m, err := d.Compile(t.Context(), ane.Source{File: "fused.mil", Text: []byte(text)})
		require.NoError(t, err)
		defer func() { require.NoError(t, m.Close(context.Background())) }()
		q, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, q.Close()) }()
		rnd := rand.New(rand.NewPCG(1, 1))
		for _, l := range m.Inputs() {
			_, err := q.Input(l.Name).Write(encode(fill(rnd, l.DType, l.Elements())))
			require.NoError(t, err)
		}
		results := func() (all string) {
			for _, l := range m.Outputs() {
				got := make([]byte, l.PackedBytes())
				_, err := q.Output(l.Name).Read(got)
				require.NoError(t, err)
				all += string(got)
			}
			return all
		}
		_, err = q.Evaluate(t.Context())
		require.NoError(t, err)
		want := results()
		cut := 0
		for n := int64(0); ; n++ {
			if !effort.Full() {
				n += n / 4 // checks further and further apart
			}
			ctx := &endsAfter{Context: context.Background()}
			ctx.left.Store(n)
			if _, err = q.Evaluate(ctx); err == nil {
				break
			}
			require.ErrorIs(t, err, context.Canceled)
			cut++
			_, err = q.Evaluate(t.Context())
			require.NoError(t, err)
			require.True(t, want == results(), "%d workers, ended at check %d", workers, n)
		}
		require.Greater(t, cut, 10)
		require.True(t, want == results(), "%d workers", workers)
	}
}

// yields counts how often a run lets more urgent work run. When it has done so for at times, it calls end, if there is
// one.
type yields struct {
	context.Context
	count int
	end   func()
	at    int
}

func (y *yields) Yield() {
	if y.count++; y.end != nil && y.count == y.at {
		y.end()
	}
}

// yieldsOf is how often a run of a program lets more urgent work run.
func yieldsOf(t *testing.T, workers int, text string) int {
	d, err := ane.Open(soft.New(soft.Workers(workers)), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(t.Context(), ane.Source{File: "yields.mil", Text: []byte(text)})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	q, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, q.Close()) }()
	ctx := &yields{Context: context.Background()}
	_, err = q.Evaluate(ctx)
	require.NoError(t, err)
	return ctx.count
}

// TestYieldFused: a run of one fused group lets more urgent work run between its operators on each piece.
func TestYieldFused(t *testing.T) {
	for _, workers := range []int{1, 2} {
		count := yieldsOf(t, workers, `program(1.3)
{
func main<ios18>(tensor<fp16, [256, 1024]> x) {
tensor<fp16, [256, 1024]> a = tanh(x = x);
tensor<fp16, [256, 1024]> b = mul(x = a, y = x);
tensor<fp16, [256, 1024]> y = silu(x = b);
} -> (y);
}
`)
		require.GreaterOrEqual(t, count, 4, "%d workers", workers) // 8 pieces, or 4 of the caller's
	}
}

// TestYieldWithinAStep: a run of one long step lets more urgent work run between the parts of it, on the goroutine of
// the caller alone.
func TestYieldWithinAStep(t *testing.T) {
	for name, text := range map[string]string{
		"matmul": `program(1.3)
{
func main<ios18>(tensor<fp16, [512, 512]> x) {
tensor<fp16, [512, 512]> y = matmul(x = x, y = x);
} -> (y);
}
`,
		"softmax": `program(1.3)
{
func main<ios18>(tensor<fp16, [512, 512]> x) {
tensor<fp16, [512, 512]> y = softmax(x = x, axis = -1);
} -> (y);
}
`,
	} {
		for _, workers := range []int{1, 2} {
			require.Greater(t, yieldsOf(t, workers, text), 2, "%s, %d workers", name, workers)
		}
	}
	require.Greater(t, yieldsOf(t, 1, `program(1.3)
{
func main<ios18>(tensor<fp16, [1, 48, 8]> x, tensor<fp16, [1, 4096, 8]> k) {
tensor<fp16, [1, 48, 8]> y = scaled_dot_product_attention(query = x, key = k, value = k);
} -> (y);
}
`), 10, "attention, whose 48 rows are not 10 tiles")
}

// TestYieldWithinAConstant: a compile that computes one long constant lets other compiles go on between the parts of
// it, on the goroutine of the caller alone. Between steps it does so 8 times at most.
func TestYieldWithinAConstant(t *testing.T) {
	const halves = `tensor<fp16, [512, 512]> a = fill(shape = tensor<int32, [2]>([512, 512]), value = fp16(1.5));`
	const ints = `tensor<int32, [512, 512]> a = fill(shape = tensor<int32, [2]>([512, 512]), value = int32(3));`
	for name, step := range map[string]string{
		"pow":       halves + `tensor<fp16, [512, 512]> b = pow(x = a, y = a);`,
		"exp":       halves + `tensor<fp16, [512, 512]> b = exp(x = a);`,
		"sort":      halves + `tensor<int32, [512, 512]> b = argsort(x = a, axis = -1, ascending = true);`,
		"integers":  ints + `tensor<int32, [512, 512]> b = add(x = a, y = a);`,
		"transpose": halves + `tensor<fp16, [512, 512]> b = transpose(x = a, perm = tensor<int32, [2]>([1, 0]));`,
		"tile": `tensor<fp16, [512, 64]> a = fill(shape = tensor<int32, [2]>([512, 64]), value = fp16(1.5));` +
			`tensor<fp16, [512, 512]> b = tile(x = a, reps = tensor<int32, [2]>([1, 8]));`,
		"gather": `tensor<int32, [512]> a = fill(shape = tensor<int32, [1]>([512]), value = int32(3));` +
			strings.Replace(halves, " a =", " x =", 1) + `tensor<fp16, [512, 512]> b = gather(x = x, indices = a, axis = 0);`,
	} {
		for _, workers := range []int{1, 2} {
			e := soft.New(soft.Workers(workers))
			ctx := &yields{Context: context.Background()}
			x, err := e.Compile(ctx, ane.Source{File: "yields.mil", Text: []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [1]> z) {
` + step + `
tensor<fp16, [512, 512]> h = cast(x = b, dtype = string("fp16"));
tensor<fp16, [512, 512]> y = mul(x = h, y = z);
} -> (y);
}
`)})
			require.NoError(t, err)
			require.Greater(t, ctx.count, 9, "%s, %d workers", name, workers)
			require.NoError(t, x.Close())
			require.NoError(t, e.Close())
		}
	}
}

// TestYieldWhileReading: a compile of a long text lets other compiles go on while it reads the text and while it
// resolves it, and ends with its context in the middle of either. Between steps it would do so 4 times.
func TestYieldWhileReading(t *testing.T) {
	const n = 20_000
	for name, body := range map[string]string{
		"statements": strings.Repeat("tensor<fp16, [1]> a# = add(x = x, y = x);\n", n),
		"list": fmt.Sprintf("tensor<fp16, [%d]> c = const()[val = tensor<fp16, [%d]>([%s1])];\n", n, n,
			strings.Repeat("1, ", n-1)),
	} {
		if parts := strings.Split(body, "#"); len(parts) > 1 {
			for i := range n {
				parts[i] += fmt.Sprint(i)
			}
			body = strings.Join(parts, "")
		}
		src := ane.Source{File: "long.mil", Text: []byte("program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\n" + body +
			"tensor<fp16, [1]> y = relu(x = x);\n} -> (y);\n}\n")}
		e := soft.New()
		ctx := &yields{Context: context.Background()}
		x, err := e.Compile(ctx, src)
		require.NoError(t, err)
		require.NoError(t, x.Close())
		require.Greater(t, ctx.count, 12, name)
		all := ctx.count
		for at := 1; at <= all; at *= 2 {
			ended, end := context.WithCancel(t.Context())
			ctx := &yields{Context: ended, end: end, at: at}
			_, err = e.Compile(ctx, src)
			require.ErrorIs(t, err, ane.ErrDeadline, "%s, ended at %d of %d", name, at, all)
			require.LessOrEqual(t, ctx.count, at+3, "%s, ended at %d of %d", name, at, all)
		}
		require.NoError(t, e.Close())
	}
}
