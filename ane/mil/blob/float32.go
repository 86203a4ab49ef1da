package blob

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

// AddFloat32As16 is Add for float32 values that the file holds as fp16, rounded
// once. They are converted at the call and not kept.
func (w *Writer) AddFloat32As16(values []float32) (offset uint64, err error) {
	payload := make([]byte, 2*len(values))
	halves := make([]fp16.Bits, min(len(values), chunk/4))
	for dst := payload; len(values) > 0; {
		n := fp16.Encode(halves, values)
		for i, h := range halves[:n] {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(h))
		}
		values, dst = values[n:], dst[2*n:]
	}
	return w.Add(mil.FP16, payload, 0)
}

// Float32As16 returns a stream of fp16 made from r, a stream of float32, both
// little endian; closing it closes r. It is for AddStream:
//
//	w.AddStream(t, func() (io.ReadCloser, error) {
//		r, err := os.Open("w.f32")
//		return blob.Float32As16(r), err
//	})
//
// A stream that ends within a float32 ends with io.ErrUnexpectedEOF.
func Float32As16(r io.ReadCloser) io.ReadCloser { return &halving{r: r} }

// halving is the stream of Float32As16. It has no memory of its own until it is
// read.
type halving struct {
	r      io.ReadCloser
	in     []byte
	wide   []float32
	halves []fp16.Bits
	out    []byte // storage of ready
	ready  []byte // converted and not yet read
	err    error  // after ready
}

func (h *halving) Close() error { return h.r.Close() }

func (h *halving) Read(p []byte) (int, error) {
	for len(h.ready) == 0 {
		if h.err != nil {
			return 0, h.err
		}
		h.refill()
	}
	n := copy(p, h.ready)
	h.ready = h.ready[n:]
	return n, nil
}

// refill converts the next chunk.
func (h *halving) refill() {
	if h.in == nil {
		h.in, h.out = make([]byte, chunk), make([]byte, chunk/2)
		h.wide, h.halves = make([]float32, chunk/4), make([]fp16.Bits, chunk/4)
	}
	n, err := io.ReadFull(h.r, h.in)
	switch {
	case err == io.ErrUnexpectedEOF && n%4 == 0:
		err = io.EOF
	case err == io.ErrUnexpectedEOF:
		err = io.ErrUnexpectedEOF
	}
	h.err = err
	n /= 4
	for i := range n {
		h.wide[i] = math.Float32frombits(binary.LittleEndian.Uint32(h.in[4*i:]))
	}
	fp16.Encode(h.halves, h.wide[:n])
	for i, b := range h.halves[:n] {
		binary.LittleEndian.PutUint16(h.out[2*i:], uint16(b))
	}
	h.ready = h.out[:2*n]
}
