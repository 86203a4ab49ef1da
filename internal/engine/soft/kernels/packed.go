package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// PackedAttrs are the settings of an operator with a packed weight: integers with scales and offsets, as
// constexpr_blockwise_shift_scale takes them. Its node has that operator's data in place of the weight, and scale and
// offset after the other operands.
type PackedAttrs struct {
	Attrs      any
	At         int // index of the weight
	Scale      int // index of the scale; the offset follows
	Rows, Cols int // of the weight as a matrix
	High, Wide int // of a block
}

// IsPacked reports whether operand i of a node has elements as they are stored.
func (p *PackedAttrs) IsPacked(i int) bool { return p != nil && (i == p.At || i == p.Scale+1) }

// Unwrap returns the settings of a step, and those of its packed weight.
func Unwrap(attrs any) (any, *PackedAttrs) {
	if p, ok := attrs.(PackedAttrs); ok {
		return p.Attrs, &p
	}
	return attrs, nil
}

// weights describes operand at of a step that has it packed, else it is nil.
func (s *Step) weights(at int) *packed.Weights {
	p := s.Packed
	if p == nil || p.At != at {
		return nil
	}
	data, scale, offset := s.In[at], s.In[p.Scale], s.In[p.Scale+1]
	w := &packed.Weights{Data: data.Data.Raw, Bits: data.DType.Bits(), Signed: !data.DType.Unsigned(), Rows: p.Rows,
		Cols: p.Cols, High: p.High, Wide: p.Wide, Scale: scale.Data.Half}
	if !data.Stored {
		w.Width = 8
	}
	switch {
	case !offset.Given:
	case offset.DType == mil.FP16:
		w.OffsetHalf = offset.Data.Half
	case offset.DType == mil.FP32:
		w.OffsetSingle = offset.Data.Single
	case offset.Stored:
		w.OffsetByte = element.Unpack(offset.DType, offset.Data.Raw, ops.Volume(offset.Shape))
	default:
		w.OffsetByte = offset.Data.Raw
	}
	w.Read = s.Arith.Operand
	w.Written = w.Read & numerics.HalfAway // as constexpr operators round
	return w
}

// readsHalves reports whether the kernel reads operand i as halves.
func (s *Step) readsHalves(i int) bool {
	return s.In[i].DType == mil.FP16 || s.Packed != nil && s.Packed.At == i
}

// packedVector is the product of one vector with the rows of a packed matrix.
type packedVector struct {
	weights *packed.Weights
	vector  int // index of the operand
	bias    bool
}

// packedPiece is the rows of a piece of work.
const packedPiece = 32

// newPackedVector returns nil if the product of a vector with each row of operand at is one of matrices.
func newPackedVector(s *Step, at int, bias bool) (run.Runner, int) {
	w := s.weights(at)
	if w == nil || s.Arith.Operand != 0 || !w.Fits() || w.Cols > vectorMost {
		return nil, 0
	}
	w.Remember()
	return &packedVector{w, 1 - at, bias}, w.Cols + w.VectorRoom() + w.Room(packedPiece) + 2*packedPiece
}

func (r *packedVector) Run(c *run.Call) {
	c.Deal((r.weights.Rows+packedPiece-1)/packedPiece, min(packedPiece, r.weights.Rows)*r.weights.Cols)
}

func (r *packedVector) Span(c *run.Call, _, _, worker int) {
	room := c.Work[worker]
	take := func(n int) []float32 {
		taken := room[:n]
		room = room[n:]
		return taken
	}
	x, vector, sums, bias := take(r.weights.Cols), take(r.weights.VectorRoom()), take(packedPiece), take(packedPiece)
	c.In[r.vector].Load(x, 0)
	v := r.weights.Arrange(x, vector)
	for !c.Pause(worker) {
		i, ok := c.Take(worker)
		if !ok {
			return
		}
		row := i * packedPiece
		n := min(packedPiece, r.weights.Rows-row)
		r.weights.Dots(sums[:n], &v, room, row)
		if r.bias {
			c.In[2].Load(bias[:n], row)
			for j, b := range bias[:n] {
				sums[j] += b
			}
		}
		c.Out[0].Store(sums[:n], row)
	}
}
