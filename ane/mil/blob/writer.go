package blob

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Writer makes a weight file. It keeps the payloads of Add without copying them: the
// caller must not change them before the file is written. Payloads of AddStream are
// read while the file is written. The zero Writer is an empty file. Calls that add
// entries need a single goroutine; after the last one, any number of goroutines may
// write the file.
type Writer struct {
	entries []pending
	end     int64 // after the last payload; 0 for an empty file
}

// pending is an entry to be written: from data, or from a stream.
type pending struct {
	Entry
	data []byte
	open func() (io.ReadCloser, error)
}

// Add appends a tensor of type d and returns its offset for a BLOBFILE. The payload
// is row-major and little endian. Types below 8 bits are packed from the low bits up;
// unusedBits, less than 8, is the number of unused bits of the last byte. Errors are
// ErrType for a type that weight files cannot store and ErrSize for a payload that is
// not a whole number of elements.
func (w *Writer) Add(d mil.DType, payload []byte, unusedBits int) (offset uint64, err error) {
	tag, ok := TagOf(d)
	if !ok {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("a weight file cannot hold %v", d),
			Hint: "use fp16, fp32, bf16 or an integer type up to 32 bits", Err: ErrType}
	}
	return w.AddTag(tag, payload, unusedBits)
}

// AddTag is Add for any tag of the format, including those without a type in MIL text.
func (w *Writer) AddTag(tag Tag, payload []byte, unusedBits int) (offset uint64, err error) {
	bits := tag.Bits()
	if bits == 0 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("unknown scalar %v", tag), Hint: "types are numbered 1 to 17",
			Err: ErrType}
	}
	if unusedBits < 0 || unusedBits > 7 || bits >= 8 && unusedBits != 0 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d unused bits for %v", unusedBits, tag),
			Hint: "only types below 8 bits leave bits unused, fewer than 8", Err: ErrSize}
	}
	used := int64(len(payload))*8 - int64(unusedBits)
	if used <= 0 || used%int64(bits) != 0 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d bytes with %d unused bits are not a whole number of %v "+
			"elements", len(payload), unusedBits, tag), Hint: "give one or more whole elements", Err: ErrSize}
	}
	return w.put(Entry{Tag: tag, Size: int64(len(payload)), UnusedBits: unusedBits}, pending{data: payload})
}

// put places an entry after the others.
func (w *Writer) put(e Entry, p pending) (offset uint64, err error) {
	at := align(max(w.end, headerSize))
	switch {
	case len(w.entries) >= math.MaxUint32:
		return 0, &Error{Offset: -1, Msg: "a weight file cannot have more entries", Err: ErrCount}
	case at > math.MaxInt64-2*alignment-metaSize-e.Size:
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d more bytes exceed the largest size of a file", e.Size),
			Err: ErrSize}
	}
	e.Offset, e.DataOffset = uint64(at), at+metaSize
	p.Entry = e
	w.entries = append(w.entries, p)
	w.end = e.end()
	return e.Offset, nil
}

// Clone returns an independent Writer of the same entries. Both share the payloads.
func (w *Writer) Clone() *Writer { return &Writer{entries: slices.Clone(w.entries), end: w.end} }

// Size is the size of the file in bytes.
func (w *Writer) Size() int64 { return max(w.end, headerSize) }

// WriteTo writes the file to dst and returns the number of bytes written. It opens
// streams one after the other and copies them through a small buffer.
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

// meta returns the metadata of e in the form of the file.
func (e Entry) meta() []byte {
	b := make([]byte, metaSize)
	binary.LittleEndian.PutUint32(b, sentinel)
	binary.LittleEndian.PutUint32(b[4:], uint32(e.Tag))
	binary.LittleEndian.PutUint64(b[8:], uint64(e.Size))
	binary.LittleEndian.PutUint64(b[16:], uint64(e.DataOffset))
	binary.LittleEndian.PutUint64(b[24:], uint64(e.UnusedBits))
	return b
}

// Bytes returns the file in new memory. It returns nil when a stream fails; WriteTo
// returns the error.
func (w *Writer) Bytes() []byte {
	b, err := w.bytes()
	if err != nil {
		return nil
	}
	return b
}

// bytes is Bytes with the error. It reads streams directly into the result.
func (w *Writer) bytes() ([]byte, error) {
	if w.Size() > math.MaxInt {
		return nil, &Error{Offset: -1, Msg: fmt.Sprintf("%d bytes do not fit in memory", w.Size()),
			Hint: "use WriteFile", Err: ErrSize}
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

// header writes the header of the file to b.
func (w *Writer) header(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(len(w.entries)))
	binary.LittleEndian.PutUint32(b[4:], version)
}
