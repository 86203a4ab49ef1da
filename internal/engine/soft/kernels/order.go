package kernels

import (
	"math"
	"math/bits"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// topK finds the K greatest or least elements along an axis, in order, and their indices. Of equal elements that with
// the lower index comes first, -0 equals 0, and NaN comes last in both orders.
func topK(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.TopK)
	r := &orderer{TopK: a, axis: alongOf(s.In[0].Shape, a.Axis), values: s.Op == "topk"}
	cost := 4 * r.axis.length * bits.Len(uint(r.K))
	return newLoop(r.axis.outer*r.axis.inner, cost, 1, r.lane), 2*a.K + run.Chunk
}

type orderer struct {
	ops.TopK
	axis   alongAxis
	values bool // the first result has the elements; else there are indices alone
}

func (r *orderer) lane(c *run.Call, lane, _, worker int) {
	words, room := c.Words[worker], c.Work[worker][2*r.K:]
	h, keys := ranking{keys: words[:r.K], at: words[r.K : 2*r.K]}, words[2*r.K:]
	outer, inner := lane/r.axis.inner, lane%r.axis.inner
	base := outer*r.axis.length*r.axis.inner + inner
	for from := 0; from < r.axis.length && !c.Pause(worker); from += run.Chunk {
		n := min(run.Chunk, r.axis.length-from)
		r.keys(&c.In[0], keys[:n], room[:n], base+from*r.axis.inner)
		for i, key := range keys[:n] {
			h.offer(key, int32(from+i))
		}
	}
	h.sort(c, worker)
	for k, at := range h.at {
		to := (outer*r.K+k)*r.axis.inner + inner
		if r.values {
			copyElement(&c.Out[0], to, &c.In[0], base+int(at)*r.axis.inner)
		}
		if !r.values || len(c.Out) > 1 {
			setInteger(&c.Out[len(c.Out)-1], to, int(at))
		}
	}
}

// keys fills dst with numbers that are ordered as the elements of a lane from element at on are wanted. room may be the
// memory of dst.
func (r *orderer) keys(v *run.Vec, dst []int32, room []float32, at int) {
	step := r.axis.inner
	switch {
	case !v.DType.Float():
		for i := range dst {
			dst[i] = r.ranked(int32(integer(v, at+i*step)))
			if v.DType == mil.UInt32 {
				dst[i] ^= math.MinInt32
			}
		}
		return
	case step == 1:
		v.Load(room, at)
	default:
		for i := range room {
			v.Load(room[i:i+1], at+i*step)
		}
	}
	for i, f := range room {
		key := int32(math.Float32bits(f + 0)) // without the sign of -0
		if key < 0 {
			key ^= math.MaxInt32
		}
		if dst[i] = r.ranked(key); f != f {
			dst[i] = math.MaxInt32
		}
	}
}

// ranked is key in ascending order of what is wanted first.
func (r *orderer) ranked(key int32) int32 {
	if r.Ascending {
		return key
	}
	return ^key
}

// ranking holds the least keys with their indices: a heap with the last one at the root.
type ranking struct {
	keys, at []int32
	n        int
}

// after reports whether entry i comes after entry j.
func (h *ranking) after(i, j int) bool {
	return h.keys[i] > h.keys[j] || h.keys[i] == h.keys[j] && uint32(h.at[i]) > uint32(h.at[j])
}

func (h *ranking) swap(i, j int) {
	h.keys[i], h.keys[j] = h.keys[j], h.keys[i]
	h.at[i], h.at[j] = h.at[j], h.at[i]
}

// offer adds an entry, in place of the last one if the heap is full. Indices come in ascending order.
func (h *ranking) offer(key, at int32) {
	if h.n < len(h.keys) {
		i := h.n
		h.keys[i], h.at[i] = key, at
		for h.n++; h.after(i, (i-1)/2); i = (i - 1) / 2 { // the root is not after itself
			h.swap(i, (i-1)/2)
		}
	} else if key < h.keys[0] {
		h.keys[0], h.at[0] = key, at
		h.down(0, h.n)
	}
}

// down moves entry i of a heap of n entries to its place.
func (h *ranking) down(i, n int) {
	for {
		k := 2*i + 1
		if k+1 < n && h.after(k+1, k) {
			k++
		}
		if k >= n || !h.after(k, i) {
			return
		}
		h.swap(i, k)
		i = k
	}
}

// sort puts the entries in ascending order.
func (h *ranking) sort(c *run.Call, worker int) {
	for n := h.n - 1; n > 0; n-- {
		if n%run.Chunk == 0 && c.Pause(worker) {
			return
		}
		h.swap(0, n)
		h.down(0, n)
	}
}
