package gemm

import "golang.org/x/sys/cpu"

const (
	avx2   = "avx2"
	avx512 = "avx512"
)

// detect checks for the instructions themselves: x/sys/cpu reports AVX2, FMA
// and AVX-512 only if the operating system saves the registers they use.
func detect() string {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return portable
	case cpu.X86.HasAVX512F:
		return avx512
	}
	return avx2
}

// choose returns the pieces for n columns, n >= narrow: those of 512-bit
// registers where they fit, otherwise those of 256-bit registers.
func choose(n int) pieces {
	if machine.kernel == avx512 && n >= 32 {
		return pieces{rows: 8, cols: 32, long: 128}
	}
	return pieces{rows: tall, cols: narrow, long: 64}
}

//go:noescape
func tile512(c, a, b *float32, n, k, depth int, add bool)

//go:noescape
func line512(c, a, b *float32, n, depth int, add bool)

//go:noescape
func band512(c, a, b *float32, n, depth int, add bool)

//go:noescape
func tile256(c, a, b *float32, n, k, depth int, add bool)

//go:noescape
func line256(c, a, b *float32, n, depth int, add bool)

//go:noescape
func band256(c, a, b *float32, n, depth int, add bool)

func (p pieces) tile(c, a, b *float32, n, k, depth int, add bool) {
	if p.rows > tall {
		tile512(c, a, b, n, k, depth, add)
	} else {
		tile256(c, a, b, n, k, depth, add)
	}
}

func (p pieces) line(c, a, b *float32, n, depth int, add bool) {
	if p.rows > tall {
		line512(c, a, b, n, depth, add)
	} else {
		line256(c, a, b, n, depth, add)
	}
}

func (p pieces) band(c, a, b *float32, n, depth int, add bool) {
	if p.rows > tall {
		band512(c, a, b, n, depth, add)
	} else {
		band256(c, a, b, n, depth, add)
	}
}
