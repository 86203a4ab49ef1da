//go:build !amd64

package packed

// room is the float32s that the kernels need.
func (w *Weights) room(int) int { return 0 }

// quick is Dots of products of elements by assembly. It reports whether it has done it.
func (w *Weights) quick([]float32, []float32, []float32, int) bool { return false }

// floats is Floats by assembly. It reports whether it has done it.
func (w *Weights) floats([]float32, int, int) bool { return false }

// quickFix is fix by assembly. It reports whether it has done it.
func quickFix(*Weights, *Vector) bool { return false }

// quickFixed is fixedDots by assembly. It reports whether it has done it.
func (w *Weights) quickFixed([]float32, *Vector, []float32, int) bool { return false }

// quickBounded is allBounded by assembly, which does not find all that are.
func (w *Weights) quickBounded(int, int, []float32) bool { return false }
