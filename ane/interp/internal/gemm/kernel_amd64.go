package gemm

import "golang.org/x/sys/cpu"

const (
	avx2   = "avx2"
	avx512 = "avx512"
)

// detect asks for the instructions themselves; x/sys/cpu reports AVX, FMA and
// AVX-512 only if the operating system saves the registers they use.
func detect() string {
	switch {
	case cpu.X86.HasAVX512F:
		return avx512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return avx2
	}
	return portable
}

// shape gives the size of a tile in rows and columns, and the columns of a band.
func shape() (rows, cols, band int) {
	if machine.kernel == avx512 {
		return 8, 32, 128
	}
	return 4, 16, 64
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

func tile(c, a, b *float32, n, k, depth int, add bool) {
	if machine.kernel == avx512 {
		tile512(c, a, b, n, k, depth, add)
	} else {
		tile256(c, a, b, n, k, depth, add)
	}
}

func line(c, a, b *float32, n, depth int, add bool) {
	if machine.kernel == avx512 {
		line512(c, a, b, n, depth, add)
	} else {
		line256(c, a, b, n, depth, add)
	}
}

func band(c, a, b *float32, n, depth int, add bool) {
	if machine.kernel == avx512 {
		band512(c, a, b, n, depth, add)
	} else {
		band256(c, a, b, n, depth, add)
	}
}
