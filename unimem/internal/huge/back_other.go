//go:build !linux || macrules

package huge

// Back does nothing: the system chooses its pages.
func Back([]byte) (backed int) { return 0 }

// Skew is 0.
func Skew([]byte) int { return 0 }
