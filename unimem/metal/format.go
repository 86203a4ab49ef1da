package metal

import "fmt"

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
