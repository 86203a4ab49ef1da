package matrix

import "github.com/anekit/anekit/internal/ops"

// Path visits elements in the order of some axes.
type Path struct{ Dims, By []int }

// Len is the number of elements.
func (p *Path) Len() int { return ops.Volume(p.Dims) }

// At returns the offset of element i.
func (p *Path) At(i int) int { return Offset(i, p.Dims, p.By) }

// dense reports whether neighbours lie side by side.
func (p *Path) dense() bool { return p.By[len(p.By)-1] == 1 }

// Each has f load or store elements from, from+1, .. of a path that starts at base, a run at a time.
func (p *Path) Each(list []float32, base, from int, f func(some []float32, at int)) {
	for len(list) > 0 {
		n := 1
		if p.dense() {
			row := p.Dims[len(p.Dims)-1]
			n = min(row-from%row, len(list))
		}
		f(list[:n], base+p.At(from))
		list, from = list[n:], from+n
	}
}

// Offset converts a row-major index into an offset.
func Offset(i int, dims, by []int) int {
	at := 0
	for d := len(dims) - 1; d >= 0; d-- {
		at += i % dims[d] * by[d]
		i /= dims[d]
	}
	return at
}
