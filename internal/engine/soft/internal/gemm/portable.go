package gemm

// mulPortable is mul in Go: it adds four rows of B at a time to a row of C, which keeps the scalar units busy. Handling
// two rows of C as well is no faster (measured). The conversions of the products prevent the compiler from fusing them
// with the additions on some machines.
func mulPortable(c, a, b []float32, m, k, n int) {
	clear(c)
	for i := range m {
		row, left := c[i*n:][:n], a[i*k:][:k]
		at := 0
		for ; at+4 <= k; at += 4 {
			addFour(row, b[at*n:][:4*n], (*[4]float32)(left[at:]))
		}
		for ; at < k; at++ {
			addOne(row, b[at*n:][:n], left[at])
		}
	}
}

// addFour adds four rows of B to c, each multiplied by its element of a.
func addFour(c, b []float32, a *[4]float32) {
	n := len(c)
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
	b0, b1, b2, b3 := b[:n], b[n:][:n], b[2*n:][:n], b[3*n:][:n]
	for i := range c {
		c[i] = c[i] + float32(a0*b0[i]) + float32(a1*b1[i]) + float32(a2*b2[i]) + float32(a3*b3[i])
	}
}

// addOne adds a times b to c.
func addOne(c, b []float32, a float32) {
	b = b[:len(c)]
	for i := range c {
		c[i] += float32(a * b[i])
	}
}
