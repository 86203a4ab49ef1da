package picture

import (
	"bytes"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// requireClose compares samples of 16 bits after a conversion to fp16, which keeps 11 bits.
func requireClose(t testing.TB, want, got *Picture) {
	t.Helper()
	for y := range want.Height {
		for x := range want.Width {
			for c := range want.step {
				w, g := want.deepAt(c, x, y), got.deepAt(c, x, y)
				if c == alphaSample {
					require.Equal(t, w, g)
				}
				require.InDelta(t, w, g, max(1, float64(w)/2048), "channel %d, %d,%d", c, x, y)
			}
		}
	}
}

// deepAt returns a sample of 16 bits.
func (p *Picture) deepAt(channel, x, y int) uint16 {
	return uint16(p.sample(p.rowBytes(y), channel, x))
}

func TestDeep(t *testing.T) {
	m := image.NewNRGBA64(image.Rect(0, 0, 300, 4))
	for i := range m.Pix {
		m.Pix[i] = byte(i * 37 >> 2)
	}
	p := decoded(t, encoded(t, m))
	require.Equal(t, 16, p.Depth)
	require.True(t, p.HasOpacity())
	for i := range 300 * 4 {
		require.Equal(t, m.NRGBA64At(i%300, i/300).G, p.deepAt(1, i%300, i/300))
		require.Equal(t, m.NRGBA64At(i%300, i/300).A, p.deepAt(alphaSample, i%300, i/300))
	}
	var b bytes.Buffer
	require.NoError(t, p.WritePNG(&b))
	require.Equal(t, p, decoded(t, b.Bytes()), "no bit is lost without a filter")
	requireClose(t, p, identity(p))

	ends := newPicture(4, 1, 1, 16)
	ends.pix = []uint8{0, 0, 0, 1, 0xff, 0xfe, 0xff, 0xff}
	row := make([]fp16.Bits, 6)
	ends.FillRow(row, 0, 0)
	require.Equal(t, []float32{0, 0, 1. / 65536, 1, 1, 1}, []float32{row[0].Float32(), row[1].Float32(),
		row[2].Float32(), row[3].Float32(), row[4].Float32(), row[5].Float32()})
	ends.SetRow(0, 0, []fp16.Bits{fp16.NaN, fp16.NegInf, fp16.Inf, 0x3800})
	require.Equal(t, []uint8{0, 0, 0, 0, 0xff, 0xff, 0x80, 0}, ends.pix)
}

func TestOpacity(t *testing.T) {
	for _, m := range []image.Image{scene(300, 3), as(image.NewNRGBA64(image.Rect(0, 0, 300, 3)), scene(300, 3))} {
		p := decoded(t, encoded(t, m))
		require.True(t, p.Translucent())
		q := like(p)
		colors, opacity := make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width+2)
		for y := range p.Height {
			p.FillOpacity(opacity, y)
			require.Equal(t, opacity[1], opacity[0])
			q.SetOpacity(y, opacity[1:])
			for c := range p.Channels {
				p.FillOver(colors, c, y)
				q.SetOver(c, y, colors[1:], opacity[1:])
			}
		}
		for y := range p.Height {
			for x := range p.Width {
				want, got := p.pixel(x, y), q.pixel(x, y)
				require.InDelta(t, want.A, got.A, float64(want.A)/1024)
				if want.A > 0 {
					require.InDelta(t, want.R, got.R, 1)
					require.InDelta(t, want.B, got.B, 1)
				} else {
					require.Zero(t, got.R, "a color with opacity 0")
				}
			}
		}
	}
	// A picture that keeps its opacity divides by that.
	even := pngOf(t, 2, 1, 8, 6, []byte{0, 200, 100, 0, 128, 255, 7, 0, 0})
	p := decoded(t, even)
	row := make([]fp16.Bits, p.Width+2)
	for c := range p.Channels {
		p.FillOver(row, c, 0)
		p.SetOverKept(c, 0, row[1:])
	}
	require.Equal(t, []uint8{200, 100, 0, 128, 0, 0, 0, 0}, p.pix)
	full := scene(4, 3)
	for i := 3; i < len(full.Pix); i += 4 {
		full.Pix[i] = 255
	}
	require.False(t, decoded(t, encoded(t, full)).Translucent())
	opaque := decoded(t, pngOf(t, 1, 1, 16, 6, []byte{0, 9, 8, 7, 6, 5, 4, 255, 255}))
	require.True(t, opaque.HasOpacity())
	require.False(t, opaque.Translucent())
}
