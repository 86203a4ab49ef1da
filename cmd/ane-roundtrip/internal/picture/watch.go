package picture

import (
	"encoding/binary"
	"slices"
)

// Limits of what is kept of a file's metadata: of one part, and of all.
const (
	maxPart  = 1 << 20
	maxParts = 4 << 20
)

// part is a chunk of a PNG or a segment of a JPEG.
type part struct {
	kind string // "eXIf"; for JPEG "APP1"
	data []byte
}

// watcher is written everything that a decoder reads, and keeps the parts that say
// how the samples are meant. It never fails: what it does not understand it leaves
// to the decoder.
type watcher struct {
	png   bool
	parts []part
	kept  int // bytes in parts

	head []byte // of the part at hand
	need int    // how long head has to become
	left int    // bytes of the part still to come
	keep bool
	over bool // the rest says nothing more
}

// newWatcher starts at the beginning of a file.
func newWatcher(png bool) *watcher {
	if png {
		return &watcher{png: true, left: len(pngSignature), need: 8}
	}
	return &watcher{left: 2, need: 4}
}

// Write takes what the decoder read.
func (w *watcher) Write(b []byte) (int, error) {
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

// begin starts the part whose head is complete.
func (w *watcher) begin() {
	var kind string
	var size int
	if w.png {
		kind, size = string(w.head[4:8]), int(binary.BigEndian.Uint32(w.head))
		w.left = size + 4 // its checksum
		w.over = kind == "IEND"
	} else {
		switch marker := w.head[1]; {
		case w.head[0] != 0xff, marker == 0xda, marker == 0xd9: // lost, or samples follow
			w.over = true
			return
		case marker == 0xff: // fill
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
	w.keep = slices.Contains([]string{"APP1", "APP2", "eXIf", "acTL", "iCCP", "cICP"}, kind) && size <= maxPart &&
		w.kept+size <= maxParts
	if w.keep {
		w.parts = append(w.parts, part{kind: kind})
		w.kept += size
	}
}
