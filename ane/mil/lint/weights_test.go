package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/lint"
)

// Only macOS 27 is known to refuse several weight files.
func TestWeightFilesBySystem(t *testing.T) {
	text := cases()["weight-files"].breaks
	for os, want := range map[chip.OS]int{0: 1, 15: 0, 26: 0, 27: 1} {
		o := lint.Options{OS: os, Only: []string{"weight-files"}}
		require.Len(t, lint.Text("main.mil", []byte(text), o), want, os)
	}
}
