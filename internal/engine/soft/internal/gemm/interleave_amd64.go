package gemm

// interleave256 is Interleave of eight elements of each row, and of as many more as there are eights.
//
//go:noescape
func interleave256(dst *float32, width int, rows *[Interleaved]*float32, eights int)

// interleave does as much of Interleave as there is a kernel for, and returns how many elements of each row.
func interleave(dst []float32, width int, rows *[Interleaved][]float32) int {
	eights := len(rows[0]) / 8
	if machine.kernel == portable || eights == 0 {
		return 0
	}
	var from [Interleaved]*float32
	for i, row := range rows {
		from[i] = &row[0]
	}
	interleave256(&dst[0], width, &from, eights)
	return 8 * eights
}
