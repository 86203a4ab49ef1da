package driverabi

import (
	"encoding/binary"
	"strconv"
)

// MaxSurfaces is how many surfaces the mapper takes in a request (facts, section 5).
const MaxSurfaces = 128

// SurfaceArea is everything from +0x020, where the surface identifier array starts
// (table 27.6), to the end of the request. It is a view of Raw.
func (s *SendRequest) SurfaceArea() []byte { return s.Raw[sendRequestSurfaces:] }

// Surfaces appends the identifiers of input, output and intermediate surfaces to dst.
//
// How wide an identifier is and how many there are is not documented. This package
// reads identifiers of 32 bits, one after the other from +0x020, up to the first 0 and
// to MaxSurfaces. Programs for older kernels are known to put identifiers elsewhere in
// requests of another size, so this is no layout to send to Apple's driver.
func (s *SendRequest) Surfaces(dst []uint32) []uint32 {
	return identifiers(s.SurfaceArea(), dst)
}

// identifiers appends those in area to dst, up to the first 0 and to MaxSurfaces.
func identifiers(area []byte, dst []uint32) []uint32 {
	for area := area[:4*MaxSurfaces]; len(area) > 0; area = area[4:] {
		id := binary.LittleEndian.Uint32(area)
		if id == 0 {
			break
		}
		dst = append(dst, id)
	}
	return dst
}

// SetSurfaces writes ids as Surfaces reads them and clears what is left of the
// MaxSurfaces places. More than MaxSurfaces identifiers, or one that is 0, are an
// *Error matching ErrRange, and nothing is written.
func (s *SendRequest) SetSurfaces(ids ...uint32) error {
	if len(ids) > MaxSurfaces {
		return &Error{Structure: "SendRequest surfaces", Want: MaxSurfaces, Have: uint64(len(ids)),
			Hint: "bind fewer surfaces to one request", Err: ErrRange}
	}
	for i, id := range ids {
		if id == 0 {
			return &Error{Structure: "SendRequest surface identifier", Want: 1, Have: 0,
				Hint: "surface identifiers count from 1; 0 at place " + strconv.Itoa(i) + " would end the array",
				Err:  ErrRange}
		}
	}
	area := s.SurfaceArea()[:4*MaxSurfaces]
	clear(area)
	for i, id := range ids {
		binary.LittleEndian.PutUint32(area[4*i:], id)
	}
	return nil
}
