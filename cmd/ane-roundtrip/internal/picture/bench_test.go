package picture

import (
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
)

// The size of a photograph of 12 megapixels. Every benchmark processes its 3 channels.
const photoWidth, photoHeight = 4000, 3000

// photo returns a picture of that size with random samples. Its tensor has padded rows.
func photo() (p *Picture, tensor []fp16.Bits, row func(c, y int) []fp16.Bits) {
	p = newPicture(photoWidth, photoHeight, 3)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range p.pix {
		p.pix[i] = uint8(random.Uint32())
	}
	tensor = make([]fp16.Bits, 3*(photoHeight+2)*(photoWidth+2))
	return p, tensor, func(c, y int) []fp16.Bits {
		return tensor[(c*(photoHeight+2)+y+1)*(photoWidth+2):][:photoWidth+2]
	}
}

func fill(p *Picture, row func(c, y int) []fp16.Bits) {
	for c := range 3 {
		for y := -1; y <= photoHeight; y++ {
			p.FillRow(row(c, y), c, y)
		}
	}
}

func BenchmarkFillRow(b *testing.B) {
	p, tensor, row := photo()
	b.SetBytes(int64(2 * len(tensor)))
	for b.Loop() {
		fill(p, row)
	}
}

// BenchmarkFillRowFloor copies as many fp16 values as FillRow writes.
func BenchmarkFillRowFloor(b *testing.B) {
	_, tensor, row := photo()
	source := make([]fp16.Bits, photoWidth+2)
	b.SetBytes(int64(2 * len(tensor)))
	for b.Loop() {
		for c := range 3 {
			for y := -1; y <= photoHeight; y++ {
				copy(row(c, y), source)
			}
		}
	}
}

func BenchmarkSetRow(b *testing.B) {
	p, tensor, row := photo()
	fill(p, row)
	to := like(p)
	b.SetBytes(int64(2 * len(tensor)))
	for b.Loop() {
		for c := range 3 {
			for y := range photoHeight {
				to.SetRow(c, y, row(c, y)[1:], nil)
			}
		}
	}
}

// BenchmarkSetRowFloor copies as many fp16 values as SetRow reads.
func BenchmarkSetRowFloor(b *testing.B) {
	_, tensor, row := photo()
	target := make([]fp16.Bits, photoWidth+2)
	b.SetBytes(int64(2 * len(tensor)))
	for b.Loop() {
		for c := range 3 {
			for y := range photoHeight {
				copy(target, row(c, y))
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, data := range map[string][]byte{
		"png":  encoded(b, scene(photoWidth/4, photoHeight/4)),
		"jpeg": encodedJPEG(b, scene(photoWidth/4, photoHeight/4)),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				decoded(b, data)
			}
		})
	}
}

func BenchmarkWritePNG(b *testing.B) {
	writePNG(b, func(p *Picture, _ image.Image) error { return p.WritePNG(io.Discard) })
}

// BenchmarkWritePNGFloor encodes the same picture with image/png only.
func BenchmarkWritePNGFloor(b *testing.B) {
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	writePNG(b, func(_ *Picture, m image.Image) error { return e.Encode(io.Discard, m) })
}

func writePNG(b *testing.B, write func(p *Picture, m image.Image) error) {
	full := scene(photoWidth/4, photoHeight/4)
	for name, m := range map[string]image.Image{"opacity": full, "gray": as(image.NewGray(full.Rect), full)} {
		p := decoded(b, encoded(b, m))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := write(p, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
