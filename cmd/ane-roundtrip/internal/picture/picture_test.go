package picture

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// every returns a gray picture of 16x16 pixels with each sample once.
func every(t testing.TB) *Picture {
	m := image.NewGray(image.Rect(0, 0, 16, 16))
	for i := range m.Pix {
		m.Pix[i] = uint8(i)
	}
	return decoded(t, encoded(t, m))
}

// identity converts a picture to fp16 rows and back.
func identity(p *Picture) *Picture {
	to, row := like(p), make([]fp16.Bits, p.Width+2)
	for c := range p.Channels {
		for y := range p.Height {
			p.FillRow(row, c, y)
			to.SetRow(c, y, row[1:], nil)
		}
	}
	return to
}

func TestIdentity(t *testing.T) {
	for _, p := range []*Picture{every(t), decoded(t, encoded(t, scene(17, 9))), decoded(t, flatJPEG(1, 200, 30)),
		decoded(t, pngOf(t, 1, 1, 8, 4, []byte{0, 77, 5})), decoded(t, pngOf(t, 1, 1, 8, 4, []byte{0, 77, 255}))} {
		requireKept(t, p, identity(p))
	}
}

// requireKept checks a picture that was converted to fp16 and back, with the opacity of p: a translucent color may
// change by a level, a transparent one is lost.
func requireKept(t testing.TB, p, q *Picture) {
	t.Helper()
	require.Equal(t, [3]int{p.Width, p.Height, p.Channels}, [3]int{q.Width, q.Height, q.Channels})
	if !p.Translucent {
		for y := range p.Height {
			require.Equal(t, p.row(y), q.row(y))
		}
		return
	}
	for y := range p.Height {
		for x := range p.Width {
			want, got := p.pixel(x, y), q.pixel(x, y)
			require.Equal(t, want.A, got.A)
			delta := 1.
			switch want.A {
			case 0:
				want.R, want.G, want.B = 0, 0, 0
				fallthrough
			case 255:
				delta = 0
			}
			require.InDelta(t, want.R, got.R, delta)
			require.InDelta(t, want.G, got.G, delta)
			require.InDelta(t, want.B, got.B, delta)
		}
	}
}

func TestLike(t *testing.T) {
	p := decoded(t, encoded(t, scene(5, 4)))
	n := like(p)
	require.Equal(t, [3]int{p.Width, p.Height, p.Channels}, [3]int{n.Width, n.Height, n.Channels})
	require.Equal(t, p.alpha, n.alpha)
	before := p.pixel(2, 3)
	require.Zero(t, n.pixel(2, 3).R)
	n.SetRow(0, 3, []fp16.Bits{0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00}, nil)
	require.Equal(t, before, p.pixel(2, 3), "pixels are not shared")
	require.EqualValues(t, 255, n.pixel(2, 3).R)
}

// FillRow reads the copy of a row that Keep kept.
func TestKeep(t *testing.T) {
	for _, p := range []*Picture{every(t), decoded(t, encoded(t, scene(16, 16)))} {
		was, now, none := make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width+2), make([]fp16.Bits, p.Width)
		p.FillRow(was, 0, 5)
		p.Keep(5)
		p.SetRow(0, 5, none, nil)
		p.FillRow(now, 0, 5)
		require.Equal(t, was, now)
		p.Keep(6)
		p.FillRow(now, 0, 5)
		require.Equal(t, make([]fp16.Bits, p.Width+2), now)
	}
}

func TestFillRowReplicatesEdges(t *testing.T) {
	p := every(t)
	const outside = 0xabcd
	for row := -1; row <= p.Height; row++ {
		dst := make([]fp16.Bits, p.Width+4)
		for i := range dst {
			dst[i] = outside
		}
		p.FillRow(dst, 0, row)
		for i, v := range dst[:p.Width+2] {
			x, y := min(max(i-1, 0), 15), min(max(row, 0), 15)
			require.Equal(t, float32(y*16+x)/256, v.Float32(), "row %d, %d", row, i)
		}
		require.Equal(t, []fp16.Bits{outside, outside}, dst[p.Width+2:], "written after the row")
	}
}

