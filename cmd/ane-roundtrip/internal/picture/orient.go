package picture

import (
	"bytes"
	"encoding/binary"
)

// orientationOf returns the orientation in Exif data; 0 if there is none. Exif data is a TIFF file, and the orientation
// an entry of its first directory (TIFF 6.0, sections 2 and 8).
func orientationOf(exif []byte) int {
	const tag, bytesType, short, long, entry = 274, 1, 3, 4, 12
	order := binary.ByteOrder(binary.BigEndian)
	if bytes.HasPrefix(exif, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(exif) < 8 || !bytes.HasPrefix(exif, []byte("II*\x00")) && !bytes.HasPrefix(exif, []byte("MM\x00*")) {
		return 0
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 0
	}
	rest := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(rest) < entry {
			return 0
		}
		if order.Uint16(rest) == tag {
			if order.Uint32(rest[4:]) != 1 { // values
				return 0
			}
			found := uint32(0)
			switch order.Uint16(rest[2:]) {
			case bytesType:
				found = uint32(rest[8])
			case short:
				found = uint32(order.Uint16(rest[8:]))
			case long: // not permitted, but written by some programs
				found = order.Uint32(rest[8:])
			}
			if found > 8 {
				return 0
			}
			return int(found)
		}
		rest = rest[entry:]
	}
	return 0
}

// orient turns the picture upright. Orientations are those of Exif 3.0, tag 274: 1 upright, 2 mirrored, 3 upside down,
// 4 both, 5 to 8 the same with rows and columns exchanged.
func (p *Picture) orient() {
	if p.Orientation < 2 {
		return
	}
	src, w, h, size := p.pix, p.Width, p.Height, p.step
	stride, exchanged := p.stride, p.Orientation > 4
	if exchanged {
		p.Width, p.Height = h, w
	}
	p.stride = p.Width * size
	p.pix = make([]uint8, p.stride*p.Height)
	for y := range p.Height {
		row := p.row(y)
		for x := range p.Width {
			fromX, fromY := x, y
			if exchanged {
				fromX, fromY = y, x
			}
			switch p.Orientation {
			case 2, 8:
				fromX = w - 1 - fromX
			case 4, 6:
				fromY = h - 1 - fromY
			case 3, 7:
				fromX, fromY = w-1-fromX, h-1-fromY
			}
			copy(row[x*size:(x+1)*size], src[fromY*stride+fromX*size:])
		}
	}
}
