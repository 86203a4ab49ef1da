package halves

// rowLeast and rowMost are the bytes of a row that the assembly copies: for a longer one a call of copy is as quick.
const rowLeast, rowMost = 32, 512

// CopyRows copies rows of size bytes, which are from and to bytes apart.
func CopyRows(dst, src []byte, rows, size, to, from int) {
	if rows == 0 || size == 0 {
		return
	}
	dst, src = dst[:(rows-1)*to+size], src[:(rows-1)*from+size]
	if machine.kernel != portable && size >= rowLeast && size <= rowMost && to >= size {
		copyRows(&dst[0], &src[0], rows, size, to, from)
		return
	}
	for r := range rows {
		copy(dst[r*to:][:size], src[r*from:])
	}
}
