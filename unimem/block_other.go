//go:build !linux && !darwin

package unimem

func openBacking(size int, c config) (backing, error) {
	if c.table != nil {
		return openSurface(c.table, size)
	}
	return openHeap(size)
}
