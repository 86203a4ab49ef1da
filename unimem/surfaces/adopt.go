package surfaces

import "github.com/anekit/anekit/unimem"

// Adopt is unimem.AdoptSurface with a surface of this library.
func (l *Library) Adopt(id uint32, size int, opts ...unimem.Option) (*unimem.Block, error) {
	return unimem.AdoptSurface(id, size, append([]unimem.Option{l.Option()}, opts...)...)
}
