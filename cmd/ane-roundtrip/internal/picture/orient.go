package picture

// orient turns the picture upright. Orientations are those of Exif 3.0, tag 274: 1 upright, 2
// mirrored, 3 upside down, 4 both, 5 to 8 the same with rows and columns exchanged.
func (p *Picture) orient(orientation int) {
	if orientation < 2 || orientation > 8 {
		return
	}
	w, h := p.Width, p.Height
	p.pix = turned(p.pix, p.pixelBytes(), w, h, orientation)
	if orientation > 4 {
		p.Width, p.Height = h, w
	}
}

// turned returns w by h pixels of size bytes in another orientation.
func turned(src []uint8, size, w, h, orientation int) []uint8 {
	dst := make([]uint8, len(src))
	width, height := w, h
	if orientation > 4 {
		width, height = h, w
	}
	for y := range height {
		line := dst[y*width*size:][:width*size]
		for x := range width {
			var fx, fy int // the pixel of src
			switch orientation {
			case 2:
				fx, fy = w-1-x, y
			case 3:
				fx, fy = w-1-x, h-1-y
			case 4:
				fx, fy = x, h-1-y
			case 5:
				fx, fy = y, x
			case 6:
				fx, fy = y, h-1-x
			case 7:
				fx, fy = w-1-y, h-1-x
			case 8:
				fx, fy = w-1-y, x
			}
			copy(line[x*size:(x+1)*size], src[(fy*w+fx)*size:])
		}
	}
	return dst
}
