package packed

const neon = "neon"

// detect needs no check: every ARMv8-A processor that Go supports has Advanced SIMD.
func detect() string { return neon }

// dotFloats adds the products of a and b to 64 sums.
//
//go:noescape
func dotFloats(lanes *[Lanes]float32, a, b *float32, chunks int)

// dot adds the products of a and b to lanes.
func dot(lanes *[Lanes]float32, a, b []float32) {
	if whole := len(a) / Lanes; whole > 0 && machine.kernel == neon {
		_ = b[whole*Lanes-1]
		dotFloats(lanes, &a[0], &b[0], whole)
		a, b = a[whole*Lanes:], b[whole*Lanes:]
	}
	dotPortable(lanes, a, b)
}
