package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/errtext"
)

const (
	// MaxHeader is the length of the longest header that the format permits, in bytes.
	MaxHeader = 100_000_000
	// lead is the length of the header's own length.
	lead = 8
	// shortest is the length of the shortest description of a tensor in a header:
	// "":{"dtype":"U8","shape":[],"data_offsets":[0,0]}
	shortest = 49
	// metadataKey is the one name that no tensor can have.
	metadataKey = "__metadata__"
)

// header is the header of one file. It keeps the text: names and metadata are parts of it, shapes are read from it when
// a caller asks. So a hostile header costs less than its own length once more, and 200 bytes for each name of metadata.
type header struct {
	text    []byte
	data    int64             // offset of the first tensor in the file
	records []record          // in the order of their names
	meta    map[string]string // parts of text; nil without metadata
}

// record is a tensor of a header.
type record struct {
	begin, end    int64 // from the first tensor's first byte
	name, nameLen uint32
	shape         uint32 // offset in the text
	dtype         DType
}

// fault is an error of a header, without op and file.
func fault(err error, at int64, tensor, format string, args ...any) *Error {
	return &Error{Base: errtext.Base{Op: "parse", Err: err, Detail: fmt.Sprintf(format, args...)}, Tensor: tensor,
		Offset: at}
}

// headerLength reads the first eight bytes of a file of size bytes.
func headerLength(first []byte, size int64) (int, error) {
	n := binary.LittleEndian.Uint64(first)
	switch {
	case n > MaxHeader:
		return 0, fault(ErrHeader, 0, "", "the first %d bytes are no length of a header, which is %d at most", lead, MaxHeader)
	case n < 2:
		return 0, fault(ErrHeader, 0, "", "a length of %d bytes, the shortest header has 2", n)
	case int64(n) > size-lead:
		return 0, fault(ErrTruncated, lead, "", "the header has %d bytes, the file has %d after its length", n,
			size-lead)
	}
	return int(n), nil
}

// parseHeader parses the text of a header of a file of size bytes. It keeps and changes text.
func parseHeader(text []byte, size int64) (*header, error) {
	h := &header{text: text, data: lead + int64(len(text))}
	s := &scanner{b: text}
	if len(text) == 0 || text[0] != '{' {
		return nil, fault(ErrHeader, lead, "", "the header does not begin with '{'")
	}
	err := s.object(func(name []byte) error {
		if string(name) == metadataKey {
			return h.metadata(s)
		}
		return h.tensor(s, name)
	})
	if err != nil {
		return nil, err
	}
	if s.end(); s.fault != "" {
		return nil, fault(ErrHeader, int64(lead+s.where), "", "%s", s.fault)
	}
	return h, h.check(size)
}

// maxNames bounds the memory of metadata, of which short names take more than their text.
const maxNames = 1 << 16

// metadata parses the metadata: strings by names that occur once. null is none, as in the format's own reader.
func (h *header) metadata(s *scanner) error {
	if h.meta != nil {
		return fault(ErrDuplicate, int64(lead+s.at), "", "%s", metadataKey)
	}
	h.meta = map[string]string{}
	if s.next() == 'n' {
		s.word("null")
		return nil
	}
	return s.object(func(name []byte) error {
		at := int64(lead + s.at)
		if _, twice := h.meta[text(name)]; twice {
			return fault(ErrDuplicate, at, "", "%s %s", metadataKey, quote(string(name)))
		}
		if len(h.meta) == maxNames {
			return fault(ErrHeader, at, "", "%s has more than %d names", metadataKey, maxNames)
		}
		h.meta[text(name)] = text(s.str())
		return nil
	})
}

