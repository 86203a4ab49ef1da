package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// lookahead is the size of the buffer in front of a decoder. A segment of a JPEG fits into it.
const lookahead = 128 << 10

// metadata is the reader of a decoder. At each part of the file (a chunk of a PNG, a segment of a JPEG) it looks ahead
// for the orientation and for what the decoder ignores.
type metadata struct {
	in          *bufio.Reader
	png         bool
	left        int64 // bytes up to the next part; never reached: there is no metadata any more
	orientation int
	notes       []string
}

// newMetadata returns a reader at the beginning of a file.
func newMetadata(in *bufio.Reader, png bool) *metadata {
	if png {
		return &metadata{in: in, png: true, left: int64(len(pngSignature))}
	}
	return &metadata{in: in, left: 2}
}

func (m *metadata) Read(b []byte) (int, error) {
	switch {
	case m.left > 0:
	case m.png:
		m.chunk()
	default:
		m.segment()
	}
	n, err := m.in.Read(b[:min(int64(len(b)), m.left)])
	m.left -= int64(n)
	return n, err
}

// peek returns the next n bytes, or as many as the file and the buffer have. The decoder reports errors.
func (m *metadata) peek(n int64) []byte {
	b, _ := m.in.Peek(int(min(n, lookahead)))
	return b
}

// chunk looks at a chunk of a PNG.
func (m *metadata) chunk() {
	const head, checksum = 8, 4
	b := m.peek(head)
	if len(b) < head {
		m.left = math.MaxInt64
		return
	}
	size := int64(binary.BigEndian.Uint32(b))
	m.left = head + size + checksum
	switch string(b[4:]) {
	case "eXIf":
		m.exif(m.peek(head + size)[head:])
	case "iCCP":
		m.ignored("color profile (ICC)")
	case "cICP":
		m.ignored("color space (cICP)")
	case "acTL":
		if b := m.peek(head + min(size, 4)); len(b) == head+4 && binary.BigEndian.Uint32(b[head:]) > 1 {
			m.notes = append(m.notes, fmt.Sprintf("the animation of %d pictures is left out; only the still picture is "+
				"filtered", binary.BigEndian.Uint32(b[head:])))
		}
	}
}

// segment looks at a segment of a JPEG.
func (m *metadata) segment() {
	const head = 4
	m.left = math.MaxInt64
	b := m.peek(head)
	if len(b) < head || b[0] != 0xff || b[1] == 0xda || b[1] == 0xd9 { // the samples or the end
		return
	}
	if b[1] == 0xff { // a fill byte
		m.left = 1
		return
	}
	marker := b[1]
	m.left = 2 + max(int64(binary.BigEndian.Uint16(b[2:])), 2)
	switch data := m.peek(m.left)[head:]; {
	case marker == 0xe1 && bytes.HasPrefix(data, []byte("Exif\x00\x00")):
		m.exif(data[6:])
	case marker == 0xe2 && bytes.HasPrefix(data, []byte("ICC_PROFILE\x00")):
		m.ignored("color profile (ICC)")
	}
}

// exif takes the orientation of the first Exif data that has one.
func (m *metadata) exif(data []byte) {
	if m.orientation == 0 {
		m.orientation = orientationOf(data)
	}
}

// ignored adds a note once, since a JPEG may have a profile in pieces.
func (m *metadata) ignored(what string) {
	note := "the " + what + " is ignored: samples are filtered as stored, and written without it"
	if !slices.Contains(m.notes, note) {
		m.notes = append(m.notes, note)
	}
}
