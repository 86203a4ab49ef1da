package plan

import (
	"bytes"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/ops"
)

// packedLeast is the least number of elements of a weight that stays packed. A smaller one takes little memory
// expanded, and its products are quicker.
const packedLeast = 1 << 12

// rewrite returns g with products and lookups that read packed weights themselves: no run and no compile expands
// these as a whole. Other operators read the same weights expanded. With bytes, each convolution of dequantized int8
// values by int8 weights is one of integers, as a chip computes it (rule Int8Sums).
func rewrite(g *ops.Graph, least int, bytes bool) *ops.Graph {
	from := make(map[*ops.Value]*ops.Node, len(g.Nodes))
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			from[v] = n
		}
	}
	changed := *g
	changed.Nodes = make([]*ops.Node, 0, len(g.Nodes))
	for _, n := range g.Nodes {
		if bytes {
			n = integers(n, from)
		}
		changed.Nodes = append(changed.Nodes, packedNode(n, from, least))
	}
	return &changed
}

// halvesOfIntegers reports whether n is a constexpr_blockwise_shift_scale that makes halves of integers that are known
// when compiling.
func halvesOfIntegers(n *ops.Node) bool {
	if n == nil || n.Def.Name != "constexpr_blockwise_shift_scale" {
		return false
	}
	data, scale, offset := n.In[0], n.In[1], n.In[2]
	return data.DType.Integer() && data.DType.Bits() <= 8 && scale.DType == mil.FP16 && data.Const() && scale.Const() &&
		(offset == nil || offset.Const())
}

// packedNode returns n with its weight packed, or n if its kernel could not read it.
func packedNode(n *ops.Node, from map[*ops.Value]*ops.Node, least int) *ops.Node {
	for at, v := range slices.Backward(n.In) {
		w := from[v]
		if !halvesOfIntegers(w) || v.Elements() < least || n.Out[0].DType != mil.FP16 || !takesPacked(n, at) {
			continue
		}
		row, shape, blocks := len(v.Shape)-2, v.Shape, w.In[1].Shape
		if n.Def.Name == "conv" {
			row = 0
		}
		made := *n
		made.In = append(slices.Clone(n.In), w.In[1], w.In[2])
		made.In[at] = w.In[0]
		made.Attrs = kernels.PackedAttrs{Attrs: n.Attrs, At: at, Scale: len(n.In), Rows: shape[row], Cols: shape[row+1],
			High: shape[row] / blocks[row], Wide: shape[row+1] / blocks[row+1]}
		return &made
	}
	return n
}

// takesPacked reports whether the kernel of n reads operand at as one matrix, and computes with halves.
func takesPacked(n *ops.Node, at int) bool {
	shape := n.In[at].Shape
	switch n.Def.Name {
	case "gather":
		a := n.Attrs.(ops.Gather)
		return at == 0 && a.Axis == 0 && a.Batch == 0 && len(shape) == 2
	case "conv":
		a, ok := n.Attrs.(ops.Window)
		return ok && at == 1 && ops.Volume(a.Kernel) == 1 && a.Groups == 1 && n.In[0].DType == mil.FP16
	case "matmul":
		return len(shape) > 1 && ops.Volume(shape[:len(shape)-2]) == 1 && n.In[1-at].DType == mil.FP16
	}
	return n.Def.Name == "linear" && at == 1 && n.In[0].DType == mil.FP16
}

// integers returns the convolution of integers that n computes, or n. Both operands have scales only, no zero point,
// whose effect is unmeasured.
func integers(n *ops.Node, from map[*ops.Value]*ops.Node) *ops.Node {
	w, ok := n.Attrs.(ops.Window)
	if !ok || n.Def.Name != "conv" || n.Out[0].DType != mil.FP16 {
		return n
	}
	x, weight := from[n.In[0]], from[n.In[1]]
	if x == nil || weight == nil || x.Def.Name != "dequantize" ||
		weight.Def.Name != "constexpr_blockwise_shift_scale" || !plainBytes(x) || !plainBytes(weight) {
		return n
	}
	scale, outputs := weight.In[1], n.Out[0].Shape[1]
	each := scale.Elements() == outputs && scale.Shape[0] == outputs
	if x.In[1].Elements() != 1 || scale.Elements() != 1 && !each {
		return n
	}
	made := *n
	made.In = []*ops.Value{x.In[0], weight.In[0], n.In[2], x.In[1], scale}
	made.Attrs = kernels.ByteWindow{Window: w}
	return &made
}

// plainBytes reports whether a dequantization is of int8 and has no zero point but 0.
func plainBytes(n *ops.Node) bool {
	zero := n.In[2]
	return n.In[0].DType == mil.Int8 &&
		(zero == nil || zero.Data != nil && len(bytes.Trim(zero.Data, "\x00")) == 0)
}
