package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Attention holds the sizes of scaled_dot_product_attention: softmax(query x key^T / sqrt(E)
// + mask) x value, for query [.., L, E], key [.., S, E] and value [.., S, EV].
type Attention struct {
	L, S, E, EV                      int
	Batch                            []int // of the result
	BatchQuery, BatchKey, BatchValue []int
}

func inferAttention(c *Call) {
	q, k, v, mask := c.tensor("query"), c.tensor("key"), c.tensor("value"), c.tensor("attn_mask")
	c.needs("query", floats...)
	c.sameType("query", "key")
	c.sameType("query", "value")
	c.fp32(q.DType)
	r := q.Rank()
	if r < 3 {
		c.fail("query", "give it as [batch, .., length, features]", "shape %v", q.Shape)
	}
	for _, name := range []string{"key", "value"} {
		if t := c.tensor(name); t.Rank() != r {
			c.fail(name, "reshape it", "rank %d, query has rank %d", t.Rank(), r)
		}
	}
	if c.failed() {
		return
	}
	a := Attention{L: q.Shape[r-2], S: k.Shape[r-2], E: q.Shape[r-1], EV: v.Shape[r-1], BatchQuery: q.Shape[:r-2],
		BatchKey: k.Shape[:r-2], BatchValue: v.Shape[:r-2]}
	if k.Shape[r-1] != a.E {
		c.fail("key", "give both the same number of features", "%d features, query has %d", k.Shape[r-1], a.E)
	}
	if v.Shape[r-2] != a.S {
		c.fail("value", "give both the same length", "length %d, key has %d", v.Shape[r-2], a.S)
	}
	batch, ok := Broadcast(a.BatchQuery, a.BatchKey)
	if ok {
		batch, ok = Broadcast(batch, a.BatchValue)
	}
	if !ok {
		c.fail("key", "make the batch axes equal", "batch axes %v and %v of value do not fit %v of query", a.BatchKey,
			a.BatchValue, a.BatchQuery)
		return
	}
	if !slices.Equal(a.BatchQuery, a.BatchKey) || !slices.Equal(a.BatchQuery, a.BatchValue) {
		c.notes = append(c.notes, "coremltools refuses batch axes that differ; repeat them with tile")
	}
	a.Batch = batch
	if mask != nil {
		c.needs("attn_mask", mil.Bool, mil.FP16, mil.FP32)
		full := append(slices.Clone(batch), a.L, a.S)
		if shape, fits := Broadcast(full, mask.Shape); !fits || !slices.Equal(shape, full) {
			c.fail("attn_mask", "make its axes equal or 1", "shape %v does not broadcast to %v", mask.Shape, full)
		}
		if mask.DType != mil.Bool {
			c.sameType("query", "attn_mask")
		}
		c.notes = append(c.notes, "Apple's engine is reported to ignore the mask, or to take the wrong one; "+
			"write matmul, add, softmax and matmul")
	}
	c.attrs = a
	c.gives(q.DType, append(slices.Clone(batch), a.L, a.EV))
}
