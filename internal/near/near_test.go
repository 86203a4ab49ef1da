package near_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/near"
)

func TestWord(t *testing.T) {
	choices := []string{"blur", "edge", "emboss", "sharpen", "sobel", "reduce_mean", "reduce_max", "x"}
	for word, want := range map[string]string{
		"blurr": "blur", "BLUR": "blur", "bulr": "blur", "shapen": "sharpen", "sober": "sobel",
		"reduce_mena": "reduce_mean",
		"smear":       "", "": "", "blur": "", "frobnicate": "", "q": "", "xx": "", strings.Repeat("blur", 20): "",
	} {
		require.Equal(t, want, near.Word(word, choices), "%q", word)
	}
	require.Equal(t, "did you mean edge? ", near.Hint("egde", choices))
	require.Empty(t, near.Hint("nonsense", choices))
	require.Equal(t, "did you mean mil? choose one of mil, fill", near.Choices("mill", "choose one of",
		[]string{"mil", "fill"}))
	require.Equal(t, "it has a, b", near.Choices("nonsense", "it has", []string{"a", "b"}))
	require.Equal(t, "mil", near.Word("mill", []string{"fill", "mil", "tol"}), "the longest common beginning")
	require.Equal(t, "fp16", near.Word("fp61", []string{"fp64", "fp16", "fp32"}), "the same letters")
	require.Empty(t, near.Word("a", nil))
}
