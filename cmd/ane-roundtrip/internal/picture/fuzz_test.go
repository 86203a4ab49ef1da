package picture

import (
	"bytes"
	"image"
	"image/color/palette"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDecode decodes files of at most 4096 pixels. A picture that it accepts is the same after a tensor
// and after a PNG; any other file is an *Error of one line.
func FuzzDecode(f *testing.F) {
	box := image.Rect(0, 0, 9, 5)
	m := scene(9, 5)
	for _, seed := range [][]byte{
		encoded(f, m), encodedJPEG(f, m), flatJPEG(1, 2, 3), flatJPEG(1, 2, 3, 4), encodedJPEG(f,
			as(image.NewGray(box), m)),
		encoded(f, as(image.NewPaletted(box, palette.WebSafe), m)), encoded(f, as(image.NewNRGBA64(box), m)),
		pngOf(f, 2, 1, 8, 4, []byte{0, 10, 20, 30, 255}), pngHead(1, 1, 8, 2),
		tagged(encodedJPEG(f, m), exif(6)), pngOf(f, 1, 1, 8, 0, []byte{0, 9}, chunk("eXIf", exif(3)),
			chunk("acTL", []byte{0, 0, 0, 2, 0, 0, 0, 0}), chunk("cICP", []byte{9, 16, 0, 1})),
		insert(encoded(f, m), chunk("iCCP", []byte("P3\x00\x00damaged"))), []byte("GIF89a"), []byte("text"), nil,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(bytes.NewReader(data), "fuzzed", 4096)
		if err != nil {
			requireError(t, err, "fuzzed")
			return
		}
		requireKept(t, p, identity(p))
		var b bytes.Buffer
		require.NoError(t, p.WritePNG(&b))
		again := decoded(t, b.Bytes())
		for y := range p.Height {
			for x := range p.Width {
				require.Equal(t, p.pixel(x, y), again.pixel(x, y))
			}
		}
	})
}
