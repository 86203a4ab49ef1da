package halves

import "encoding/binary"

// rowLeast and rowMost are the bytes of a row that the assembly copies: for a longer one a call of copy is as quick.
const rowLeast, rowMost = 4, 512

// CopyRows copies rows of size bytes, which are from and to bytes apart.
func CopyRows(dst, src []byte, rows, size, to, from int) {
	if rows == 0 || size == 0 {
		return
	}
	end, tail := (rows-1)*to+size, (rows-1)*from+size
	dst, src = dst[:end:end], src[:tail:tail] // without more room, of which the loop would keep the length
	if Vectors() && size >= rowLeast && size <= rowMost && to >= size {
		copyRows(&dst[0], &src[0], rows, size, to, from)
		return
	}
	d, s := 0, 0
	for ; rows > 0; rows-- {
		switch size {
		case 4:
			binary.LittleEndian.PutUint32(dst[d:], binary.LittleEndian.Uint32(src[s:]))
		case 8:
			binary.LittleEndian.PutUint64(dst[d:], binary.LittleEndian.Uint64(src[s:]))
		case 16:
			in, out := src[s:s+16], dst[d:d+16]
			low, high := binary.LittleEndian.Uint64(in), binary.LittleEndian.Uint64(in[8:])
			binary.LittleEndian.PutUint64(out, low)
			binary.LittleEndian.PutUint64(out[8:], high)
		default:
			copy(dst[d:d+size], src[s:])
		}
		d, s = d+to, s+from
	}
}