func TestSetRowRounds(t *testing.T) {
	half := func(f float64) fp16.Bits { return fp16.FromFloat64(f) }
	for _, c := range []struct {
		v    fp16.Bits
		want uint8
	}{
		{0, 0}, {0x8000, 0}, {half(0.49 / 256), 0}, {half(0.5 / 256), 1}, {half(1.5 / 256), 2}, {half(254.25 / 256),
			254},
		{half(254.5 / 256), 255}, {half(255.5 / 256), 255}, {half(1), 255}, {half(1.01), 255}, {half(60000),
			255}, {half(-0.5 / 256), 0},
		{half(-1), 0}, {fp16.Inf, 255}, {0xfc00, 0}, {fp16.NaN, 0}, {0xfe00, 0}, {0x7c01, 0}, {1, 0}, {0x8001, 0},
	} {
		p := newPicture(1, 1, 1)
		p.pix[0] = 99
		p.SetRow(0, 0, []fp16.Bits{c.v}, nil)
		require.Equal(t, c.want, p.pix[0], "%#04x", uint16(c.v))
	}
}

// TestSetRowAll compares the sample of every fp16 value with a search for the nearest one.
func TestSetRowAll(t *testing.T) {
	p := newPicture(1<<14, 1<<2, 1)
	for y := range p.Height {
		row := make([]fp16.Bits, p.Width)
		for x := range row {
			row[x] = fp16.Bits(y*p.Width + x)
		}
		p.SetRow(0, y, row, nil)
	}
	for b, got := range p.pix {
		v := float64(fp16.Bits(b).Float32()) * 256
		if math.IsNaN(v) {
			require.Zero(t, got)
			continue
		}
		// Half up: sample s stands for the values in [s-1/2, s+1/2).
		s := float64(got)
		require.True(t, v < s+0.5 || got == 255, "%#04x gave %d", b, got)
		require.True(t, v >= s-0.5 || got == 0, "%#04x gave %d", b, got)
	}
}

func TestWritePNG(t *testing.T) {
	full := scene(6, 5)
	for i := 3; i < len(full.Pix); i += 4 {
		full.Pix[i] = 255
	}
	for name, c := range map[string]struct {
		p    *Picture
		want image.Image
	}{
		"gray":          {every(t), &image.Gray{}},
		"color":         {decoded(t, encoded(t, full)), &image.RGBA{}},
		"opacity":       {decoded(t, encoded(t, scene(6, 5))), &image.NRGBA{}},
		"full opacity":  {decoded(t, pngOf(t, 1, 1, 8, 6, []byte{0, 9, 8, 7, 255})), &image.NRGBA{}},
		"no opacity":    {decoded(t, pngOf(t, 1, 1, 8, 6, []byte{0, 9, 8, 7, 0})), &image.NRGBA{}},
		"gray, opacity": {decoded(t, pngOf(t, 1, 1, 8, 4, []byte{0, 77, 5})), &image.NRGBA{}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, c.p.WritePNG(&b))
			m, err := png.Decode(bytes.NewReader(b.Bytes()))
			require.NoError(t, err)
			require.Equal(t, reflect.TypeOf(c.want), reflect.TypeOf(m))
			again := decoded(t, b.Bytes())
			require.Equal(t, [2]int{c.p.Width, c.p.Height}, [2]int{again.Width, again.Height})
			for y := range c.p.Height {
				for x := range c.p.Width {
					require.Equal(t, c.p.pixel(x, y), again.pixel(x, y))
				}
			}
		})
	}
}

func TestWritePNGFails(t *testing.T) {
	p := every(t)
	var whole bytes.Buffer
	require.NoError(t, p.WritePNG(&whole))
	broken := errors.New("broken")
	for n := range whole.Len() {
		require.ErrorIs(t, p.WritePNG(&full{n, broken}), broken)
	}
}

// full accepts n bytes and then fails.
type full struct {
	n   int
	err error
}

func (f *full) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return len(b) + f.n, f.err
	}
	return len(b), nil
}

// TestRowsConcurrently lets the race detector check goroutines that use different rows.
func TestRowsConcurrently(t *testing.T) {
	p := decoded(t, encoded(t, scene(33, 24)))
	to := like(p)
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			row := make([]fp16.Bits, p.Width+2)
			for y := part; y < p.Height; y += 4 {
				for c := range p.Channels {
					p.FillRow(row, c, y)
					to.SetRow(c, y, row[1:], nil)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, identity(p), to)
}

func TestRowsAllocateNothing(t *testing.T) {
	p, row := every(t), make([]fp16.Bits, 18)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		p.FillRow(row, 0, 3)
		p.SetRow(0, 3, row[1:], nil)
	}))
}
