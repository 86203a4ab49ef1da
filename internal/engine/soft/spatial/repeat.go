package spatial

import "github.com/anekit/anekit/ane/fp16"

// repeating is the argument of a kernel that repeats elements.
type repeating struct {
	dst, src    *fp16.Bits
	rows, width int
}

// Repeat writes each of the first elements of src width times to dst, as many as it has room for, and may change what
// comes after them. It returns how many elements of src it took, which may be none.
func Repeat(dst, src []fp16.Bits, width int) (n int) {
	const beyond = 15 // what a kernel writes after the last element
	if quick() {
		if n = min(max((len(dst)-beyond)/width, 0), len(src)); n > 0 {
			repeatEach(&repeating{&dst[0], &src[0], n, width})
		}
	}
	return n
}

// InTurn fills to with the elements of a and b in turn.
func InTurn(to, a, b []fp16.Bits) {
	to, b = to[:2*len(a)], b[:len(a)]
	for i, v := range a {
		to[2*i] = v
		to[2*i+1] = b[i]
	}
}
