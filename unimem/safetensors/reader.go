package safetensors

import (
	"errors"
	"io"
	"slices"
)

// Reader reads a file from a stream: the header first, then the tensors in their order in the file.
// One goroutine at a time may use it.
type Reader struct {
	in      io.Reader
	head    *header // its records in their order in the stream
	next    int
	current *io.LimitedReader // the rest of the last tensor of Next
}

// Info describes a tensor of a stream.
type Info struct {
	Name   string
	DType  DType
	Shape  []int
	Size   int64 // in bytes
	Offset int64 // in the stream
}

// NewReader reads and checks the header. It reads no byte after it. Memory for the header grows with
// what r delivers, not with what the length claims.
//
// Errors: ErrHeader, ErrTruncated, ErrOverlap, ErrHole, ErrDuplicate, ErrDType, ErrShape, and
// that of r.
func NewReader(r io.Reader) (*Reader, error) {
	var first [lead]byte
	if n, err := io.ReadFull(r, first[:]); err != nil {
		return nil, streamError(err, int64(n))
	}
	n, err := headerLength(first[:], -1)
	if err != nil {
		return nil, named(err, "read", "")
	}
	text, err := readText(r, n)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(text, -1)
	if err != nil {
		return nil, named(err, "read", "")
	}
	slices.SortFunc(h.records, byPlace)
	return &Reader{in: r, head: h}, nil
}

// readText reads n bytes. What it copies to larger memory is a third of them at most.
func readText(r io.Reader, n int) ([]byte, error) {
	const first = 64 << 10
	text := make([]byte, 0, min(n, first))
	for len(text) < n {
		if len(text) == cap(text) {
			more := 4 * cap(text)
			if more > n/4 {
				more = n
			}
			text = append(make([]byte, 0, more), text...)
		}
		got, err := io.ReadFull(r, text[len(text):cap(text)])
		text = text[:len(text)+got]
		if err != nil {
			return nil, streamError(err, int64(lead+len(text)))
		}
	}
	return text, nil
}

// streamError is the error of a stream that ends or fails at a byte.
func streamError(err error, at int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Op: "read", Offset: at, Err: ErrTruncated, Detail: "the stream ends"}
	}
	return &Error{Op: "read", Offset: at, Err: err}
}

// Metadata returns a copy of the metadata.
func (r *Reader) Metadata() map[string]string { return r.head.metadata() }

// Infos returns the tensors in their order in the stream, with those of Align.
func (r *Reader) Infos() []Info {
	all := make([]Info, len(r.head.records))
	for i := range r.head.records {
		all[i] = r.info(i)
	}
	return all
}

func (r *Reader) info(i int) Info {
	t := &r.head.records[i]
	return Info{r.head.name(t), t.dtype, r.head.shape(t), t.end - t.begin, r.head.data + t.begin}
}

// Next goes to the next tensor, whose bytes Read then returns. It skips what is left of the one
// before, and the tensors of Align. The error is io.EOF after the last tensor; a stream that goes
// on after it is not read further.
func (r *Reader) Next() (Info, error) {
	for {
		if err := r.skip(); err != nil {
			return Info{}, err
		}
		if r.next == len(r.head.records) {
			return Info{}, io.EOF
		}
		one := r.info(r.next)
		r.current = &io.LimitedReader{R: r.in, N: one.Size}
		r.next++
		if !Padding(one.Name) {
			return one, nil
		}
	}
}

func (r *Reader) skip() error {
	if r.current == nil || r.current.N == 0 {
		return nil
	}
	_, err := io.Copy(io.Discard, r.current)
	if err == nil && r.current.N > 0 {
		err = io.EOF
	}
	if err != nil {
		return streamError(err, r.at())
	}
	return nil
}

// at is the offset of the next byte in the stream.
func (r *Reader) at() int64 { return r.head.data + r.head.records[r.next-1].end - r.current.N }

// Read reads the bytes of the tensor of Next. The error is io.EOF at the tensor's end, ErrTruncated
// if the stream ends before it.
func (r *Reader) Read(p []byte) (int, error) {
	if r.current == nil || r.current.N == 0 {
		return 0, io.EOF
	}
	n, err := r.current.Read(p)
	if err != nil && r.current.N > 0 {
		err = streamError(err, r.at())
	}
	return n, err
}
