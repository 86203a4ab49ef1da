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

// maxSide is the largest width or height of a 2D texture in pixels, on every GPU of Apple silicon. Source: Metal
// Feature Set Tables, "Maximum 2D texture width and height".
const maxSide = 16384

// Shape is a 2D texture over one plane of a surface: its top left Width by Height pixels.
type Shape struct {
	Width, Height int // in pixels
	Format        Format
	Plane         int  // plane of a surface with several, such as a video frame; otherwise 0
	Write         bool // shaders may write as well as read
}

// plane is the geometry of a plane of a surface.
type plane struct {
	width, height int // in elements
	element       int // bytes of an element
	row           int // bytes from one row to the next
}

// check refuses a Shape that does not fit the plane. Metal may abort the process for it.
func (s Shape) check(p plane) error {
	bytes := formats[s.Format].bytes
	switch {
	case bytes == 0:
		return shapeError(ErrFormat, "%v is not a format of this package", s.Format)
	case bytes != p.element:
		return shapeError(ErrFormat, "%v has %d bytes, an element of the surface has %d: on a flat surface use an R8 format,"+
			" or make the texture of a Buffer with newTextureWithDescriptor:offset:bytesPerRow:", s.Format, bytes, p.element)
	case s.Width < 1 || s.Height < 1 || s.Width > min(p.width, maxSide) || s.Height > min(p.height, maxSide):
		return shapeError(ErrShape, "%d x %d pixels: give 1 x 1 to %d x %d", s.Width, s.Height, min(p.width, maxSide),
			min(p.height, maxSide))
	case p.row < p.width*p.element:
		return shapeError(ErrShape, "the surface has %d elements of %d bytes in a row of %d bytes", p.width, p.element,
			p.row)
	}
	return nil
}

func shapeError(err error, format string, args ...any) error {
	return newError("texture", err, "", fmt.Sprintf(format, args...))
}

// Format is a pixel format: the number of an MTLPixelFormat in Metal's MTLPixelFormat.h.
type Format uint

// The formats of plain channels that tensors and images use.
const (
	R8Unorm     Format = 10
	R8Uint      Format = 13
	R8Sint      Format = 14
	R16Float    Format = 25
	RG8Unorm    Format = 30
	R32Float    Format = 55
	RGBA8Unorm  Format = 70
	BGRA8Unorm  Format = 80
	RGBA16Float Format = 115
	RGBA32Float Format = 125
)

// formats has the name and the bytes per pixel of each Format.
var formats = map[Format]struct {
	name  string
	bytes int
}{
	R8Unorm: {"R8Unorm", 1}, R8Uint: {"R8Uint", 1}, R8Sint: {"R8Sint", 1}, R16Float: {"R16Float", 2},
	RG8Unorm: {"RG8Unorm", 2}, R32Float: {"R32Float", 4}, RGBA8Unorm: {"RGBA8Unorm", 4}, BGRA8Unorm: {"BGRA8Unorm", 4},
	RGBA16Float: {"RGBA16Float", 8}, RGBA32Float: {"RGBA32Float", 16},
}

// String is the name in Metal, without the prefix MTLPixelFormat.
func (f Format) String() string {
	if known, ok := formats[f]; ok {
		return known.name
	}
	return fmt.Sprintf("Format(%d)", uint(f))
}
