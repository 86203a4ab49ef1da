package picture

// orient turns the picture as a camera noted it: orientations count from 1, as
// stored, to 8 (Exif 3.0, tag 274). 2 is mirrored, 3 upside down, 4 both, 5 to 8 are
// the same with rows and columns exchanged.
func (p *Picture) orient(orientation int) {
	if orientation < 2 || orientation > 8 {
		return
	}
	w, h := p.Width, p.Height
	for i := range p.planes {
		p.planes[i] = turned(p.planes[i], w, h, orientation)
	}
	for i := range p.deep.planes {
		p.deep.planes[i] = turned(p.deep.planes[i], w, h, orientation)
	}
	if p.alpha != nil {
		p.alpha = turned(p.alpha, w, h, orientation)
	}
	if p.deep.alpha != nil {
		p.deep.alpha = turned(p.deep.alpha, w, h, orientation)
	}
	if orientation > 4 {
		p.Width, p.Height = h, w
	}
}

// turned returns a plane of w by h samples in another orientation.
func turned[T uint8 | uint16](src []T, w, h, orientation int) []T {
	dst := make([]T, len(src))
	width, height := w, h
	if orientation > 4 {
		width, height = h, w
	}
	for y := range height {
		line := dst[y*width:][:width]
		for x := range line {
			var fx, fy int // where the sample comes from
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
			line[x] = src[fy*w+fx]
		}
	}
	return dst
}
