package blob

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Writer makes a weight file. It keeps the payloads that Add was given, without
// copying them, until it is dropped: the caller must not change them before the
// file is written. Payloads of AddStream are read while the file is written. The
// zero Writer is an empty file. A Writer is for one goroutine; once nothing is
// added, any number may write it out.
type Writer struct {
	entries []pending
	end     int64 // behind the last payload; 0 for an empty file
}

// pending is an entry to be written: from data, or from a stream.
type pending struct {
	Entry
	data []byte
	open func() (io.ReadCloser, error)
}

// Add appends a tensor of type d and returns the offset by which a BLOBFILE
// names it. The payload is row-major and little endian; types below 8 bits are
// packed from the low bits on, with unusedBits, less than 8, left over in the
// last byte. Faults are ErrType for a type that weight files do not hold and
// ErrSize for a payload that is no whole number of elements.
func (w *Writer) Add(d mil.DType, payload []byte, unusedBits int) (offset uint64, err error) {
	tag, ok := TagOf(d)
	if !ok {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("a weight file cannot hold %v", d), Hint: "use fp16, fp32, bf16 or an integer type up to 32 bits", Err: ErrType}
	}
	return w.AddTag(tag, payload, unusedBits)
}

// AddTag is Add for any tag of the format, also those without a type in MIL
// text.
func (w *Writer) AddTag(tag Tag, payload []byte, unusedBits int) (offset uint64, err error) {
	bits := tag.Bits()
	if bits == 0 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("unknown scalar %v", tag), Hint: "types are numbered 1 to 17", Err: ErrType}
	}
	if unusedBits < 0 || unusedBits > 7 || bits >= 8 && unusedBits != 0 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d unused bits for %v", unusedBits, tag), Hint: "only types below 8 bits leave bits unused, fewer than 8", Err: ErrSize}
	}
	used := int64(len(payload))*8 - int64(unusedBits)
	if used <= 0 || used%int64(bits) != 0 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d bytes with %d unused bits are no whole number of %v elements", len(payload), unusedBits, tag), Hint: "give at least one element and whole ones", Err: ErrSize}
	}
	return w.put(Entry{Tag: tag, Size: int64(len(payload)), UnusedBits: unusedBits}, pending{data: payload})
}

// put gives an entry its place behind the others.
func (w *Writer) put(e Entry, p pending) (offset uint64, err error) {
	at := align(max(w.end, headerSize))
	switch {
	case len(w.entries) >= math.MaxUint32:
		return 0, &Error{Offset: -1, Msg: "a weight file cannot count more entries", Err: ErrCount}
	case at > math.MaxInt64-2*alignment-metaSize-e.Size:
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d more bytes are more than a file can have", e.Size), Err: ErrSize}
	}
	e.Offset, e.DataOffset = uint64(at), at+metaSize
	p.Entry = e
	w.entries = append(w.entries, p)
	w.end = e.end()
	return e.Offset, nil
}

// Clone returns a Writer of the same entries: what is added to one is not in the
// other. Payloads are shared.
func (w *Writer) Clone() *Writer { return &Writer{entries: slices.Clone(w.entries), end: w.end} }

// Size is the size of the file in bytes.
func (w *Writer) Size() int64 { return max(w.end, headerSize) }

// WriteTo writes the file to dst and returns the number of bytes written. Streams
// are opened one after the other and go through a small buffer.
func (w *Writer) WriteTo(dst io.Writer) (int64, error) {
	var n int64
	put := func(b []byte) error {
		k, err := dst.Write(b)
		n += int64(k)
		if err == nil && k < len(b) {
			err = io.ErrShortWrite
		}
		return err
	}
	header := make([]byte, headerSize)
	w.header(header)
	if err := put(header); err != nil {
		return n, err
	}
	for _, e := range w.entries {
		padding := make([]byte, int64(e.Offset)-n)
		for _, part := range [][]byte{padding, e.meta(), e.data} {
			if err := put(part); err != nil {
				return n, err
			}
		}
		if e.open != nil {
			if err := e.stream(put); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// meta is the metadata of e as the file holds it.
func (e Entry) meta() []byte {
	b := make([]byte, metaSize)
	binary.LittleEndian.PutUint32(b, sentinel)
	binary.LittleEndian.PutUint32(b[4:], uint32(e.Tag))
	binary.LittleEndian.PutUint64(b[8:], uint64(e.Size))
	binary.LittleEndian.PutUint64(b[16:], uint64(e.DataOffset))
	binary.LittleEndian.PutUint64(b[24:], uint64(e.UnusedBits))
	return b
}

// Bytes returns the file in memory of its own. It is nil when a stream fails, and
// then WriteTo says why.
func (w *Writer) Bytes() []byte {
	b, err := w.bytes()
	if err != nil {
		return nil
	}
	return b
}

// bytes is Bytes with the reason. Streams are read into the file's own memory.
func (w *Writer) bytes() ([]byte, error) {
	if w.Size() > math.MaxInt {
		return nil, &Error{Offset: -1, Msg: fmt.Sprintf("%d bytes do not fit in memory", w.Size()), Hint: "write it to a file", Err: ErrSize}
	}
	b := make([]byte, w.Size())
	w.header(b)
	for _, e := range w.entries {
		copy(b[e.Offset:], e.meta())
		payload := b[e.DataOffset:e.end()]
		if e.open == nil {
			copy(payload, e.data)
			continue
		}
		if err := e.fill(payload); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// header fills the first bytes of the file.
func (w *Writer) header(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(len(w.entries)))
	binary.LittleEndian.PutUint32(b[4:], version)
}
