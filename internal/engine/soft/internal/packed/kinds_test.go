package packed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

func eachKernel(t *testing.T, test func(t *testing.T)) {
	had := machine
	defer func() { machine = had }()
	for _, machine = range simd.Levels() {
		t.Run(machine.String(), test)
	}
}

// kind is a kind of Weights.
type kind struct {
	bits   int
	width  int
	signed bool
	offset int // 0 none, 1 integers, 2 halves, 3 float32
}

func (k kind) String() string {
	return fmt.Sprintf("bits %d width %d signed %v offset %d", k.bits, k.width, k.signed, k.offset)
}

func kinds() (all []kind) {
	for _, bits := range []int{2, 3, 4, 6, 8} {
		for _, signed := range []bool{false, true} {
			for offset := range 4 {
				all = append(all, kind{bits, 0, signed, offset}, kind{bits, 8, signed, offset})
			}
		}
	}
	return all
}

// random returns Weights of a kind. extreme ones have scales and offsets of every magnitude.
func random(r *rand.Rand, k kind, rows, cols, high, wide int, extreme bool) *Weights {
	w := &Weights{Bits: k.bits, Width: k.width, Signed: k.signed, Rows: rows, Cols: cols, High: high, Wide: wide}
	w.Data = make([]byte, (rows*cols*w.width()+7)/8)
	for i := 0; i < len(w.Data); i += 8 {
		for j, n := i, r.Uint64(); j < min(i+8, len(w.Data)); j++ {
			w.Data[j] = byte(n)
			n >>= 8
		}
	}
	if k.width == 8 { // integers in bytes of their own
		for i, b := range w.Data {
			w.Data[i] = b & (1<<k.bits - 1)
			if k.signed {
				w.Data[i] = byte(int8(b<<(8-k.bits)) >> (8 - k.bits))
			}
		}
	}
	integer := func() byte {
		b := byte(r.Uint32())
		if k.signed {
			return byte(int8(b) >> (8 - k.bits))
		}
		return b >> (8 - k.bits)
	}
	for range rows / high * (cols / wide) {
		s, o := fp16.FromFloat64((0.5+r.Float64())/64), r.Float64()*float64(int(1)<<k.bits)
		if extreme {
			s, o = fp16.Bits(r.Uint32()), math.Ldexp(r.Float64()-0.5, r.IntN(70)-40)
			if r.IntN(3) == 0 {
				s = s & 0x3fff // of a magnitude that kernels take
				o = math.Trunc(o)
			}
		}
		w.Scale = append(w.Scale, s)
		switch k.offset {
		case 1:
			w.OffsetByte = append(w.OffsetByte, integer())
		case 2:
			w.OffsetHalf = append(w.OffsetHalf, fp16.FromFloat64(o))
		case 3:
			w.OffsetSingle = append(w.OffsetSingle, float32(o))
		}
	}
	return w
}

// same compares bits; all NaN are alike.
func same(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }

func halvesOf(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = fp16.FromFloat64(r.NormFloat64()).Float32()
	}
	return x
}

// anyHalves returns halves of every magnitude, at times with one that is infinite.
func anyHalves(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		b := fp16.Bits(r.Uint32())
		if b&0x7c00 == 0x7c00 {
			b &^= 0x4000
		}
		x[i] = b.Float32()
	}
	if r.IntN(4) == 0 {
		x[r.IntN(n)] = float32(math.Inf(1))
	}
	return x
}

// arranged is Arrange in memory whose earlier contents must not matter.
func arranged(w *Weights, x []float32) Vector {
	room := make([]float32, w.VectorRoom())
	for i := range room {
		room[i] = float32(math.NaN())
	}
	return w.Arrange(x, room)
}
