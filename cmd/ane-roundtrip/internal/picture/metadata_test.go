package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bep/imagemeta"
	"github.com/stretchr/testify/require"
)

// exif returns Exif data with an orientation (TIFF 6.0: one IFD, tag 274).
func exif(orientation uint16) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	b = binary.BigEndian.AppendUint16(b, orientation)
	return append(b, 0, 0, 0, 0, 0, 0)
}

// segment returns a segment of a JPEG.
func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// tagged puts Exif data into a JPEG.
func tagged(jpeg, tiff []byte) []byte {
	return bytes.Join([][]byte{jpeg[:2], segment(0xe1, append([]byte("Exif\x00\x00"), tiff...)), jpeg[2:]}, nil)
}

// corners returns a gray picture with the corners 1 2 / 3 4 and 0 elsewhere.
func corners() *image.Gray {
	m := image.NewGray(image.Rect(0, 0, 24, 16))
	for i, at := range []image.Point{{0, 0}, {16, 0}, {0, 8}, {16, 8}} {
		for y := range 8 {
			for x := range 8 {
				m.SetGray(at.X+x, at.Y+y, color.Gray{uint8(60 * (i + 1))})
			}
		}
	}
	return m
}

func TestOrientation(t *testing.T) {
	for orientation, want := range map[uint16][4]int{ // corners, row by row, as shown
		1: {1, 2, 3, 4}, 2: {2, 1, 4, 3}, 3: {4, 3, 2, 1}, 4: {3, 4, 1, 2},
		5: {1, 3, 2, 4}, 6: {3, 1, 4, 2}, 7: {4, 2, 3, 1}, 8: {2, 4, 1, 3},
		0: {1, 2, 3, 4}, 9: {1, 2, 3, 4},
	} {
		w, h := 24, 16
		if orientation > 4 && orientation < 9 {
			w, h = h, w
		}
		for name, data := range map[string][]byte{
			"JPEG": tagged(encodedJPEG(t, corners()), exif(orientation)),
			"PNG":  insert(encoded(t, corners()), chunk("eXIf", exif(orientation))),
		} {
			p := decoded(t, data)
			require.Equal(t, [2]int{w, h}, [2]int{p.Width, p.Height}, "%s %d", name, orientation)
			var got [4]int
			for i, at := range []image.Point{{0, 0}, {w - 1, 0}, {0, h - 1}, {w - 1, h - 1}} {
				got[i] = (int(p.pixel(at.X, at.Y).R) + 30) / 60
			}
			require.Equal(t, want, got, "%s %d", name, orientation)
			require.Equal(t, orientation > 0 && orientation < 9, p.Orientation > 0)
			require.Empty(t, p.Notes)
		}
	}
	for name, damaged := range map[string][]byte{"cut": exif(6)[:12], "empty": nil, "text": []byte("no TIFF at all"),
		"loop": append(exif(1)[:22:22], 0, 0, 0, 8), "far": []byte("MM\x00*\xff\xff\xff\xff")} {
		p := decoded(t, tagged(encodedJPEG(t, corners()), damaged))
		require.Less(t, p.Orientation, 2, name)
	}
}

// imagemeta, which other programs use, finds the same orientation in both byte orders, after other entries, and none in
// data that is cut anywhere.
func TestOrientationAsImagemeta(t *testing.T) {
	reference := func(exif []byte) (found int) {
		_, err := imagemeta.Decode(imagemeta.Options{
			R: bytes.NewReader(exif), ImageFormat: imagemeta.TIFF, Sources: imagemeta.EXIF,
			HandleTag: func(tag imagemeta.TagInfo) error {
				if tag.Namespace == "IFD0" && tag.Tag == "Orientation" {
					_, err := fmt.Sscan(fmt.Sprint(tag.Value), &found) // fails for several values
					return err
				}
				return nil
			},
		})
		if err != nil || found > 8 {
			return 0
		}
		return found
	}
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		for _, typed := range []struct{ kind, values uint16 }{{1, 1}, {3, 1}, {4, 1}, {3, 2}, {3, 3}, {4, 2}} {
			data := append(map[string][]byte{"BigEndian": []byte("MM\x00*"), "LittleEndian": []byte("II*\x00")}[order.String()],
				order.AppendUint32(nil, 8)...)
			data = order.AppendUint16(order.AppendUint16(order.AppendUint16(data, 1), 274), typed.kind)
			data = order.AppendUint32(data, uint32(typed.values))
			value := order.AppendUint32(nil, 6)
			switch typed.kind {
			case 1:
				value = []byte{6, 0, 0, 0}
			case 3:
				value = append(order.AppendUint16(nil, 6), 0, 0)
			}
			data = order.AppendUint32(append(data, value...), 0)
			require.Equal(t, reference(data), orientationOf(data), "%s %+v", order, typed)
			require.Equal(t, typed.values == 1, orientationOf(data) == 6, "%s %+v", order, typed)
		}
		head := map[string][]byte{"BigEndian": []byte("MM\x00*"), "LittleEndian": []byte("II*\x00")}[order.String()]
		for orientation := range uint16(10) {
			data := order.AppendUint32(bytes.Clone(head), 12) // four bytes lie before the directory
			data = order.AppendUint16(append(data, 0, 0, 0, 0), 3)
			for _, e := range [][2]uint16{{256, 7}, {274, orientation}, {277, 3}} { // width, orientation, samples
				data = order.AppendUint32(order.AppendUint16(order.AppendUint16(data, e[0]), 3), 1)
				data = append(order.AppendUint16(data, e[1]), 0, 0)
			}
			data = order.AppendUint32(data, 0)
			require.Equal(t, reference(data), orientationOf(data), "%s %d", order, orientation)
			if orientation < 9 {
				require.Equal(t, int(orientation), orientationOf(data))
			}
			for n := range 38 { // the entry ends at 38
				require.Zero(t, orientationOf(data[:n]), n)
			}
		}
	}
}

