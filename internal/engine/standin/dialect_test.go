package standin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// TestCompilersReadTheDialectsOfTheirSystem: macOS 12 to 14 know the opsets of their year and the old dialect alone.
func TestCompilersReadTheDialectsOfTheirSystem(t *testing.T) {
	text := func(version, opset, label string) string {
		return "program(" + version + ") { func main<" + opset + ">(tensor<fp16, [1, 4, 1, 32]> x) {" +
			" tensor<fp16, [1, 4, 1, 32]> y = relu(x = x)[name = " + label + "]; } -> (y); }"
	}
	const boxed, plain = `tensor<string, []>("y")`, `string("y")`
	for _, c := range []struct {
		text string
		read []string // by these profiles
	}{
		{text("1.0", "ios15", boxed), []string{"15", "16.5", "17", "26", "27", "27-names", "26-vm"}},
		{text("1.0", "ios16", boxed), []string{"16.5", "17", "26", "27", "27-names", "26-vm"}},
		{text("1.0", "ios17", boxed), []string{"17", "26", "27", "27-names", "26-vm"}},
		{text("1.3", "ios18", plain), []string{"26", "27", "27-names", "26-vm"}},
		{text("1.0", "ios18", boxed), []string{"26", "27", "27-names", "26-vm"}},
		{text("1.3", "ios16", boxed), []string{"26", "27", "27-names", "26-vm"}},
		{text("1.0", "ios16", plain), []string{"26", "27", "27-names", "26-vm"}},
		{text("1.0", "future", boxed), []string{"26", "27", "27-names", "26-vm"}},
	} {
		p, err := mil.Parse("main.mil", []byte(c.text))
		require.NoError(t, err)
		var read []string
		for _, profile := range profiles {
			if reads(profile, "main.mil", p) == nil {
				read = append(read, profile)
			}
		}
		require.Equal(t, c.read, read, c.text)
	}
}
