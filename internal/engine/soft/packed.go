package soft

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// packedAttrs are the settings of an operator with a packed weight: integers with scales and offsets, as
// constexpr_blockwise_shift_scale takes them. Its node has that operator's data in place of the weight, and scale and
// offset after the other operands.
type packedAttrs struct {
	attrs      any
	at         int // index of the weight
	scale      int // index of the scale; the offset follows
	rows, cols int // of the weight as a matrix
	high, wide int // of a block
}

// packedLeast is the least number of elements of a weight that stays packed. A smaller one takes little memory
// expanded, and its products are quicker.
const packedLeast = 1 << 12

// keepPacked returns g with products and lookups that read packed weights themselves: no run and no compile expands
// these as a whole. Other operators read the same weights expanded.
func keepPacked(g *ops.Graph, least int) *ops.Graph {
	from := map[*ops.Value]*ops.Node{}
	for _, n := range g.Nodes {
		if n.Def.Name == "constexpr_blockwise_shift_scale" && halvesOfIntegers(n) {
			from[n.Out[0]] = n
		}
	}
	if len(from) == 0 {
		return g
	}
	changed := *g
	changed.Nodes = nil
	for _, n := range g.Nodes {
		changed.Nodes = append(changed.Nodes, packedNode(n, from, least))
	}
	return &changed
}

// halvesOfIntegers reports whether a constexpr_blockwise_shift_scale makes halves of integers that are known when
// compiling.
func halvesOfIntegers(n *ops.Node) bool {
	data, scale, offset := n.In[0], n.In[1], n.In[2]
	return data.DType.Integer() && data.DType.Bits() <= 8 && scale.DType == mil.FP16 && data.Const() && scale.Const() &&
		(offset == nil || offset.Const())
}

// packedNode returns n with its weight packed, or n if its kernel could not read it.
func packedNode(n *ops.Node, from map[*ops.Value]*ops.Node, least int) *ops.Node {
	for _, at := range weightOperands(n) {
		w := from[n.In[at]]
		if w == nil || n.In[at].Elements() < least || n.Out[0].DType != mil.FP16 || !takesPacked(n, at) {
			continue
		}
		row, shape, blocks := len(n.In[at].Shape)-2, n.In[at].Shape, w.In[1].Shape
		if n.Def.Name == "conv" {
			row = 0
		}
		made := *n
		made.In = append(slices.Clone(n.In), w.In[1], w.In[2])
		made.In[at] = w.In[0]
		made.Attrs = packedAttrs{n.Attrs, at, len(n.In), shape[row], shape[row+1], shape[row] / blocks[row],
			shape[row+1] / blocks[row+1]}
		return &made
	}
	return n
}

// weightOperands lists the operands of n that its kernel can read packed.
func weightOperands(n *ops.Node) []int {
	switch n.Def.Name {
	case "linear", "conv":
		return []int{1}
	case "matmul":
		return []int{1, 0}
	case "gather":
		return []int{0}
	}
	return nil
}

// takesPacked reports whether the kernel of n reads operand at as one matrix, and computes with halves.
func takesPacked(n *ops.Node, at int) bool {
	shape := n.In[at].Shape
	switch a := n.Attrs.(type) {
	case ops.Gather:
		return a.Axis == 0 && a.Batch == 0 && len(shape) == 2
	case ops.Window:
		return ops.Volume(a.Kernel) == 1 && a.Groups == 1 && n.In[0].DType == mil.FP16
	case ops.Matmul:
		return len(shape) > 1 && ops.Volume(shape[:len(shape)-2]) == 1 && n.In[1-at].DType == mil.FP16
	case byteWindow, packedAttrs:
		return false
	}
	return n.In[0].DType == mil.FP16
}

// isPacked reports whether operand i of a node has elements as they are stored.
func (p *packedAttrs) isPacked(i int) bool { return p != nil && (i == p.at || i == p.scale+1) }

// unwrap sets the settings of a step, and those of its packed weight.
func (s *step) unwrap(attrs any) {
	if p, ok := attrs.(packedAttrs); ok {
		s.packed, attrs = &p, p.attrs
	}
	s.attrs = attrs
}

// weights describes operand at of a step that has it packed, else it is nil.
func (s *step) weights(at int) *packed.Weights {
	p := s.packed
	if p == nil || p.at != at {
		return nil
	}
	data, scale, offset := &s.in[at], &s.in[p.scale], &s.in[p.scale+1]
	w := &packed.Weights{Data: data.data.raw, Bits: data.dtype.Bits(), Signed: !data.dtype.Unsigned(), Rows: p.rows,
		Cols: p.cols, High: p.high, Wide: p.wide, Scale: scale.data.half}
	if !data.stored {
		w.Width = 8
	}
	switch {
	case offset.where == absent:
	case offset.dtype == mil.FP16:
		w.OffsetHalf = offset.data.half
	case offset.dtype == mil.FP32:
		w.OffsetSingle = offset.data.single
	case offset.stored:
		w.OffsetByte = element.Unpack(offset.dtype, offset.data.raw, ops.Volume(offset.shape))
	default:
		w.OffsetByte = offset.data.raw
	}
	w.Read = s.arith.operand
	w.Written = w.Read & numerics.HalfAway // as constexpr operators round
	return w
}

// readsHalves reports whether the kernel reads operand i as halves.
func (s *step) readsHalves(i int) bool {
	return s.in[i].dtype == mil.FP16 || s.packed != nil && s.packed.at == i
}

// packedRows looks up rows of a packed matrix: gather along axis 0.
type packedRows struct {
	locator
	weights *packed.Weights
}

func (r *packedRows) run(c *call) { c.spread(c.in[1].len(), 2*r.weights.Cols) }

func (r *packedRows) span(c *call, lo, hi, worker int) {
	n := r.weights.Cols
	for i := lo; i < hi && !c.pause(worker); i++ {
		r.weights.Halves(c.out[0].half[i*n:][:n], r.at(c, 1, i, r.weights.Rows), 0)
	}
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
func newPackedVector(s *step, at int, bias bool) (runner, int) {
	w := s.weights(at)
	if w == nil || s.arith.operand != 0 || !w.Fits() || w.Cols > vectorMost {
		return nil, 0
	}
	w.Remember()
	return &packedVector{w, 1 - at, bias}, w.Cols + w.VectorRoom() + w.Room(packedPiece) + 2*packedPiece
}

func (r *packedVector) run(c *call) {
	c.deal((r.weights.Rows+packedPiece-1)/packedPiece, min(packedPiece, r.weights.Rows)*r.weights.Cols)
}

func (r *packedVector) span(c *call, _, _, worker int) {
	room := c.work[worker]
	take := func(n int) []float32 {
		taken := room[:n]
		room = room[n:]
		return taken
	}
	x, vector, sums, bias := take(r.weights.Cols), take(r.weights.VectorRoom()), take(packedPiece), take(packedPiece)
	c.in[r.vector].load(x, 0)
	v := r.weights.Arrange(x, vector)
	for !c.pause(worker) {
		i, ok := c.take(worker)
		if !ok {
			return
		}
		row := i * packedPiece
		n := min(packedPiece, r.weights.Rows-row)
		r.weights.Dots(sums[:n], &v, room, row)
		if r.bias {
			c.in[2].load(bias[:n], row)
			for j, b := range bias[:n] {
				sums[j] += b
			}
		}
		c.out[0].store(sums[:n], row)
	}
}
