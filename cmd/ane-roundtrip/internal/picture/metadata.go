package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// lookahead is the size of the buffer in front of a decoder. A segment of a JPEG fits into it.
const lookahead = 128 << 10

// source is the reader of a decoder. At each part of the file (a chunk of a PNG, a segment of a JPEG) it looks ahead
// for metadata. It keeps the error of the file, which decoders return in the same way as their own.
type source struct {
	in    *bufio.Reader
	start string // of the file, 64 bytes
	png   bool
	coded string // how the picture is coded, if the decoder does not know that
	left  int64  // bytes up to the next part; never reached: there is no metadata any more
	p     *Picture
	err   error
}

func newSource(r io.Reader, p *Picture) *source {
	s := &source{in: bufio.NewReaderSize(r, lookahead), p: p, left: 2}
	s.start = string(s.peek(64))
	if s.png = strings.HasPrefix(s.start, pngSignature); s.png {
		s.left = int64(len(pngSignature))
	}
	return s
}

func (s *source) Read(b []byte) (int, error) {
	if s.left == 0 {
		s.part()
	}
	n, err := s.in.Read(b[:min(int64(len(b)), s.left)])
	s.left -= int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// peek returns the next n bytes, or as many as the file and the buffer have. Read returns the error.
func (s *source) peek(n int64) []byte {
	b, _ := s.in.Peek(int(min(n, lookahead)))
	return b
}

// codings are the markers of frames that the decoder does not know (T.81, table B.1), and of arithmetic conditioning.
var codings = map[byte]string{0xc3: "lossless", 0xc5: "hierarchical", 0xc6: "hierarchical", 0xc7: "lossless",
	0xc9: arithmetic, 0xca: arithmetic, 0xcb: arithmetic, 0xcc: arithmetic, 0xcd: arithmetic, 0xce: arithmetic,
	0xcf: arithmetic}

const arithmetic = "arithmetic"

// part looks at the next part.
func (s *source) part() {
	const marker, samples, last = 0xff, 0xda, 0xd9
	head := string(s.peek(8))
	switch {
	case s.png && len(head) == 8:
		size := int64(binary.BigEndian.Uint32([]byte(head)))
		s.left = 8 + size + 4 // checksum
		s.p.metadata(head[4:], s.peek(8 + size)[8:])
	case s.png || len(head) < 4 || head[0] != marker || head[1] == samples || head[1] == last:
		s.left = math.MaxInt64
	case head[1] == marker: // a fill byte
		s.left = 1
	default:
		if kinds := codings[head[1]]; kinds != "" {
			s.coded = kinds
		}
		s.left = 2 + max(int64(binary.BigEndian.Uint16([]byte(head[2:]))), 2)
		s.p.metadata(head[:2], s.peek(s.left)[4:])
	}
}

// metadata looks into a chunk of a PNG or a segment of a JPEG for the orientation, and for what the decoder ignores.
func (p *Picture) metadata(kind string, data []byte) {
	const ignored = "the %s is ignored: samples are filtered as stored, and written without it"
	exif, isExif := bytes.CutPrefix(data, []byte("Exif\x00\x00"))
	switch {
	case kind == "\xff\xe1" && isExif:
		p.metadata("eXIf", exif)
	case kind == "eXIf" && p.Orientation == 0:
		p.Orientation = orientationOf(data)
	case kind == "iCCP", kind == "\xff\xe2" && bytes.HasPrefix(data, []byte("ICC_PROFILE\x00")):
		p.note(fmt.Sprintf(ignored, "color profile (ICC)"))
	case kind == "cICP":
		p.note(fmt.Sprintf(ignored, "color space (cICP)"))
	case kind == "acTL" && len(data) >= 4 && binary.BigEndian.Uint32(data) > 1:
		p.note(fmt.Sprintf("the animation of %d pictures is left out; only the still picture is filtered",
			binary.BigEndian.Uint32(data)))
	}
}

// note adds a note once, since a JPEG may have a profile in pieces, and not more than there are kinds of notes.
func (p *Picture) note(text string) {
	if len(p.Notes) < 3 && !slices.Contains(p.Notes, text) {
		p.Notes = append(p.Notes, text)
	}
}

// orientationOf returns the orientation in Exif data; 0 if there is none. Exif data is a TIFF file, and the orientation
// an entry of its first directory (TIFF 6.0, sections 2 and 8).
func orientationOf(exif []byte) int {
	const tag, bytesType, short, long = 274, 1, 3, 4
	orders := map[string]binary.ByteOrder{"II*\x00": binary.LittleEndian, "MM\x00*": binary.BigEndian}
	order := orders[string(exif[:min(len(exif), 4)])]
	if order == nil || len(exif) < 8 {
		return 0
	}
	directory := bytes.NewReader(exif[min(int(order.Uint32(exif[4:])), len(exif)):])
	var entries uint16
	var entry struct {
		Tag, Type uint16
		Values    uint32
		Value     [4]byte
	}
	_ = binary.Read(directory, order, &entries) // at the end of the data there are none
	for range entries {
		if binary.Read(directory, order, &entry) != nil {
			return 0
		}
		if entry.Tag == tag && entry.Values == 1 {
			found := map[uint16]uint32{
				bytesType: uint32(entry.Value[0]),
				short:     uint32(order.Uint16(entry.Value[:])),
				long:      order.Uint32(entry.Value[:]), // not permitted, but written by some programs
			}[entry.Type]
			if found <= 8 {
				return int(found)
			}
		}
	}
	return 0
}

// orient turns the picture upright. Orientations are those of Exif 3.0, tag 274: 1 upright, 2 mirrored, 3 upside down,
// 4 both, 5 to 8 the same with rows and columns exchanged.
func (p *Picture) orient() {
	if p.Orientation < 2 {
		return
	}
	old, size, exchanged := *p, p.step, p.Orientation > 4
	if exchanged {
		p.Width, p.Height = old.Height, old.Width
	}
	p.stride = p.Width * size
	p.pix = make([]uint8, p.stride*p.Height)
	for y := range p.Height {
		row := p.row(y)
		for x := range p.Width {
			fromX, fromY := x, y
			if exchanged {
				fromX, fromY = y, x
			}
			switch p.Orientation {
			case 2, 8:
				fromX = old.Width - 1 - fromX
			case 4, 6:
				fromY = old.Height - 1 - fromY
			case 3, 7:
				fromX, fromY = old.Width-1-fromX, old.Height-1-fromY
			}
			copy(row[x*size:(x+1)*size], old.row(fromY)[fromX*size:])
		}
	}
}