// tensor parses the description of a tensor. A fault of the text stays in s.
func (h *header) tensor(s *scanner, name []byte) error {
	at := int64(lead + s.at)
	bad := func(err error, format string, args ...any) error {
		return fault(err, at, string(name), format, args...)
	}
	r := record{name: uint32(cap(h.text) - cap(name)), nameLen: uint32(len(name)), begin: -1}
	if h.records == nil {
		rest := h.text[s.at:]
		h.records = make([]record, 0, min(bytes.Count(rest, []byte{'{'}), len(rest)/shortest+1))
	}
	var count uint64
	err := s.object(func(field []byte) error {
		switch {
		case string(field) == "dtype" && r.dtype == 0:
			value, ok := s.str(), false
			if r.dtype, ok = dtypeOf(value); !ok && s.fault == "" {
				return bad(ErrDType, "%s", quote(string(value)))
			}
		case string(field) == "shape" && r.shape == 0:
			s.space()
			r.shape = uint32(s.at)
			var whole bool
			if count, whole = shapeCount(s); !whole && s.fault == "" {
				return bad(ErrShape, "the number of elements overflows, or there are more than %d axes", maxAxes)
			}
		case string(field) == "data_offsets" && r.begin < 0:
			s.expect('[')
			r.begin = int64(s.natural())
			s.expect(',')
			r.end = int64(s.natural())
			s.expect(']')
		case string(field) == "dtype", string(field) == "shape", string(field) == "data_offsets":
			return bad(ErrDuplicate, "%s", string(field))
		default: // other readers ignore it too
			s.skip(0)
		}
		return nil
	})
	switch n, ok := bytesOf(count, r.dtype); {
	case err != nil || s.fault != "":
		return err
	case r.dtype == 0:
		return bad(ErrHeader, "no dtype")
	case r.shape == 0:
		return bad(ErrHeader, "no shape")
	case r.begin < 0:
		return bad(ErrHeader, "no data_offsets")
	case r.end < r.begin:
		return bad(ErrHeader, "data_offsets end at %d, before their begin at %d", r.end, r.begin)
	case !ok:
		return bad(ErrShape, "%d elements of %v are no whole number of bytes", count, r.dtype)
	case n != r.end-r.begin:
		return bad(ErrShape, "%d elements of %v are %d bytes, data_offsets span %d", count, r.dtype, n, r.end-r.begin)
	}
	h.records = append(h.records, r)
	return nil
}

// maxAxes bounds the memory of a shape, which takes four times as much as its text.
const maxAxes = 1 << 16

// shapeCount reads a shape and returns the product of its axes, false if it overflows or there are too many.
func shapeCount(s *scanner) (count uint64, ok bool) {
	s.expect('[')
	count, ok = 1, true
	axes := 0
	for first := true; s.more(&first, ']'); axes++ {
		n := s.natural()
		switch {
		case axes == maxAxes:
			ok = false
		case n > 0 && count > (1<<63-1)/n:
			ok = false // also if an axis of 0 follows: the format's product is checked at each axis
		default:
			count *= n
		}
	}
	return count, ok
}

// check compares the tensors with each other and with the file, and sorts them by name. A name that occurs twice
// goes before what is wrong with the places, which usually follows from it.
func (h *header) check(size int64) error {
	err := h.places(size)
	slices.SortFunc(h.records, func(a, b record) int { return bytes.Compare(h.raw(&a), h.raw(&b)) })
	for i := 1; i < len(h.records); i++ {
		if bytes.Equal(h.raw(&h.records[i-1]), h.raw(&h.records[i])) {
			return fault(ErrDuplicate, h.data+h.records[i].begin, h.name(&h.records[i]), "")
		}
	}
	return err
}

// places compares the places of the tensors with each other and with the file.
func (h *header) places(size int64) error {
	slices.SortFunc(h.records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	end := int64(0)
	for i := range h.records {
		r := &h.records[i]
		switch at := h.data + r.begin; {
		case r.begin < end:
			return fault(ErrOverlap, at, h.name(r), "the tensor before it ends at byte %d", h.data+end)
		case r.begin > end:
			return fault(ErrHole, at, h.name(r), "the tensor before it ends at byte %d", h.data+end)
		case r.end > size-h.data:
			return fault(ErrTruncated, at, h.name(r), "the tensor has %d bytes, the file has %d there",
				r.end-r.begin, max(size-at, 0))
		}
		end = r.end
	}
	if end < size-h.data {
		return fault(ErrHole, h.data+end, "", "%d bytes after the last tensor", size-h.data-end)
	}
	return nil
}

func (h *header) raw(r *record) []byte  { return h.text[r.name:][:r.nameLen] }
func (h *header) name(r *record) string { return text(h.raw(r)) }

// shape reads the shape of a tensor again.
func (h *header) shape(r *record) []int {
	s := &scanner{b: h.text, at: int(r.shape)}
	shape := []int{}
	s.expect('[')
	for first := true; s.more(&first, ']'); {
		shape = append(shape, int(s.natural()))
	}
	return shape
}
