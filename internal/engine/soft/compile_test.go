package soft_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
)

// chainOf is a program of n operators, each with constants of its own and a result that the
// next one takes.
func chainOf(n int) []byte {
	var s strings.Builder
	s.WriteString("program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {\n")
	last := "x"
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&s, "        fp16 c%d = const()[name = string(\"c%d\"), val = fp16(0x1.8p-1)];\n"+
				"        tensor<fp16, [1, 64, 1, 32]> v%d = mul(x = %s, y = c%d)[name = string(\"v%d\")];\n", i, i, i, last, i, i)
		case 1:
			fmt.Fprintf(&s, "        tensor<fp16, [1, 64, 1, 32]> v%d = relu(x = %s)[name = string(\"v%d\")];\n", i,
				last, i)
		case 2:
			fmt.Fprintf(&s, "        tensor<int32, [4]> p%d = const()[val = tensor<int32, [4]>([0, 3, 2, 1])];\n"+
				"        tensor<fp16, [1, 32, 1, 64]> v%d = transpose(perm = p%d, x = %s);\n", i, i, i, last)
		default:
			fmt.Fprintf(&s, "        tensor<fp16, [1, 64, 1, 32]> v%d = reshape(shape = tensor<int32, [4]>([1, 64, "+
				"1, 32]), "+
				"x = %s);\n", i, last)
		}
		last = fmt.Sprintf("v%d", i)
	}
	fmt.Fprintf(&s, "    } -> (%s);\n}\n", last)
	return []byte(s.String())
}

func compileText(tb testing.TB, e ane.Engine, text []byte) {
	x, err := e.Compile(context.Background(), ane.Source{File: "chain.mil", Text: text})
	require.NoError(tb, err)
	require.NoError(tb, x.Close())
}

// TestCompileAllocates checks that the allocations of a compilation are linear in the number
// of operators.
func TestCompileAllocates(t *testing.T) {
	skipEmulated(t, "allocations do")
	e := soft.New()
	defer e.Close()
	small, large := chainOf(200), chainOf(2000)
	few := testing.AllocsPerRun(3, func() { compileText(t, e, small) })
	many := testing.AllocsPerRun(3, func() { compileText(t, e, large) })
	require.Less(t, many, 11*few, "%v allocations for 200 operators, %v for 2000", few, many)
}

func benchCompile(b *testing.B, n int) {
	e := soft.New()
	defer e.Close()
	text := chainOf(n)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		compileText(b, e, text)
	}
}

// The floor of compiling is parsing.
func benchParse(b *testing.B, n int) {
	text := chainOf(n)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := mil.ParseTree("chain.mil", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile1000(b *testing.B)       { benchCompile(b, 1000) }
func BenchmarkCompile1000Floor(b *testing.B)  { benchParse(b, 1000) }
func BenchmarkCompile10000(b *testing.B)      { benchCompile(b, 10000) }
func BenchmarkCompile10000Floor(b *testing.B) { benchParse(b, 10000) }
