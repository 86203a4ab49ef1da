//go:build !amd64

package packed

// room is the float32s that the kernels need.
func (w *Weights) room(int) int { return 0 }

// quick is Dots by assembly. It reports whether it has done it.
func (w *Weights) quick([]float32, []float32, []float32, int) bool { return false }

// arrange is Arrange for quick.
func (w *Weights) arrange([]float32) {}

// restore is the inverse of arrange.
func (w *Weights) restore(x, arranged []float32) { copy(x, arranged) }

// floats is Floats by assembly. It reports whether it has done it.
func (w *Weights) floats([]float32, int, int) bool { return false }
