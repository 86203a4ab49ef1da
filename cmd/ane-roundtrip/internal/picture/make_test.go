package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// chunk returns a chunk of a PNG.
func chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// pngHead returns the start of a PNG that declares a form and size.
func pngHead(w, h uint32, depth, colorType uint8) []byte {
	b := binary.BigEndian.AppendUint32(nil, w)
	b = binary.BigEndian.AppendUint32(b, h)
	return append([]byte(pngSignature), chunk("IHDR", append(b, depth, colorType, 0, 0, 0))...)
}

// pngOf makes a PNG from raw rows, each after its filter byte 0; the chunks of
// extra go before the data.
func pngOf(t testing.TB, w, h uint32, depth, colorType uint8, rows []byte, extra ...[]byte) []byte {
	t.Helper()
	var z bytes.Buffer
	zw := zlib.NewWriter(&z)
	_, err := zw.Write(rows)
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	b := append(pngHead(w, h, depth, colorType), bytes.Join(extra, nil)...)
	return append(append(b, chunk("IDAT", z.Bytes())...), chunk("IEND", nil)...)
}

// encoded returns a picture as the standard library encodes it.
func encoded(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

func encodedJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// flatJPEG makes a baseline JPEG of 8x8 pixels, each component of one level. Its Adobe marker means that
// the components are not YCbCr (of four: inverted CMYK).
func flatJPEG(levels ...int) []byte {
	var b []byte
	marker := func(m byte, data ...byte) {
		b = append(b, 0xff, m)
		b = binary.BigEndian.AppendUint16(b, uint16(len(data)+2))
		b = append(b, data...)
	}
	n := byte(len(levels))
	b = append(b, 0xff, 0xd8)
	marker(0xee, append([]byte("Adobe"), 0, 100, 0, 0, 0, 0, 0)...)
	quantum := bytes.Repeat([]byte{1}, 64)
	quantum[0] = 8 // a DC step is then one level
	marker(0xdb, append([]byte{0}, quantum...)...)
	frame, scan := []byte{8, 0, 8, 0, 8, n}, []byte{n}
	for c := range n {
		frame = append(frame, c+1, 0x11, 0)
		scan = append(scan, c+1, 0)
	}
	marker(0xc0, frame...)
	// Huffman tables: nine codes of four bits for a DC difference of 0 to 8 bits,
	// and "0" for the end of the block.
	marker(0xc4, append(append([]byte{0x00, 0, 0, 0, 9}, make([]byte, 12)...), 0, 1, 2, 3, 4, 5, 6, 7, 8)...)
	marker(0xc4, append(append([]byte{0x10, 1}, make([]byte, 15)...), 0)...)
	marker(0xda, append(scan, 0, 63, 0)...)
	var coded []byte // one bit per element
	put := func(v, n int) {
		for i := n - 1; i >= 0; i-- {
			coded = append(coded, byte(v>>i&1))
		}
	}
	for _, level := range levels {
		v := level - 128
		n := bits.Len(uint(max(v, -v)))
		put(n, 4)
		if v < 0 {
			v += 1<<n - 1
		}
		put(v, n)
		put(0, 1)
	}
	for len(coded)%8 != 0 {
		coded = append(coded, 1)
	}
	for i := 0; i < len(coded); i += 8 {
		var v byte
		for _, bit := range coded[i : i+8] {
			v = v<<1 | bit
		}
		b = append(b, v)
		if v == 0xff {
			b = append(b, 0)
		}
	}
	return append(b, 0xff, 0xd9)
}

// scene returns a picture in which colors and opacities change smoothly, so that a JPEG stays close.
func scene(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x * 7), uint8(y * 11), uint8(x*3 + y*5), uint8(255 - x*y)})
		}
	}
	return m
}

// as copies a picture into another form, pixel by pixel.
func as[M interface {
	image.Image
	Set(x, y int, c color.Color)
}](m M, src image.Image) M {
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			m.Set(x, y, src.At(x, y))
		}
	}
	return m
}

// newPicture makes a black one without opacity.
func newPicture(width, height, channels int) *Picture {
	p := &Picture{Width: width, Height: height, Channels: channels, step: 4}
	if channels == 1 {
		p.step = 1
	}
	p.stride = width * p.step
	p.pix = make([]uint8, p.stride*height)
	if p.step == 4 {
		for at := alphaSample; at < len(p.pix); at += 4 {
			p.pix[at] = 0xff
		}
	}
	return p
}

// like returns a black picture of the same size, channels and opacity, to be filled by SetRow.
func like(p *Picture) *Picture {
	n := *p
	n.pix, n.kept = make([]uint8, len(p.pix)), nil
	if p.step == 4 {
		for at := alphaSample; at < len(p.pix); at += 4 {
			n.pix[at] = p.pix[at]
		}
	}
	return &n
}
