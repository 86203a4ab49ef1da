package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"testing"
	"unicode/utf16"

	"github.com/bep/imagemeta"
	"github.com/stretchr/testify/require"
)

// exif returns Exif data with an orientation (TIFF 6.0: one IFD, tag 274).
func exif(orientation uint16) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	b = binary.BigEndian.AppendUint16(b, orientation)
	return append(b, 0, 0, 0, 0, 0, 0)
}

// A picture of inks has a note, since a conversion without a profile changes its colors.
func TestNoteOnInks(t *testing.T) {
	require.Empty(t, decoded(t, flatJPEG(255, 128, 3)).Notes)
	require.Equal(t, []string{"the inks (CMYK) are converted to red, green and blue without a color profile"},
		decoded(t, flatJPEG(255, 128, 0, 255)).Notes)
}

// segment returns a segment of a JPEG.
func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// tagged puts Exif data into a JPEG.
func tagged(jpeg, tiff []byte) []byte {
	return bytes.Join([][]byte{jpeg[:2], segment(0xe1, append([]byte("Exif\x00\x00"), tiff...)), jpeg[2:]}, nil)
}

// profile returns a color profile with only a description.
func profile(desc []byte) []byte {
	b := make([]byte, 128, 200)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = append(b, "desc"...)
	b = binary.BigEndian.AppendUint32(b, 144)
	b = binary.BigEndian.AppendUint32(b, uint32(len(desc)))
	return append(b, desc...)
}

func mluc(name string) []byte {
	b := []byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS")
	units := utf16.Encode([]rune(name))
	b = binary.BigEndian.AppendUint32(b, uint32(2*len(units)))
	b = binary.BigEndian.AppendUint32(b, 28)
	for _, u := range units {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return profile(b)
}

func desc(name string) []byte {
	b := []byte("desc\x00\x00\x00\x00")
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)+1))
	return profile(append(append(b, name...), 0))
}

func iccp(t testing.TB, name string, profile []byte) []byte {
	var b bytes.Buffer
	b.WriteString(name + "\x00\x00")
	z := zlib.NewWriter(&b)
	_, err := z.Write(profile)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
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
			"PNG, 16 bits": insert(encoded(t, as(image.NewGray16(corners().Rect), corners())),
				chunk("eXIf", exif(orientation))),
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
	icc := func(parts ...[]byte) []byte {
		b := encodedJPEG(t, corners())
		out := b[:2:2]
		for i, part := range parts {
			out = append(out, segment(0xe2, append(append([]byte("ICC_PROFILE\x00"), byte(i+1), byte(len(parts))),
				part...))...)
		}
		return append(out, b[2:]...)
	}
	p3, whole := mluc("Display P3"), corners()
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":         {encoded(t, whole), ""},
		"JPEG, sRGB":      {icc(desc("sRGB IEC61966-2.1")), ""},
		"JPEG, in pieces": {icc(p3[:100], p3[100:]), `the color profile "Display P3" is neither applied`},
		"JPEG, version 2": {icc(desc("Adobe RGB (1998)")), `"Adobe RGB (1998)"`},
		"JPEG, cut":       {icc(p3[:140]), `"without a name"`},
		"PNG, P3":         {insert(encoded(t, whole), chunk("iCCP", iccp(t, "icc", p3))), `"Display P3"`},
		"PNG, sRGB":       {insert(encoded(t, whole), chunk("iCCP", iccp(t, "icc", desc("sRGB built-in")))), ""},
		"PNG, no profile": {insert(encoded(t, whole), chunk("iCCP", []byte("named\x00\x00damaged"))), `"named"`},
		"PNG, animated": {insert(encoded(t, whole), chunk("acTL", []byte{0, 0, 0, 7, 0, 0, 0, 0})),
			"the animation of 7 pictures is left out; only the still picture is filtered"},
		"PNG, one frame": {insert(encoded(t, whole), chunk("acTL", []byte{0, 0, 0, 1, 0, 0, 0, 0})), ""},
		"PNG, BT.2020": {insert(encoded(t, whole), chunk("cICP", []byte{9, 16, 0, 1})),
			"the colors of BT.2020, PQ are not converted"},
		"PNG, sRGB by code": {insert(encoded(t, whole), chunk("cICP", []byte{1, 13, 0, 1})), ""},
		"PNG, linear":       {insert(encoded(t, whole), colors(100000)), "gamma 1: neither applied nor written"},
		"PNG, sRGB's gamma": {insert(encoded(t, whole), colors(45455)), ""},
		"PNG, linear P3": {insert(encoded(t, whole), append(colors(100000), primaries(68000, 32000, 26500, 69000, 15000,
			6000)...)), "gamma 1, primaries of Display P3: neither applied"},
		"PNG, other primaries": {insert(encoded(t, whole), primaries(60000, 32000, 26500, 69000, 15000, 6000)),
			"primaries of another color space than sRGB: neither"},
		"PNG, sRGB's primaries":  {insert(encoded(t, whole), primaries(64000, 33000, 30000, 60000, 15000, 6000)), ""},
		"PNG, sRGB before gamma": {insert(encoded(t, whole), append(chunk("sRGB", []byte{0}), colors(100000)...)), ""},
		"PNG, short gamma":       {insert(encoded(t, whole), chunk("gAMA", []byte{1})), ""},
		"PNG, other code":        {insert(encoded(t, whole), chunk("cICP", []byte{77, 1, 0, 1})), "primaries 77"},
	} {
		p := decoded(t, c.data)
		if c.want == "" {
			require.Empty(t, p.Notes, name)
			continue
		}
		require.Len(t, p.Notes, 1, name)
		require.Contains(t, p.Notes[0], c.want, name)
	}
	big := insert(encoded(t, whole), chunk("iCCP", make([]byte, maxPart+1)))
	require.Empty(t, decoded(t, big).Notes, "a profile larger than Decode keeps")
}

// colors returns a gAMA chunk.
func colors(gamma uint32) []byte { return chunk("gAMA", binary.BigEndian.AppendUint32(nil, gamma)) }

// primaries returns a cHRM chunk with the white point D65.
func primaries(xy ...uint32) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 31270), 32900)
	for _, v := range xy {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return chunk("cHRM", b)
}

// FuzzMetadata reads any bytes as metadata.
func FuzzMetadata(f *testing.F) {
	f.Add(exif(6), mluc("Display P3"))
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x08\x00\x00\x00"), desc("sRGB"))
	f.Fuzz(func(t *testing.T, tiff, icc []byte) {
		o := orientationOf(tiff)
		require.True(t, o >= 0 && o <= 8)
		require.LessOrEqual(t, len(profileName(icc)), 3*maxName)
		require.NotContains(t, profileName(icc), "\x00")
		for _, png := range []bool{false, true} {
			w := newMetadataScanner(png)
			_, err := w.Write(append([]byte("12"), tiff...))
			require.NoError(t, err)
			_, err = w.Write(icc)
			require.NoError(t, err)
			require.LessOrEqual(t, w.kept, maxParts)
		}
	})
}
