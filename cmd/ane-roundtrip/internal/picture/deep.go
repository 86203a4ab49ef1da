package picture

import (
	"encoding/binary"
	"image"

	"github.com/anekit/anekit/ane/fp16"
)

// deepRowsOf gives the pixels of a row of a picture with 16 bits a sample, as they
// stand in the decoded picture: big-endian, gray alone or with red, green, blue and
// opacity. It returns nil for pictures of fewer bits. The decoders give image.RGBA64
// only where there is no opacity.
func deepRowsOf(img image.Image) (row func(y int) []uint8, alpha bool) {
	at, w := img.Bounds().Min, img.Bounds().Dx()
	switch m := img.(type) {
	case *image.Gray16:
		return func(y int) []uint8 { return m.Pix[m.PixOffset(at.X, at.Y+y):][:2*w] }, false
	case *image.RGBA64:
		return func(y int) []uint8 { return m.Pix[m.PixOffset(at.X, at.Y+y):][:8*w] }, false
	case *image.NRGBA64:
		return func(y int) []uint8 { return m.Pix[m.PixOffset(at.X, at.Y+y):][:8*w] }, true
	}
	return nil, false
}

// splitDeep takes over a row of deepRowsOf. For a gray picture of four samples a
// pixel the first stands for all colours.
func (p *Picture) splitDeep(y int, pixels []uint8) {
	step := len(pixels) / p.Width
	for c := range p.deep.planes {
		take(p.deepRow(c, y), pixels[2*c:], step)
	}
	if p.deep.alpha != nil {
		take(p.deep.alpha[y*p.Width:][:p.Width], pixels[6:], step)
	}
}

func take(dst []uint16, src []uint8, step int) {
	for x := range dst {
		dst[x] = binary.BigEndian.Uint16(src[x*step:])
	}
}

// deepImage returns a picture of 16 bits in the form that the encoder knows.
func (p *Picture) deepImage() image.Image {
	bounds := image.Rect(0, 0, p.Width, p.Height)
	if p.Channels == 1 && p.deep.alpha == nil {
		m := image.NewGray16(bounds)
		for i, s := range p.deep.planes[0] {
			binary.BigEndian.PutUint16(m.Pix[2*i:], s)
		}
		return m
	}
	m := image.NewNRGBA64(bounds)
	for i := range p.deep.planes[0] {
		px := m.Pix[8*i : 8*i+8 : 8*i+8]
		for c := range 3 {
			binary.BigEndian.PutUint16(px[2*c:], p.deep.planes[min(c, p.Channels-1)][i])
		}
		a := uint16(0xffff)
		if p.deep.alpha != nil {
			a = p.deep.alpha[i]
		}
		binary.BigEndian.PutUint16(px[6:], a)
	}
	if p.deep.alpha != nil && m.Opaque() {
		return keepsDeepAlpha{m}
	}
	return m
}

// keepsDeepAlpha is keepsAlpha for 16 bits.
type keepsDeepAlpha struct{ *image.NRGBA64 }

func (keepsDeepAlpha) Opaque() bool { return false }

// chunkSize is how many samples are converted at a time, on the stack.
const chunkSize = 256

// encode writes samples times scale to dst.
func encode(dst []fp16.Bits, src []uint16, scale float32) {
	var single [chunkSize]float32
	for len(src) > 0 {
		n := min(len(src), chunkSize)
		for i, s := range src[:n] {
			single[i] = float32(s) * scale
		}
		fp16.Encode(dst, single[:n])
		src, dst = src[n:], dst[n:]
	}
}

// decode16 sets samples from values times scale, rounded half up and limited.
func decode16(dst []uint16, src []fp16.Bits, scale float32) {
	var single [chunkSize]float32
	for len(dst) > 0 {
		n := min(len(dst), chunkSize)
		fp16.Decode(single[:n], src[:n])
		for i, v := range single[:n] {
			dst[i] = uint16(limited(v*scale, 0xffff))
		}
		src, dst = src[n:], dst[n:]
	}
}

// limited rounds half up and limits to 0..top. NaN becomes 0.
func limited(v, top float32) float32 {
	if !(v > 0) {
		return 0
	}
	return min(float32(int64(min(v, top)+0.5)), top)
}
