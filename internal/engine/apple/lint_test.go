package apple_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

const modeless = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
{
    func main<ios18>(tensor<fp16, [1, 1024, 1, 64]> x) {
        tensor<fp16, [1, 1024, 1, 64]> g = gelu(x = x)[name = string("g")];
        tensor<fp16, [1, 1024, 1, 64]> y = frobnicate(x = g)[name = string("y")];
    } -> (y);
}`

// After the framework's words stands what lint knows, with its place. It repeats no fault that stands before.
func TestRefusalIsFollowedByLint(t *testing.T) {
	_, err := open(t).Compile(t.Context(), ane.Source{File: "gelu.mil", Text: []byte(modeless)})
	require.ErrorIs(t, err, ane.ErrCompile)
	var faults mil.ErrorList
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults, 3)
	require.ErrorContains(t, faults[0], "unknown operator frobnicate")
	require.ErrorContains(t, faults[1], "the framework refuses the program")
	require.Equal(t, `gelu.mil:5:44: lint: error: gelu without mode [gelu-mode]; write mode = string("EXACT")`,
		faults[2].Error())
}
