package mil_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// counting is a context that counts how often a call gives way, and ends when it has done so for most times.
type counting struct {
	context.Context
	end   context.CancelFunc
	turns int
	most  int
}

func newCounting(t *testing.T, most int) *counting {
	c := &counting{most: most}
	c.Context, c.end = context.WithCancel(t.Context())
	return c
}

func (c *counting) Yield() {
	if c.turns++; c.turns == c.most {
		c.end()
	}
}

// longTexts are programs of many tokens: statements, a list, lists in a list, operands, and a text that is skipped
// since its first statement is broken.
func longTexts() map[string]string {
	const n = 6 * mil.PaceParts
	form := "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\n%s" +
		"tensor<fp16, [1]> y = relu(x = x);\n} -> (y);\n}\n"
	var adds strings.Builder
	for i := range n {
		fmt.Fprintf(&adds, "tensor<fp16, [1]> a%d = add(x = x, y = x);\n", i)
	}
	list := fmt.Sprintf("tensor<fp16, [%d]> c = const()[val = tensor<fp16, [%d]>([%s1])];\n", n, n,
		strings.Repeat("1, ", n-1))
	pairs := fmt.Sprintf("tensor<int32, [%d, 2]> c = const()[val = tensor<int32, [%d, 2]>([%s[1, 2]])];\n", n, n,
		strings.Repeat("[1, 2], ", n-1))
	operands := fmt.Sprintf("tensor<fp16, [%d]> c = concat(values = (%sx), axis = int32(0));\n", n,
		strings.Repeat("x, ", n-1))
	return map[string]string{"statements": fmt.Sprintf(form, adds.String()), "list": fmt.Sprintf(form, list),
		"pairs": fmt.Sprintf(form, pairs), "operands": fmt.Sprintf(form, operands),
		"broken": fmt.Sprintf(form, "= ( "+strings.Repeat("a ", n)+";\n"+adds.String())}
}

// TestPace: reading and checking a long program give way after every some thousand parts, on the goroutine of the
// caller, and end with the context wherever they are.
func TestPace(t *testing.T) {
	step := 2
	if !effort.Full() {
		step = 16
	}
	for name, text := range longTexts() {
		t.Run(name, func(t *testing.T) {
			calls := map[string]func(context.Context) error{"parse": func(ctx context.Context) error {
				_, err := mil.ParseTreeContext(ctx, "long.mil", []byte(text))
				return err
			}}
			prog, broken := mil.ParseTree("long.mil", []byte(text))
			if broken == nil {
				calls["validate"] = func(ctx context.Context) error {
					return mil.ValidateContext(ctx, "long.mil", prog)
				}
			}
			for what, call := range calls {
				ctx := newCounting(t, 0)
				require.Equal(t, broken, call(ctx), what)
				all := ctx.turns
				require.Greater(t, all, 3, what)
				for most := 1; most <= all; most *= step {
					ctx := newCounting(t, most)
					require.Equal(t, context.Canceled, call(ctx), "%s, ended at turn %d of %d", what, most, all)
					require.Equal(t, most, ctx.turns, what)
				}
			}
		})
	}
}

// TestPaceOfElements: reading the elements of a long literal gives way and ends too.
func TestPaceOfElements(t *testing.T) {
	const n = 5 * mil.PaceParts
	floats, ints, bools := mil.Floats(mil.TensorOf(mil.FP16, n), make([]float64, n)), mil.Int32s(make([]int, n)...),
		mil.BoolVec(make([]bool, n)...)
	for name, call := range map[string]func(*mil.Pace) (int, error){
		"floats": func(p *mil.Pace) (int, error) { l, err := p.Floats(floats); return len(l), err },
		"ints":   func(p *mil.Pace) (int, error) { l, err := p.Ints(ints); return len(l), err },
		"bools":  func(p *mil.Pace) (int, error) { l, err := p.Bools(bools); return len(l), err },
	} {
		ctx := newCounting(t, 0)
		read, err := call(mil.NewPace(ctx))
		require.NoError(t, err, name)
		require.Equal(t, n, read, name)
		require.Equal(t, 5, ctx.turns, name)
		ctx = newCounting(t, 2)
		pace := mil.NewPace(ctx)
		_, err = call(pace)
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, pace.Err(), context.Canceled, name)
		require.Equal(t, 2, ctx.turns, name)
		read, err = call(nil)
		require.NoError(t, err, name)
		require.Equal(t, n, read, name)
	}
}

func ExamplePace() {
	ctx, cancel := context.WithCancel(context.Background())
	pace := mil.NewPace(ctx)
	cancel()
	_, err := pace.Ints(mil.Int32s(make([]int, 2*mil.PaceParts)...))
	fmt.Println(err)
	_, err = pace.Ints(mil.Int32s(1, 2, 3))
	fmt.Println(err)
	// Output:
	// not read to its end: context canceled
	// not read to its end: context canceled
}
