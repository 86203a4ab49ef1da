package gemm

// mulPortable is mul in Go: four columns of two rows at a time, so that eight
// sums stay in registers. The conversions of the products keep the compiler
// from fusing them with the additions.
func mulPortable(c, a, b []float32, m, k, n int) {
	i := 0
	for ; i+2 <= m; i += 2 {
		pair(c[i*n:][:2*n], a[i*k:][:2*k], b, k, n)
	}
	if i < m {
		single(c[i*n:][:n], a[i*k:][:k], b, n)
	}
}

// pair computes two rows of C.
func pair(c, a, b []float32, k, n int) {
	up, down := c[:n], c[n:2*n]
	left, right := a[:k], a[k:2*k]
	right = right[:len(left)]
	j := 0
	for ; j+4 <= n; j += 4 {
		var s0, s1, s2, s3, t0, t1, t2, t3 float32
		at := j
		for p, x := range left {
			y := right[p]
			v := b[at : at+4 : at+4]
			s0 += float32(x * v[0])
			s1 += float32(x * v[1])
			s2 += float32(x * v[2])
			s3 += float32(x * v[3])
			t0 += float32(y * v[0])
			t1 += float32(y * v[1])
			t2 += float32(y * v[2])
			t3 += float32(y * v[3])
			at += n
		}
		up[j], up[j+1], up[j+2], up[j+3] = s0, s1, s2, s3
		down[j], down[j+1], down[j+2], down[j+3] = t0, t1, t2, t3
	}
	for ; j < n; j++ {
		up[j], down[j] = dot(left, b[j:], n), dot(right, b[j:], n)
	}
}
