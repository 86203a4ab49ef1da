package blob

import (
	"io"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

// AddFloat32As16 is Add for float32 values that the file stores as fp16, rounded once. It converts them at once and
// does not keep the slice. Values beyond the range of fp16 become infinite, those that are too small become zero, and
// NaN stays NaN; LostAs16 counts them. Errors are those of Add.
func (w *Writer) AddFloat32As16(values []float32) (offset uint64, err error) {
	halves := make([]fp16.Bits, len(values))
	fp16.Encode(halves, values)
	return w.Add(mil.FP16, raw(halves), 0)
}

// Lost counts float32 values that fp16 does not hold.
type Lost struct {
	Infinite int // finite values beyond the range, which become infinite
	Zero     int // values other than zero that are too small, which become zero
	NaN      int // values that are no numbers, and stay so
}

// LostAs16 counts the values that AddFloat32As16 and Float32As16 do not keep as numbers.
func LostAs16(values []float32) (n Lost) {
	const beyond = fp16.MaxValue + 16            // half a unit in the last place above the largest
	const vanishing = fp16.SmallestSubnormal / 2 // a tie, which rounds to the even zero
	for _, v := range values {
		switch {
		case v != v:
			n.NaN++
		case v != 0 && v <= vanishing && v >= -vanishing:
			n.Zero++
		case (v >= beyond || v <= -beyond) && !math.IsInf(float64(v), 0):
			n.Infinite++
		}
	}
	return n
}

// Float32As16 returns a stream of fp16 converted from r, a stream of float32, both
// little endian. Closing it closes r. It is for AddStream:
//
//	w.AddStream(t, func() (io.ReadCloser, error) {
//		r, err := os.Open("w.f32")
//		return blob.Float32As16(r), err
//	})
//
// A stream that ends within a float32 ends with io.ErrUnexpectedEOF. One with a finite value beyond the range of fp16,
// or with NaN, ends with ErrRange, which names the first; values that are infinite stay so.
func Float32As16(r io.ReadCloser) io.ReadCloser { return &halving{r: r} }

// halving is the stream of Float32As16. It allocates its buffers at the first Read.
type halving struct {
	r      io.ReadCloser
	wide   []float32
	halves []fp16.Bits // memory of ready
	ready  []byte      // converted and not yet read
	done   int64       // values converted
	err    error       // returned after ready
}

func (h *halving) Close() error { return h.r.Close() }

// refuse ends the stream before the first of values that becomes infinite or is NaN.
func (h *halving) refuse(values []float32) {
	for i := range values {
		if n := LostAs16(values[i : i+1]); n.Infinite+n.NaN > 0 {
			h.ready = h.ready[:2*i]
			h.err = refused(ErrRange, "clip or scale the values, or keep fp32", "value %d of the stream is %g, %v",
				h.done+int64(i), values[i], ErrRange)
			return
		}
	}
}

func (h *halving) Read(p []byte) (int, error) {
	if h.wide == nil {
		h.wide, h.halves = make([]float32, chunk/4), make([]fp16.Bits, chunk/4)
	}
	for len(h.ready) == 0 {
		if h.err != nil {
			return 0, h.err
		}
		var n int
		if n, h.err = io.ReadFull(h.r, raw(h.wide)); h.err == io.ErrUnexpectedEOF && n%4 == 0 {
			h.err = io.EOF
		}
		n, fine := fp16.EncodeFinite(h.halves, h.wide[:n/4])
		if h.ready = raw(h.halves[:n]); !fine {
			h.refuse(h.wide[:n])
		}
		h.done += int64(n)
	}
	n := copy(p, h.ready)
	h.ready = h.ready[n:]
	return n, nil
}
