package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// requireError checks the properties of every error of the package.
func requireError(t *testing.T, err error, file string) {
	t.Helper()
	var e cli.BadInput
	require.ErrorAs(t, err, &e)
	require.True(t, strings.HasPrefix(err.Error(), file+": "))
	require.True(t, strings.HasSuffix(err.Error(), "; "+e.Hint))
	require.NotEmpty(t, e.Hint)
	require.NotContains(t, err.Error(), "\n")
}

// precision returns a JPEG whose samples have 12 bits.
func precision(data []byte) []byte {
	at := bytes.Index(data, []byte{0xff, 0xc0})
	data[at+4] = 12
	return data
}

// noHeight returns a JPEG that declares its height only after the samples (DNL).
func noHeight(data []byte) []byte {
	at := bytes.Index(data, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(data[at+5:], 0)
	return data
}

// coded returns a JPEG with another marker of its frame.
func coded(marker byte) []byte {
	data := flatJPEG(1, 2, 3)
	data[bytes.Index(data, []byte{0xff, 0xc0})+1] = marker
	return data
}

func TestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"arithmetic":     {coded(0xc9), "arithmetic coding, which cannot be read; save it with Huffman coding"},
		"lossless":       {coded(0xc3), "lossless coding"},
		"nothing":        {nil, "the file is empty"},
		"GIF":            {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), "this is a GIF; give a PNG or JPEG file"},
		"WebP":           {[]byte("RIFF\x10\x00\x00\x00WEBPVP8 "), "WebP"},
		"BMP":            {[]byte("BM\x00\x00"), "BMP"},
		"TIFF, little":   {[]byte("II*\x00\x08\x00\x00\x00"), "TIFF"},
		"TIFF, big":      {[]byte("MM\x00*\x00\x00\x00\x08"), "TIFF"},
		"AVIF":           {[]byte("\x00\x00\x00\x1cftypavif"), "AVIF"},
		"HEIC":           {[]byte("\x00\x00\x00\x1cftypheic"), "HEIC"},
		"MP4":            {[]byte("\x00\x00\x00\x1cftypisom"), "movie"},
		"JPEG XL":        {[]byte("\x00\x00\x00\x0cJXL \r\n"), "JPEG XL"},
		"PDF":            {[]byte("%PDF-1.7"), "PDF"},
		"text":           {[]byte("no picture\n"), "this is a text file"},
		"long text":      {[]byte(strings.Repeat("ü", 31) + "x" + strings.Repeat("ü", 40)), "this is a text file"},
		"bytes":          {[]byte{1, 2, 3}, "neither PNG nor JPEG"},
		"zeros":          {make([]byte, 5000), "neither PNG nor JPEG"},
		"signature only": {[]byte(pngSignature), "the PNG is damaged or incomplete"},
		"head only":      {pngHead(1, 1, 8, 2), "the PNG is damaged or incomplete"},
		"depth 3":        {pngHead(1, 1, 3, 2), "this form of PNG cannot be read"},
		"width 0":        {pngHead(0, 1, 8, 2), "PNG"},
		"width negative": {pngHead(1<<31, 1, 8, 2), "PNG"},
		"wide":           {pngHead(MaxSide+1, 1, 8, 2), "16383x1 pixels, more than 16382 a side"},
		"high":           {pngHead(1, MaxSide+1, 1, 0), "1x16383 pixels"},
		"large": {pngHead(8192, 8193, 16, 6),
			"8192x8193 pixels, more than 16382 a side or 67108864 in all; scale or crop it"},
		"huge":                   {pngHead(1<<31-1, 1<<31-1, 16, 6), "PNG"},
		"16 bits, gray":          {pngOf(t, 1, 1, 16, 0, []byte{0, 1, 2}), "the picture has 16 bits per channel; convert it to 8 bits"},
		"16 bits, gray, opacity": {pngOf(t, 1, 1, 16, 4, []byte{0, 1, 2, 3, 4}), "-depth 8 OUT.png"},
		"16 bits, color":         {pngHead(1, 1, 16, 2), "16 bits per channel"},
		"16 bits, opacity":       {pngHead(1, 1, 16, 6), "16 bits per channel"},
		"16 bits, one clear":     {pngOf(t, 1, 1, 16, 0, []byte{0, 1, 2}, chunk("tRNS", []byte{1, 2})), "16 bits per channel"},
		"JPEG, CMYK":             {flatJPEG(255, 128, 0, 255), "the picture has inks (CMYK); convert it to RGB"},
		"JPEG, CMYK, how":        {flatJPEG(1, 2, 3, 4), "-colorspace sRGB OUT.png"},
		"largest, no data":       {pngHead(MaxSide, 16, 1, 0), "damaged or incomplete"},
		"JPEG start only":        {[]byte("\xff\xd8\xff"), "the JPEG is damaged or incomplete"},
		"JPEG of 12 bits":        {precision(flatJPEG(1, 2, 3)), "this form of JPEG cannot be read"},
		"JPEG, no height":        {noHeight(flatJPEG(1, 2, 3)), "8x0 pixels; give one of at least 1x1"},
		"JPEG, two parts":        {flatJPEG(1, 2), "this form of JPEG cannot be read"},
		"JPEG, no size": {append([]byte("\xff\xd8"), bytes.Repeat(append([]byte{0xff, 0xe1, 0xff, 0xff},
			make([]byte, 0xfffd)...), 32<<4+1)...),
			"the JPEG is damaged or incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Read(bytes.NewReader(c.data), "dir/name", MaxPixels)
			require.Nil(t, p)
			requireError(t, err, "dir/name")
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestIncomplete cuts pictures at every byte.
func TestIncomplete(t *testing.T) {
	for name, data := range map[string][]byte{
		"PNG": encoded(t, scene(9, 7)), "JPEG": encodedJPEG(t, scene(9, 7)), "JPEG, RGB": flatJPEG(1, 2, 3),
	} {
		for n := range data {
			_, err := Read(bytes.NewReader(data[:n]), name, MaxPixels)
			requireError(t, err, name)
		}
		decoded(t, data)
	}
}

// TestDamaged changes each byte of a PNG, which checksums cover.
func TestDamaged(t *testing.T) {
	data := encoded(t, scene(9, 7))
	for i := range data {
		for _, change := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(data)
			bad[i] ^= change
			_, err := Read(bytes.NewReader(bad), "bad", MaxPixels)
			requireError(t, err, "bad")
		}
	}
}

