package blob

import (
	"errors"
	"fmt"
	"io"

	"github.com/anekit/anekit/ane/mil"
)

// AddStream is Add for a payload that is read only while the file is written, so
// that gigabytes need not be in memory. t is a tensor of fixed shape; its size is the
// number of bytes of the stream. Each write of the file calls open, reads the stream
// to its end and closes it. A stream with fewer or more bytes is ErrSize then.
func (w *Writer) AddStream(t mil.Type, open func() (io.ReadCloser, error)) (offset uint64, err error) {
	size, err := Need{Type: t}.Bytes()
	if err != nil {
		return 0, unplaced(err)
	}
	if size == 0 || open == nil {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("no stream of %v", t),
			Hint: "give at least one element and a function that opens the stream", Err: ErrSize}
	}
	tag, _ := TagOf(t.DType) // Bytes has checked the type
	elements, _ := t.Elements()
	spare := int(size*8 - int64(elements)*int64(tag.Bits()))
	return w.put(Entry{Tag: tag, Size: size, UnusedBits: spare}, pending{open: open})
}

// unplaced removes the offset from an error that does not belong to a file yet.
func unplaced(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Offset = -1
	}
	return err
}

// chunk is the number of bytes of a stream that are in memory at a time.
const chunk = 256 << 10

// stream passes the payload to put, a chunk at a time.
func (p pending) stream(put func([]byte) error) error {
	return p.reading(func(r io.Reader) error {
		buf := make([]byte, min(chunk, p.Size))
		for left := p.Size; left > 0; {
			part := buf[:min(int64(len(buf)), left)]
			n, err := io.ReadFull(r, part)
			if err != nil {
				return p.short(p.Size-left+int64(n), err)
			}
			if err := put(part); err != nil {
				return err
			}
			left -= int64(n)
		}
		return nil
	})
}

// fill reads the payload into dst, which has the same size.
func (p pending) fill(dst []byte) error {
	return p.reading(func(r io.Reader) error {
		if n, err := io.ReadFull(r, dst); err != nil {
			return p.short(int64(n), err)
		}
		return nil
	})
}

// reading opens the stream, calls read, which reads the whole payload, and closes it.
func (p pending) reading(read func(io.Reader) error) error {
	r, err := p.open()
	if err != nil {
		return p.broken(err)
	}
	if r == nil {
		return p.broken(errors.New("the function that opens it returned nil"))
	}
	err = read(r)
	if err == nil {
		var more [1]byte
		if n, _ := io.ReadFull(r, more[:]); n > 0 {
			err = &Error{Offset: p.DataOffset, Msg: fmt.Sprintf("the stream has more than %d bytes", p.Size),
				Hint: "make the declared type and the stream agree", Err: ErrSize}
		}
	}
	if closing := r.Close(); err == nil && closing != nil {
		err = p.broken(closing)
	}
	return err
}

// short returns the error of a stream that ended after n bytes.
func (p pending) short(n int64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Offset: p.DataOffset, Msg: fmt.Sprintf("the stream ends after %d of %d bytes", n, p.Size),
			Hint: "make the declared type and the stream agree", Err: ErrSize}
	}
	return p.broken(err)
}

// broken wraps an error of the stream.
func (p pending) broken(err error) error {
	e := systemError("", err)
	e.Offset, e.Msg = p.DataOffset, "cannot read the stream: "+err.Error()
	return e
}
