package surfaces

import "github.com/anekit/anekit/unimem"

// Adopt makes a Block of the first size bytes of a surface that exists already, found by
// its IOSurfaceID in this process or, where the system lets it be found, in another. That
// is how the surfaces of other frameworks, such as a video decoder's frames, become Blocks
// without a copy.
//
// The Block has a reference and a lock of its own from Adopt until Close, whatever its
// maker does meanwhile: Close unlocks and releases it, and the surface lives on while
// others hold it. Unlike other Blocks its Size is exactly size, its pages hold what their
// maker wrote, and Warm reads them without writing. Ordering accesses with the maker's is
// up to the caller; a maker that waits for nobody to hold a lock waits for Close. The use
// count of IOSurfaceIncrementUseCount is left alone, so a pool of frames may give the surface
// out again: keep its maker's object (the CVPixelBuffer) until Close as well.
//
// Errors, all *unimem.Error: ErrZeroSize, ErrSize (negative, or with ErrCreate: the surface
// has fewer bytes), ErrCreate (no surface has this id), ErrLock, ErrExhausted (with ErrLock),
// ErrOption (a nil Library, SurfacePerCell, OnHeap, another Library's Option).
//
// Proven against a stand-in on Linux. That surfaces of macOS frameworks behave the same has
// not been tried on a Mac.
func (l *Library) Adopt(id uint32, size int, opts ...unimem.Option) (*unimem.Block, error) {
	return unimem.AdoptSurface(l.functions(), id, size, opts...)
}
