package lint_test

import (
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
)

// BenchmarkText checks a program of 1,000 statements for every chip; the floor is to parse it.
func BenchmarkText(b *testing.B) {
	text := []byte(chain(1000, []int{1, 64, 1, 64}, "relu(x = %s)"))
	b.Run("lint", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			lint.Text("p.mil", text, lint.Options{})
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_, _ = mil.Parse("p.mil", text)
		}
	})
}
