package decoder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/buildinfo"
)

// TestWords: programs of the form Compact ask for products of words, in text that a broker gets; others do not.
func TestWords(t *testing.T) {
	for _, form := range Forms() {
		b := build.New()
		g := &graph{Func: b.Func("main"), form: form}
		g.Output("y", g.Relu(g.Input("x", build.FP16, 1, 32)))
		p, err := g.program(b)
		require.NoError(t, err)
		info := buildinfo.Of(p.Program)
		require.Equal(t, form == Compact, info[buildinfo.Products] == buildinfo.Words, form)
		require.Equal(t, "9.0", info["coremltools-version"])
	}
}
