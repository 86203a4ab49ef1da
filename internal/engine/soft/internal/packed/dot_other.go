//go:build !amd64 && !arm64

package packed

func detect() string { return portable }

// dot adds the products of a and b to lanes.
func dot(lanes *[Lanes]float32, a, b []float32) { dotPortable(lanes, a, b) }
