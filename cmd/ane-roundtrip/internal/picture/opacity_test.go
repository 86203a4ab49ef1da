package picture

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// sample returns one sample of a row without scaling it.
func (p *Picture) sample(row []uint8, channel, x int) float32 {
	if p.Depth == 16 {
		return float32(binary.BigEndian.Uint16(row[2*(x*p.step+channel):]))
	}
	return float32(row[x*p.step+channel])
}

// setSample sets one sample of a row.
func (p *Picture) setSample(row []uint8, channel, x int, v float32) {
	if p.Depth == 16 {
		binary.BigEndian.PutUint16(row[2*(x*p.step+channel):], uint16(v))
		return
	}
	row[x*p.step+channel] = uint8(v)
}

// The plain functions below say what their namesakes compute, sample by sample.

func (p *Picture) plainFillOver(dst []fp16.Bits, channel, row int) {
	src, top, scale := p.source(row), p.top(), 1/(p.top()+1)
	p.plainFill(dst, func(x int) float32 {
		return p.sample(src, channel, x) * (p.sample(src, alphaSample, x) / top) * scale
	})
}

func (p *Picture) plainFillOpacity(dst []fp16.Bits, row int) {
	src, top := p.source(row), p.top()
	p.plainFill(dst, func(x int) float32 { return p.sample(src, alphaSample, x) / top })
}

func (p *Picture) plainFill(dst []fp16.Bits, value func(x int) float32) {
	var single [chunkSize]float32
	for x := 0; x < p.Width; x += chunkSize {
		n := min(p.Width-x, chunkSize)
		for i := range single[:n] {
			single[i] = value(x + i)
		}
		fp16.Encode(dst[1+x:], single[:n])
	}
	replicate(dst, p.Width)
}

func (p *Picture) plainSetOver(channel, row int, src, opacity []fp16.Bits) {
	scale, top := p.top()+1, p.top()
	dst := p.rowBytes(row)
	for x := range p.Width {
		v := float32(0)
		if a := opacity[x].Float32(); a > 0 {
			v = limited(src[x].Float32()/a*scale, top)
		}
		p.setSample(dst, channel, x, v)
	}
	p.spread(dst)
}

func (p *Picture) plainSetOverKept(channel, row int, src []fp16.Bits) {
	scale, top := p.top()+1, p.top()
	dst := p.rowBytes(row)
	for x := range p.Width {
		v := float32(0)
		if a := p.sample(dst, alphaSample, x) / top; a > 0 {
			v = limited(src[x].Float32()/a*scale, top)
		}
		p.setSample(dst, channel, x, v)
	}
	p.spread(dst)
}

func (p *Picture) plainSetOpacity(row int, src []fp16.Bits) {
	dst, top := p.rowBytes(row), p.top()
	for x := range p.Width {
		p.setSample(dst, alphaSample, x, limited(src[x].Float32()*top, top))
	}
}

// opacities returns pictures with opacity: one of 8 bits with every pair of sample and opacity, and random ones whose
// rows are opaque, transparent, random, or of all three.
func opacities(channels, depth int) (all []*Picture) {
	random := rand.New(rand.NewPCG(3, uint64(channels*depth)))
	pairs := newPicture(256, 256, channels, depth)
	wide := newPicture(2*chunkSize+37, 64, channels, depth)
	for _, p := range []*Picture{pairs, wide} {
		p.step, p.alpha = 4, true
		p.pix = make([]uint8, p.Width*p.Height*p.pixelBytes())
		for i := range p.pix {
			p.pix[i] = uint8(random.Uint32())
		}
		all = append(all, p)
	}
	for y := range pairs.Height {
		for x := range pairs.Width {
			for c := range alphaSample {
				pairs.setSample(pairs.rowBytes(y), c, x, float32(x))
			}
			pairs.setSample(pairs.rowBytes(y), alphaSample, x, float32(y))
		}
	}
	for y := range wide.Height {
		for x := range wide.Width {
			switch kind := y % 4; {
			case kind == 0, kind == 3 && x%3 == 0:
				wide.setSample(wide.rowBytes(y), alphaSample, x, wide.top())
			case kind == 1, kind == 3 && x%3 == 1:
				wide.setSample(wide.rowBytes(y), alphaSample, x, 0)
			}
		}
	}
	return all
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
		for _, depth := range []int{8, 16} {
			t.Run(fmt.Sprintf("%d channels of %d bits", channels, depth), func(t *testing.T) {
				random := rand.New(rand.NewPCG(4, 5))
				for _, p := range opacities(channels, depth) {
					want, got := make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width+2)
					plain, kept, plainKept, q := like(p), like(p), like(p), like(p)
					for y := range p.Height {
						opacity := values(random, p.Width)
						p.plainFillOpacity(want, y)
						p.FillOpacity(got, y)
						require.Equal(t, want, got, "opacity of row %d", y)
						if y%2 == 0 {
							copy(opacity, got[1:])
						}
						plain.plainSetOpacity(y, opacity)
						q.SetOpacity(y, opacity)
						for c := range channels {
							p.plainFillOver(want, c, y)
							p.FillOver(got, c, y)
							require.Equal(t, want, got, "channel %d of row %d", c, y)
							if y%3 == 0 {
								copy(want[1:], values(random, p.Width))
							}
							plain.plainSetOver(c, y, want[1:], opacity)
							q.SetOver(c, y, want[1:], opacity)
							plainKept.plainSetOverKept(c, y, want[1:])
							kept.SetOverKept(c, y, want[1:])
						}
					}
					require.Equal(t, plain.pix, q.pix)
					require.Equal(t, plainKept.pix, kept.pix)
				}
			})
		}
	}
}

// translucent returns a photo with random opacity.
func translucent(depth int) *Picture {
	p := newPicture(photoWidth, photoHeight/4, 3, depth)
	p.alpha = true
	random := rand.New(rand.NewPCG(1, 2))
	for i := range p.pix {
		p.pix[i] = uint8(random.Uint32())
	}
	return p
}

// benchmarkOver measures the way to a tensor and back, and the plain functions.
func benchmarkOver(b *testing.B, plain bool) {
	for _, depth := range []int{8, 16} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			p := translucent(depth)
			color, opacity := make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width+2)
			b.SetBytes(int64(len(p.pix)))
			for b.Loop() {
				for y := range p.Height {
					if plain {
						p.plainFillOpacity(opacity, y)
						for c := range 3 {
							p.plainFillOver(color, c, y)
							p.plainSetOver(c, y, color[1:], opacity[1:])
						}
						continue
					}
					p.FillOpacity(opacity, y)
					for c := range 3 {
						p.FillOver(color, c, y)
						p.SetOver(c, y, color[1:], opacity[1:])
					}
				}
			}
		})
	}
}

func BenchmarkOver(b *testing.B) { benchmarkOver(b, false) }

// BenchmarkOverPlain computes the same sample by sample.
func BenchmarkOverPlain(b *testing.B) { benchmarkOver(b, true) }
