package blob

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/wholefile"
)

// Writer makes a weight file. It keeps the payloads of Add without copying them: the caller must not change them before
// the file is written. Payloads of AddStream are read while the file is written. The zero Writer is an empty file.
// Calls that add entries need a single goroutine; after the last one, any number of goroutines may write the file.
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

// Add appends a tensor of type d and returns its offset for a BLOBFILE. The payload is row-major and little endian.
// Types below 8 bits are packed from the low bits up; unusedBits, less than 8, is the number of unused bits of the last
// byte. Errors are ErrType for a type that weight files cannot store and ErrSize for a payload that is not a whole
// number of elements.
func (w *Writer) Add(d mil.DType, payload []byte, unusedBits int) (offset uint64, err error) {
	tag, ok := TagOf(d)
	if !ok {
		return 0, refused(ErrType, "use fp16, fp32, bf16 or an integer type up to 32 bits",
			"a weight file cannot hold %v", d)
	}
	return w.AddTag(tag, payload, unusedBits)
}

// AddTag is Add for any tag of the format, including those without a type in MIL text. Errors are those of Add, ErrType
// for a Tag that is not Known.
func (w *Writer) AddTag(tag Tag, payload []byte, unusedBits int) (offset uint64, err error) {
	bits := tag.Bits()
	used := int64(len(payload))*8 - int64(unusedBits)
	switch {
	case bits == 0:
		return 0, refused(ErrType, "types are numbered 1 to 17", "unknown scalar %v", tag)
	case unusedBits < 0 || unusedBits > 7 || bits >= 8 && unusedBits != 0:
		return 0, refused(ErrSize, "only types below 8 bits leave bits unused, fewer than 8", "%d unused bits for %v",
			unusedBits, tag)
	case used <= 0 || used%int64(bits) != 0:
		return 0, refused(ErrSize, "give one or more whole elements",
			"%d bytes with %d unused bits are not a whole number of %v elements", len(payload), unusedBits, tag)
	}
	return w.put(pending{Entry: Entry{Tag: tag, Size: int64(len(payload)), UnusedBits: unusedBits}, data: payload})
}

// put places an entry after the others.
func (w *Writer) put(e pending) (offset uint64, err error) {
	at := align(max(w.end, headerSize))
	switch {
	case len(w.entries) >= math.MaxUint32:
		return 0, refused(ErrCount, "", "a weight file cannot have more entries")
	case at > math.MaxInt64-2*alignment-metaSize-e.Size:
		return 0, refused(ErrSize, "", "%d more bytes exceed the largest size of a file", e.Size)
	}
	e.Offset, e.DataOffset = uint64(at), at+metaSize
	w.entries = append(w.entries, e)
	w.end = e.end()
	return e.Offset, nil
}

// Clone returns an independent Writer of the same entries. Both share the payloads.
func (w *Writer) Clone() *Writer { return &Writer{entries: slices.Clone(w.entries), end: w.end} }

// Size is the size of the file in bytes.
func (w *Writer) Size() int64 { return max(w.end, headerSize) }

// AddStream is Add for a payload that is read only while the file is written, so that gigabytes need not be in memory.
// t is a tensor of fixed shape; its size is the number of bytes of the stream. Each write of the file calls open, reads
// the stream to its end and closes it. A stream with fewer or more bytes is ErrSize then.
func (w *Writer) AddStream(t mil.Type, open func() (io.ReadCloser, error)) (offset uint64, err error) {
	e, fault := payload(t)
	switch {
	case fault != nil:
		return 0, fault
	case e.Size == 0 || open == nil:
		return 0, refused(ErrSize, "give at least one element and a function that opens the stream", "no stream of %v", t)
	}
	return w.put(pending{Entry: e, open: open})
}

// WriteTo writes the file to dst and returns the number of bytes written. It opens streams one after the other and
// copies them through a small buffer. Errors: those of dst, those of a stream, and ErrSize for a stream of another
// length.
func (w *Writer) WriteTo(dst io.Writer) (n int64, err error) {
	put := func(part io.WriterTo) {
		if err == nil {
			var more int64
			more, err = part.WriteTo(dst)
			n += more
		}
	}
	put(bytes.NewReader(encoded(header{Count: uint32(len(w.entries)), Version: version})))
	for _, e := range w.entries {
		if err != nil {
			break
		}
		put(bytes.NewReader(make([]byte, int64(e.Offset)-n)))
		put(bytes.NewReader(e.meta()))
		put(bytes.NewReader(e.data))
		if e.open != nil {
			put(e)
		}
	}
	return n, err
}

// chunk is the number of bytes of a stream that are in memory at a time.
const chunk = 256 << 10

// WriteTo opens the stream, copies it and closes it.
func (p pending) WriteTo(dst io.Writer) (n int64, err error) {
	r, err := p.open()
	if err == nil && r == nil {
		err = errors.New("the function that opens it returned nil")
	}
	if err != nil {
		return 0, p.broken(err)
	}
	defer func() {
		if closing := r.Close(); err == nil && closing != nil {
			err = p.broken(closing)
		}
	}()
	buf := make([]byte, min(chunk, p.Size))
	for n < p.Size {
		got, failed := io.ReadFull(r, buf[:min(chunk, p.Size-n)])
		written, err := bytes.NewReader(buf[:got]).WriteTo(dst)
		n += written
		switch {
		case err != nil:
			return n, err
		case failed == io.EOF || errors.Is(failed, io.ErrUnexpectedEOF):
			return n, p.sized("the stream ends after %d of %d bytes", n, p.Size)
		case failed != nil:
			return n, p.broken(failed)
		}
	}
	if more, _ := io.ReadFull(r, buf[:1]); more > 0 {
		return n, p.sized("the stream has more than %d bytes", p.Size)
	}
	return n, nil
}

func (p pending) sized(format string, args ...any) error {
	e := refused(ErrSize, "make the declared type and the stream agree", format, args...)
	e.Offset = p.DataOffset
	return e
}

// broken wraps an error of the stream.
func (p pending) broken(err error) error {
	e := systemError("", err)
	e.Offset, e.Msg = p.DataOffset, "cannot read the stream: "+err.Error()
	return e
}

// Bytes returns the file in new memory. It returns nil when a stream fails; WriteTo returns the error.
func (w *Writer) Bytes() []byte {
	b, _ := w.bytes() // nil after an error
	return b
}

// bytes is Bytes with the error.
func (w *Writer) bytes() ([]byte, error) {
	if w.Size() > math.MaxInt {
		return nil, refused(ErrSize, "use WriteFile", "%d bytes do not fit in memory", w.Size())
	}
	b := bytes.NewBuffer(make([]byte, 0, w.Size()))
	if _, err := w.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteFile writes the file to path and replaces an existing file in one step: after an error the old file is
// unchanged, and no partial file remains. An existing file keeps its permissions, a symbolic link is followed, a device
// or pipe is written directly.
func (w *Writer) WriteFile(path string) error {
	err := wholefile.Replace(path, func(dst io.Writer) error {
		buf := bufio.NewWriter(dst)
		if _, err := w.WriteTo(buf); err != nil {
			return err
		}
		return buf.Flush()
	})
	if err != nil {
		return systemError(path, err)
	}
	return nil
}
