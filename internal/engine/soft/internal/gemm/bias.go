package gemm

import "github.com/anekit/anekit/internal/engine/soft/internal/simd"

// AddBias adds bias to the rows of c, a number to each with byRow, else one to each column. Without bias it does nothing.
func AddBias(c, bias []float32, byRow bool) {
	if len(bias) == 0 {
		return
	}
	width := len(bias)
	if byRow {
		width = len(c) / len(bias)
	}
	whole := 0
	if machine >= simd.AVX2 {
		whole = width / 8 * 8
	}
	for i := 0; len(c) > 0; i, c = i+1, c[width:] {
		row := c[:width]
		if byRow {
			if whole > 0 {
				addEach(&row[0], &bias[i], whole/8)
			}
			for j := whole; j < width; j++ {
				row[j] += bias[i]
			}
			continue
		}
		if whole > 0 {
			addEights(&row[0], &bias[0], whole/8)
		}
		for j := whole; j < width; j++ {
			row[j] += bias[j]
		}
	}
}
