package metal

import (
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// Texture is an MTLTexture over a plane of a Block's IOSurface. Its methods are safe for concurrent use; a nil Texture
// behaves like a closed one.
type Texture struct{ object *object }

// NewTexture makes a Texture over b, and retains b until its Close. A Block of unimem.AdoptSurface has the geometry of
// its creator. A Block that unimem opened has a flat surface: one row of one-byte elements. A pixel is an element, so
// its textures are one row of at most 16384 one-byte pixels. For several rows or wider pixels make a texture of a
// Buffer by MTLBuffer's newTextureWithDescriptor:offset:bytesPerRow:. It accepts any row length that is a multiple of
// minimumLinearTextureAlignmentForPixelFormat:.
//
// Errors: ErrClosed, unimem.ErrClosed (b is nil or closed), ErrBlock (b is not an IOSurface), ErrFormat, ErrShape,
// ErrRefused.
func (d *Device) NewTexture(b *unimem.Block, s Shape) (*Texture, error) {
	o, err := d.over("texture", b, func(ref uintptr) (uintptr, error) {
		if kind := b.Backing(); kind != "IOSurface" {
			return 0, newError("texture", ErrBlock, "", fmt.Sprintf("the Block is %s memory, not an IOSurface", kind))
		}
		p, ok := plane{}, false
		if s.Plane >= 0 {
			p, ok = d.driver.plane(b.Handle(), s.Plane)
		}
		if !ok {
			return 0, shapeError(ErrShape, "the surface has no plane %d", s.Plane)
		}
		if err := s.check(p); err != nil {
			return 0, err
		}
		return d.driver.newTexture(ref, b.Handle(), s), nil
	})
	if err != nil {
		return nil, err
	}
	return &Texture{o}, nil
}

// Close releases the MTLTexture and then the Block, once; repeating it returns nil. Call it after the GPU has finished
// its work with the Texture. The error is ErrInUse while work that was submitted uses it.
func (t *Texture) Close() error {
	if t == nil {
		return nil
	}
	return t.object.close("Texture")
}
