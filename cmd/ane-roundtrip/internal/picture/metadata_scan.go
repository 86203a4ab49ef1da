package picture

import (
	"encoding/binary"
	"slices"
)

// Most bytes of metadata that the scanner keeps: of one part, and of all parts.
const (
	maxPart  = 1 << 20
	maxParts = 4 << 20
)

// part is a chunk of a PNG or a segment of a JPEG.
type part struct {
	kind string // "eXIf"; for JPEG "APP1"
	data []byte
}

// metadataScanner is a writer for the bytes that a decoder reads. It keeps the parts with metadata on
// the samples. It never fails: it skips what it does not understand, and the decoder reports errors.
type metadataScanner struct {
	png   bool
	parts []part
	kept  int // bytes in parts

	head []byte // of the current part
	need int    // length of a complete head
	left int    // bytes of the current part that follow
	keep bool   // whether the current part is kept
	over bool   // whether the rest of the file holds no metadata
}

// newMetadataScanner returns a scanner at the beginning of a file.
func newMetadataScanner(png bool) *metadataScanner {
	if png {
		return &metadataScanner{png: true, left: len(pngSignature), need: 8}
	}
	return &metadataScanner{left: 2, need: 4}
}

// Write scans bytes that the decoder read.
func (w *metadataScanner) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && !w.over {
		if w.left > 0 {
			some := b[:min(w.left, len(b))]
			if w.keep {
				last := &w.parts[len(w.parts)-1]
				last.data = append(last.data, some...)
			}
			w.left -= len(some)
			b = b[len(some):]
			continue
		}
		some := b[:min(w.need-len(w.head), len(b))]
		w.head = append(w.head, some...)
		b = b[len(some):]
		if len(w.head) == w.need {
			w.begin()
		}
	}
	return n, nil
}

// begin starts the part of which head is complete.
func (w *metadataScanner) begin() {
	var kind string
	var size int
	if w.png {
		kind, size = string(w.head[4:8]), int(binary.BigEndian.Uint32(w.head))
		w.left = size + 4 // with its checksum
		w.over = kind == "IEND"
	} else {
		switch marker := w.head[1]; {
		case w.head[0] != 0xff, marker == 0xda, marker == 0xd9: // not a marker, or samples follow
			w.over = true
			return
		case marker == 0xff: // fill byte
			w.head = slices.Delete(w.head, 0, 1)
			return
		case marker == 0xe1:
			kind = "APP1"
		case marker == 0xe2:
			kind = "APP2"
		}
		size = max(int(binary.BigEndian.Uint16(w.head[2:]))-2, 0)
		w.left = size
	}
	w.head = w.head[:0]
	w.keep = slices.Contains([]string{"APP1", "APP2", "eXIf", "acTL", "iCCP", "cICP", "sRGB", "gAMA",
		"cHRM"}, kind) && size <= maxPart &&
		w.kept+size <= maxParts
	if w.keep {
		w.parts = append(w.parts, part{kind: kind})
		w.kept += size
	}
}
