//go:build !amd64 && !arm64

package packed

// dotFloats is not called where the Go code is used.
func dotFloats(int, *[Lanes]float32, *float32, *float32, int) {}
