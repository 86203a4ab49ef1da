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
	r := &orderer{TopK: a, axis: alongOf(s.In[0].Shape, a.Axis), dtype: s.In[0].DType, values: s.Op == "topk",
		size: s.In[0].DType.Size()}
	depth, cost := bits.Len(uint(r.K)), math.MaxInt
	if r.axis.length < math.MaxInt/(8*depth) {
		cost = 4 * r.axis.length * depth
	}
	return newLoop(r.axis.outer*r.axis.inner, cost, 1, r.lane), 2*a.K + run.Chunk
}

type orderer struct {
	ops.TopK
	axis   alongAxis
	dtype  mil.DType
	size   int  // of an element in bytes
	values bool // the first result has the elements; else there are indices alone
}

func (r *orderer) lane(c *run.Call, lane, _, worker int) {
	work := c.Work[worker]
	h := ranking{keys: work[:r.K], at: work[r.K : 2*r.K]}
	room := work[2*r.K:][:run.Chunk]
	outer, inner := lane/r.axis.inner, lane%r.axis.inner
	base := outer*r.axis.length*r.axis.inner + inner
	for from := 0; from < r.axis.length && !c.Pause(worker); from += run.Chunk {
		part := room[:min(run.Chunk, r.axis.length-from)]
		r.keys(&c.In[0], part, base+from*r.axis.inner)
		for i, key := range part {
			h.offer(math.Float32bits(key), uint32(from+i))
		}
	}
	h.sort(c, worker)
	for k := range r.K {
		at := int(math.Float32bits(h.at[k]))
		to := (outer*r.K+k)*r.axis.inner + inner
		if r.values {
			from := base + at*r.axis.inner
			copy(c.Out[0].Raw[to*r.size:][:r.size], c.In[0].Raw[from*r.size:])
		}
		if !r.values || len(c.Out) > 1 {
			setInteger(&c.Out[len(c.Out)-1], to, at)
		}
	}
}

// keys fills dst with the bits of numbers that are ordered as the elements of a lane from element at on are wanted.
func (r *orderer) keys(v *run.Vec, dst []float32, at int) {
	step := r.axis.inner
	if !r.dtype.Float() {
		for i := range dst {
			key := uint32(integer(v, at+i*step)) ^ 1<<31
			if r.dtype == mil.UInt32 {
				key ^= 1 << 31
			}
			dst[i] = math.Float32frombits(r.turned(key))
		}
		return
	}
	if step == 1 {
		v.Load(dst, at)
	} else {
		for i := range dst {
			v.Load(dst[i:i+1], at+i*step)
		}
	}
	for i, f := range dst {
		if f != f {
			dst[i] = math.Float32frombits(math.MaxUint32)
			continue
		}
		key := math.Float32bits(f + 0) // without the sign of -0
		if key>>31 != 0 {
			key = ^key
		} else {
			key |= 1 << 31
		}
		dst[i] = math.Float32frombits(r.turned(key))
	}
}

// turned is key in ascending order of what is wanted first.
func (r *orderer) turned(key uint32) uint32 {
	if r.Ascending {
		return key
	}
	return ^key
}

// ranking holds the least keys with their indices, as bits of float32: a heap with the last one at the root.
type ranking struct {
	keys, at []float32
	n        int
}

// after reports whether entry i comes after entry j.
func (h *ranking) after(i, j int) bool {
	a, b := math.Float32bits(h.keys[i]), math.Float32bits(h.keys[j])
	return a > b || a == b && math.Float32bits(h.at[i]) > math.Float32bits(h.at[j])
}

func (h *ranking) swap(i, j int) {
	h.keys[i], h.keys[j] = h.keys[j], h.keys[i]
	h.at[i], h.at[j] = h.at[j], h.at[i]
}

// offer adds an entry, in place of the last one if the heap is full. Indices come in ascending order.
func (h *ranking) offer(key, at uint32) {
	if h.n < len(h.keys) {
		i := h.n
		h.keys[i], h.at[i] = math.Float32frombits(key), math.Float32frombits(at)
		for h.n++; h.after(i, (i-1)/2); i = (i - 1) / 2 { // the root is not after itself
			h.swap(i, (i-1)/2)
		}
		return
	}
	if key < math.Float32bits(h.keys[0]) {
		h.keys[0], h.at[0] = math.Float32frombits(key), math.Float32frombits(at)
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