// TestReaderFails checks that an error of the reader is not reported as a damaged picture.
func TestReaderFails(t *testing.T) {
	broken := errors.New("broken")
	for _, data := range [][]byte{encoded(t, scene(60, 70)), encodedJPEG(t, scene(60, 70))} {
		for n := 0; n < len(data); n += 13 {
			_, err := Read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)), "name", MaxPixels)
			requireError(t, err, "name")
			require.ErrorIs(t, err, broken)
			require.ErrorContains(t, err, "cannot read the file: broken")
		}
		_, err := Read(iotest.OneByteReader(iotest.DataErrReader(bytes.NewReader(data))), "name", MaxPixels)
		require.NoError(t, err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.jpg") // the name does not matter
	require.NoError(t, os.WriteFile(path, append(encoded(t, scene(3, 2)), "more"...), 0o600))
	read := func(path string) (*Picture, error) {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		return Read(f, path, MaxPixels)
	}
	p, err := read(path)
	require.NoError(t, err)
	require.Equal(t, [3]int{3, 2, 3}, [3]int{p.Width, p.Height, p.Channels})
	_, err = read(dir)
	requireError(t, err, dir)
	require.ErrorContains(t, err, "this is a folder")
}

// A file that cannot be read is no damaged picture.
func TestReadClosed(t *testing.T) {
	f, err := os.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = Read(f, "closed", MaxPixels)
	requireError(t, err, "closed")
	require.ErrorIs(t, err, fs.ErrClosed)
}
