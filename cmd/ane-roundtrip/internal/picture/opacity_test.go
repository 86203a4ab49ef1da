package picture

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// The plain functions below say what FillRow and SetRow compute for a translucent picture, sample by sample.

func (p *Picture) plainFill(dst []fp16.Bits, channel, y int) {
	for x := range p.Width {
		px := p.row(y)[4*x:]
		opacity := float32(px[alphaSample]) / 255
		dst[1+x] = fp16.FromFloat32(opacity)
		if channel < p.Channels {
			dst[1+x] = fp16.FromFloat32(float32(px[channel]) * opacity / 256)
		}
	}
	dst[0], dst[p.Width+1] = dst[1], dst[p.Width]
}

func (p *Picture) plainSet(channel, y int, src, opacity []fp16.Bits) {
	for x := range p.Width {
		px, v := p.row(y)[4*x:], src[x].Float32()
		if channel == p.Channels {
			px[alphaSample] = rounded(v * 255)
			continue
		}
		a := float32(px[alphaSample]) / 255
		if opacity != nil {
			a = opacity[x].Float32()
		}
		px[channel] = 0
		if a > 0 {
			px[channel] = rounded(v / a * 256)
		}
		if p.Channels == 1 {
			px[1], px[2] = px[0], px[0]
		}
	}
}

// rounded rounds half up and limits to 0..255. NaN becomes 0.
func rounded(v float32) uint8 {
	switch {
	case v != v || v <= 0:
		return 0
	case v >= 255:
		return 255
	}
	return uint8(math.Floor(float64(v) + 0.5))
}

// translucent returns a picture with opacity whose samples are random.
func translucent(width, height, channels int) *Picture {
	random := rand.New(rand.NewPCG(3, uint64(channels)))
	p := newPicture(width, height, 3)
	p.Channels, p.alpha, p.Translucent = channels, true, true
	for i := range p.pix {
		p.pix[i] = uint8(random.Uint32())
	}
	return p
}

// opacityPictures returns pictures with opacity: one with every pair of sample and opacity, and one whose rows are
// opaque, transparent, random, or of all three.
func opacityPictures(channels int) []*Picture {
	pairs := translucent(256, 256, channels)
	for i := 0; i < len(pairs.pix); i += 4 {
		for c := range alphaSample {
			pairs.pix[i+c] = uint8(i / 4 % 256)
		}
		pairs.pix[i+alphaSample] = uint8(i / 4 / 256)
	}
	wide := translucent(2*chunkSize+37, 64, channels)
	for y := range wide.Height {
		row := wide.row(y)
		for i := alphaSample; i < len(row); i += 4 {
			switch {
			case y%4 == 0 || y%4 == 3 && i%3 == 0:
				row[i] = 255
			case y%4 == 1 || y%4 == 3 && i%3 == 1:
				row[i] = 0
			}
		}
	}
	return []*Picture{pairs, wide}
}

// values returns fp16 values of a row: mostly those of pictures, and some of all bits.
func values(random *rand.Rand, n int) []fp16.Bits {
	all := make([]fp16.Bits, n)
	for i := range all {
		switch random.IntN(8) {
		case 0:
			all[i] = fp16.Bits(random.Uint32())
		case 1:
			all[i] = fp16.FromFloat32(1)
		case 2:
			all[i] = 0
		default:
			all[i] = fp16.FromFloat32(random.Float32())
		}
	}
	return all
}

// Samples times opacity, and samples from them, have the bits of the plain functions.
func TestOpacityBits(t *testing.T) {
	for _, channels := range []int{1, 3} {
		random := rand.New(rand.NewPCG(4, 5))
		for _, p := range opacityPictures(channels) {
			want, got := make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width+2)
			plain, kept, plainKept, q := like(p), like(p), like(p), like(p)
			for y := range p.Height {
				opacity := values(random, p.Width)
				p.plainFill(want, channels, y)
				p.FillRow(got, channels, y)
				require.Equal(t, want, got, "opacity of row %d", y)
				if y%2 == 0 {
					copy(opacity, got[1:])
				}
				plain.plainSet(channels, y, opacity, nil)
				q.SetRow(channels, y, opacity, nil)
				for c := range channels {
					p.plainFill(want, c, y)
					p.FillRow(got, c, y)
					require.Equal(t, want, got, "channel %d of row %d", c, y)
					if y%3 == 0 {
						copy(want[1:], values(random, p.Width))
					}
					plain.plainSet(c, y, want[1:], opacity)
					q.SetRow(c, y, want[1:], opacity)
					plainKept.plainSet(c, y, want[1:], nil)
					kept.SetRow(c, y, want[1:], nil)
				}
			}
			require.Equal(t, plain.pix, q.pix)
			require.Equal(t, plainKept.pix, kept.pix)
		}
	}
}

func TestOpacity(t *testing.T) {
	p := decoded(t, encoded(t, scene(300, 3)))
	require.True(t, p.Translucent)
	q := like(p)
	colors, opacity := make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width+2)
	for y := range p.Height {
		p.FillRow(opacity, p.Channels, y)
		require.Equal(t, opacity[1], opacity[0])
		q.SetRow(p.Channels, y, opacity[1:], nil)
		for c := range p.Channels {
			p.FillRow(colors, c, y)
			q.SetRow(c, y, colors[1:], opacity[1:])
		}
	}
	requireKept(t, p, q)
	// A picture that keeps its opacity divides by that.
	p = decoded(t, pngOf(t, 2, 1, 8, 6, []byte{0, 200, 100, 0, 128, 255, 7, 0, 0}))
	require.Equal(t, []uint8{200, 100, 0, 128, 0, 0, 0, 0}, identity(p).pix)
	full := scene(4, 3)
	for i := 3; i < len(full.Pix); i += 4 {
		full.Pix[i] = 255
	}
	require.False(t, decoded(t, encoded(t, full)).Translucent)
	opaque := decoded(t, pngOf(t, 1, 1, 8, 6, []byte{0, 9, 8, 7, 255}))
	require.True(t, opaque.alpha)
	require.False(t, opaque.Translucent)
}

// BenchmarkOver measures the way to a tensor and back.
func BenchmarkOver(b *testing.B) {
	p := translucent(photoWidth, photoHeight/4, 3)
	color, opacity := make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width+2)
	b.SetBytes(int64(len(p.pix)))
	for b.Loop() {
		for y := range p.Height {
			p.FillRow(opacity, 3, y)
			for c := range 3 {
				p.FillRow(color, c, y)
				p.SetRow(c, y, color[1:], opacity[1:])
			}
		}
	}
}
