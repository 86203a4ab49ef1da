package interp

// multiply sets c (m x n) to a (m x k) times b (k x n), all row-major and
// dense. Each sum runs along k in groups of four, left to right, so the same
// operands give the same bits on every machine and with any number of workers.
func multiply(c, a, b []float32, m, k, n int) {
	clear(c[:m*n])
	for i := range m {
		row, left := c[i*n:(i+1)*n], a[i*k:(i+1)*k]
		at := 0
		for ; at+4 <= k; at += 4 {
			panel := b[at*n : (at+4)*n]
			axpy4(row, panel[:n], panel[n:2*n], panel[2*n:3*n], panel[3*n:4*n], left[at], left[at+1], left[at+2], left[at+3])
		}
		for ; at < k; at++ {
			axpy(row, b[at*n:(at+1)*n], left[at])
		}
	}
}

// axpy4 adds a0*b0 + a1*b1 + a2*b2 + a3*b3 to c.
func axpy4(c, b0, b1, b2, b3 []float32, a0, a1, a2, a3 float32) {
	b0, b1, b2, b3 = b0[:len(c)], b1[:len(c)], b2[:len(c)], b3[:len(c)]
	for i := range c {
		c[i] = c[i] + float32(a0*b0[i]) + float32(a1*b1[i]) + float32(a2*b2[i]) + float32(a3*b3[i])
	}
}

// axpy adds a*b to c.
func axpy(c, b []float32, a float32) {
	b = b[:len(c)]
	for i := range c {
		c[i] += float32(a * b[i])
	}
}
