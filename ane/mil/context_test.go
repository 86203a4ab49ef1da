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

// counting is a context that counts how often it is asked for its error, and ends when it has been asked most times.
type counting struct {
	context.Context
	asked int
	most  int
}

func (c *counting) Err() error {
	if c.asked++; c.asked == c.most {
		return context.Canceled
	}
	return nil
}

// stride is the number of parts of a program between two questions.
const stride = 4096

// longTexts are programs of many tokens: statements, a list, lists in a list, operands, and a text that is skipped
// since its first statement is broken.
func longTexts() map[string]string {
	const n = 6 * stride
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

// TestContextOfReading: reading and checking a long program ask the context after every some thousand parts, and end
// with it wherever they are.
func TestContextOfReading(t *testing.T) {
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
				ctx := &counting{Context: t.Context()}
				require.Equal(t, broken, call(ctx), what)
				all := ctx.asked
				require.Greater(t, all, 3, what)
				for most := 1; most <= all; most *= step {
					ctx := &counting{Context: t.Context(), most: most}
					require.Equal(t, context.Canceled, call(ctx), "%s, ended at question %d of %d", what, most, all)
					require.Equal(t, most, ctx.asked, what)
				}
			}
		})
	}
}

// TestContextOfElements: reading the elements of a long literal ends with the context too.
func TestContextOfElements(t *testing.T) {
	const n = 5 * stride
	floats, ints, bools := mil.Floats(mil.TensorOf(mil.FP16, n), make([]float64, n)), mil.Int32s(make([]int, n)...),
		mil.BoolVec(make([]bool, n)...)
	for name, call := range map[string]func(context.Context) (int, error){
		"floats": func(ctx context.Context) (int, error) { l, err := floats.FloatsContext(ctx); return len(l), err },
		"ints":   func(ctx context.Context) (int, error) { l, err := ints.IntsContext(ctx); return len(l), err },
		"bools":  func(ctx context.Context) (int, error) { l, err := bools.BoolsContext(ctx); return len(l), err },
	} {
		ctx := &counting{Context: t.Context()}
		read, err := call(ctx)
		require.NoError(t, err, name)
		require.Equal(t, n, read, name)
		require.Equal(t, 5, ctx.asked, name)
		ctx = &counting{Context: t.Context(), most: 2}
		_, err = call(ctx)
		require.ErrorIs(t, err, context.Canceled, name)
		require.EqualError(t, err, "not read to its end: context canceled", name)
		require.Equal(t, 2, ctx.asked, name)
	}
}