// insert puts a chunk after the IHDR of a PNG.
func insert(png, chunk []byte) []byte {
	const head = len(pngSignature) + 12 + 13
	return bytes.Join([][]byte{png[:head], chunk, png[head:]}, nil)
}

func TestNotes(t *testing.T) {
	icc := func(parts ...string) []byte {
		b := encodedJPEG(t, corners())
		out := b[:2:2]
		for i, part := range parts {
			out = append(out, segment(0xe2, append([]byte("ICC_PROFILE\x00"), append([]byte{byte(i + 1),
				byte(len(parts))}, part...)...))...)
		}
		return append(out, b[2:]...)
	}
	after := func(kind string, data ...byte) []byte {
		b := encoded(t, corners())
		return bytes.Join([][]byte{b[:len(b)-12], chunk(kind, data), b[len(b)-12:]}, nil)
	}
	before := func(kind string, data ...byte) []byte { return insert(encoded(t, corners()), chunk(kind, data)) }
	const profile = "the color profile (ICC) is ignored: samples are filtered as stored, and written without it"
	const animation = "the animation of 7 pictures is left out; only the still picture is filtered"
	for name, c := range map[string]struct {
		data []byte
		want string // empty for no note
	}{
		"nothing":                {encoded(t, corners()), ""},
		"JPEG, profile":          {icc("any"), profile},
		"JPEG, in pieces":        {icc("any", strings.Repeat("x", 1<<15), strings.Repeat("x", 1<<15)), profile},
		"JPEG, other data":       {append(encodedJPEG(t, corners())[:2:2], append(segment(0xe2, []byte("FPXR")), encodedJPEG(t, corners())[2:]...)...), ""},
		"PNG, profile":           {before("iCCP", []byte("icc\x00\x00damaged")...), profile},
		"PNG, large profile":     {before("iCCP", make([]byte, 4<<20)...), profile},
		"PNG, BT.2020":           {before("cICP", 9, 16, 0, 1), "the color space (cICP) is ignored"},
		"PNG, sRGB":              {before("sRGB", 0), ""},
		"PNG, animated":          {before("acTL", 0, 0, 0, 7, 0, 0, 0, 0), animation},
		"PNG, one frame":         {before("acTL", 0, 0, 0, 1, 0, 0, 0, 0), ""},
		"PNG, cut frames":        {before("acTL", 7), ""},
		"PNG, after the samples": {after("acTL", 0, 0, 0, 7, 0, 0, 0, 0), animation},
	} {
		p := decoded(t, c.data)
		if c.want == "" {
			require.Empty(t, p.Notes, name)
			continue
		}
		require.Len(t, p.Notes, 1, name)
		require.Contains(t, p.Notes[0], c.want, name)
	}
	require.Equal(t, 6, decoded(t, after("eXIf", exif(6)...)).Orientation, "a chunk after the samples")
	both := insert(insert(encoded(t, corners()), chunk("eXIf", exif(3))), chunk("eXIf", []byte("no TIFF")))
	require.Equal(t, 3, decoded(t, both).Orientation, "the first Exif data with an orientation")
}

// FuzzMetadata reads any bytes as metadata and passes them on.
func FuzzMetadata(f *testing.F) {
	f.Add(exif(6))
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x08\x00\x00\x00"))
	f.Add(tagged(flatJPEG(1, 2, 3), exif(6)))
	f.Add(insert(encoded(f, corners()), chunk("eXIf", exif(6))))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := orientationOf(data)
		require.True(t, o >= 0 && o <= 8)
		p := new(Picture)
		got, err := io.ReadAll(newSource(iotest.OneByteReader(bytes.NewReader(data)), p))
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
		require.LessOrEqual(t, len(p.Notes), 3)
	})
}
