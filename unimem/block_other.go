//go:build !linux && !darwin

package unimem

func openBacking(size int, c config) (backing, error) {
	if c.Table != nil {
		return openSurface(c.Table, size)
	}
	return openHeap(size)
}
