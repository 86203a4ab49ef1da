package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

func convolution(weights []float32) (*build.Program, error) {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 64)
	w := f.Weight("w", weights, 32, 64, 1, 1)
	f.Output("y", f.Relu(f.Conv(x, w)))
	return b.Program()
}

// The builder writes the last program of docs/MIL.md, except the long attribute buildInfo.
func TestBuilderWritesTheProgramOfMILPage(t *testing.T) {
	blocks := fenced(page(t, "MIL.md"), "mil")
	p, err := convolution(make([]float32, 32*64))
	require.NoError(t, err)
	p.Attrs = nil
	require.Equal(t, strings.TrimSpace(string(p.Text())), blocks[len(blocks)-1])
	source, err := read("mil_test.go")
	require.NoError(t, err)
	for _, block := range fenced(page(t, "MIL.md"), "go") {
		require.Contains(t, source, block)
	}
}

// Every program of the page parses, and compiles on the software engine.
func TestProgramsOfMILPageCompile(t *testing.T) {
	p, err := convolution(make([]float32, 32*64))
	require.NoError(t, err)
	device := software(t)
	blocks := fenced(page(t, "MIL.md"), "mil")
	require.GreaterOrEqual(t, len(blocks), 4)
	for _, block := range blocks {
		_, err := mil.Parse("MIL.md", []byte(block))
		require.NoError(t, err, "%s", block)
		model, err := device.Compile(t.Context(), ane.Source{Text: []byte(block), Weights: p.Weights})
		require.NoError(t, err, "%s", block)
		require.NoError(t, model.Close(t.Context()))
	}
}

// Every faulty statement of the page is refused with the message beside it.
func TestFaultsOfMILPage(t *testing.T) {
	device, seen := software(t), 0
	for _, block := range fenced(page(t, "MIL.md"), "text") {
		for line := range strings.Lines(block) {
			statement, words, ok := strings.Cut(strings.TrimSpace(line), "  // ")
			require.True(t, ok, "a statement and its error: %s", line)
			_, err := device.Compile(t.Context(), ane.Source{Text: within(statement)})
			require.ErrorIs(t, err, ane.ErrCompile)
			require.ErrorContains(t, err, words)
			seen++
		}
	}
	require.Positive(t, seen)
}

// within returns a program with one statement.
func within(statement string) []byte {
	return fmt.Appendf(nil, "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {\n        %s\n   "+
		" } -> (y);\n}\n", statement)
}

// software opens the software engine for a test.
func software(t *testing.T) *ane.Device {
	t.Helper()
	device, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}
