package halves

import "encoding/binary"

// rowLeast and rowMost are the bytes of a row that the assembly copies: for a longer one a call of copy is as quick.
const rowLeast, rowMost = 32, 512

// CopyRows copies rows of size bytes, which are from and to bytes apart.
func CopyRows(dst, src []byte, rows, size, to, from int) {
	if rows == 0 || size == 0 {
		return
	}
	dst, src = dst[:(rows-1)*to+size], src[:(rows-1)*from+size]
	if wide() && size >= rowLeast && size <= rowMost && to >= size {
		copyRows(&dst[0], &src[0], rows, size, to, from)
		return
	}
	switch size {
	case 4:
		for ; rows > 0; rows, dst, src = rows-1, past(dst, to), past(src, from) {
			binary.LittleEndian.PutUint32(dst, binary.LittleEndian.Uint32(src))
		}
	case 8:
		for ; rows > 0; rows, dst, src = rows-1, past(dst, to), past(src, from) {
			binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src))
		}
	case 16:
		for ; rows > 0; rows, dst, src = rows-1, past(dst, to), past(src, from) {
			low, high := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
			binary.LittleEndian.PutUint64(dst, low)
			binary.LittleEndian.PutUint64(dst[8:], high)
		}
	}
	for r := range rows {
		copy(dst[r*to:][:size], src[r*from:])
	}
}

// past is s without its first n bytes, of which there may be fewer.
func past(s []byte, n int) []byte { return s[min(n, len(s)):] }
