package soft

import (
	"cmp"
	"context"
	"slices"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/unimem"
)

// constants holds the values that are known before any run, and the budget for
// computing more of them.
type constants struct {
	known  map[*ops.Value][]byte // computed, unpacked, or replacing a value's Data
	stored map[*ops.Value][]byte // replacing a value's Stored
	vecs   map[*ops.Value]vec    // as elements
	budget budget
	cloned int // bytes of vecs that are copies
	arith  arith
}

// newConstants starts from known values and adds to them.
func newConstants(known map[*ops.Value][]byte, b budget, a arith) constants {
	return constants{known: known, stored: map[*ops.Value][]byte{}, vecs: map[*ops.Value]vec{}, budget: b, arith: a}
}

// budget bounds what compiling may still spend, so that a short text cannot run or
// grow without end. Work beyond the budget is left to every run.
type budget struct {
	folded int // bytes of constants computed
	work   int // arithmetic on them, in the units of call.spread
	packed int // float32s of constants decoded ahead of the runs

	workers int // bound of parallel
	expand  int // least elements of weights that stay packed; 0 for packedLeast
}

// limits is the budget of one program: more than a model that fits the engine
// needs, and a few seconds or gigabytes at most.
var limits = budget{folded: 1 << 30, work: 1 << 31, packed: 1 << 28}

// within is b with at most room bytes, half for constants computed and half for those decoded.
func (b budget) within(room int64) budget {
	b.folded, b.packed = int(min(int64(b.folded), room/2)), int(min(int64(b.packed), room/2/4))
	return b
}

// among is b for a bound of parallel.
func (b budget) among(workers int) budget {
	b.workers = workers
	return b
}

// packedLeast is the least number of elements of a weight that stays packed.
func (b budget) packedLeast() int { return cmp.Or(b.expand, packedLeast) }

// spent is the bytes of constants that were made out of b, of which left is left.
func (b budget) spent(left budget) int { return b.folded - left.folded + 4*(b.packed-left.packed) }

// maxFolded is the largest value, in bytes, that compiling computes. A larger one
// costs less to compute than to keep.
const maxFolded = 1 << 28

// has reports whether v is a constant with elements.
func (k *constants) has(v *ops.Value) bool {
	return k.known[v] != nil || v.Data != nil || v.Stored != nil
}

// data returns the dense elements of a constant, or nil for another value. It unpacks stored ones.
func (k *constants) data(v *ops.Value) []byte {
	if d := k.known[v]; d != nil {
		return d
	}
	if v.Stored != nil {
		k.known[v] = element.Unpack(v.DType, k.packed(v), v.Elements())
		k.cloned += v.Elements()
		return k.known[v]
	}
	return v.Data
}

// packed returns the elements of a constant as they are stored, or nil if they are not packed.
func (k *constants) packed(v *ops.Value) []byte {
	if d := k.stored[v]; d != nil {
		return d
	}
	return v.Stored
}

// operand completes a place in a constant, packed if the step reads it so.
func (k *constants) operand(p *place, packed bool) (err error) {
	if raw := k.packed(p.owner); packed && raw != nil {
		p.data, p.stored = vec{dtype: p.dtype, raw: raw}, true
		return nil
	}
	p.data, err = k.elements(p.owner)
	p.stored = false
	return err
}

// elements views a constant as elements. It copies a constant that is unaligned in
// its weight file.
func (k *constants) elements(v *ops.Value) (vec, error) {
	e, seen := k.vecs[v]
	if seen {
		return e, nil
	}
	e, err := view(v.DType, k.data(v))
	if err != nil {
		e, err = view(v.DType, slices.Clone(k.data(v)))
		k.cloned += len(k.data(v))
	}
	k.vecs[v] = e
	return e, err
}

// evaluate runs one node on constants and stores the results. done is false if the
// node exceeds the budget.
func (k *constants) evaluate(ctx context.Context, n *ops.Node) (done bool, err error) {
	if isView(n) {
		k.known[n.Out[0]] = k.data(n.In[0])
		return true, nil
	}
	size := 0
	for _, v := range n.Out {
		size += v.Elements() * element.Size(v.DType)
	}
	if size > min(maxFolded, k.budget.folded) || k.budget.work <= 0 {
		return false, nil
	}
	s := &step{op: n.Def.Name, kernel: kernels[n.Def.Name], arith: k.arith.of(n.Def.Name)}
	s.unwrap(n.Attrs)
	c := &call{ctx: ctx, budget: &k.budget.work, workers: parallel(k.budget.workers)}
	c.yields, _ = ctx.(yielder)
	for i, v := range n.In {
		at, e := place{}, vec{}
		if v != nil {
			at = place{where: constant, dtype: v.DType, shape: v.Shape, owner: v}
			if err = k.operand(&at, s.packed.isPacked(i)); err != nil {
				return false, err
			}
			at.data.rules = s.arith.operand
			e = at.data
		}
		s.in, c.in = append(s.in, at), append(c.in, e)
	}
	for _, v := range n.Out {
		data := make([]byte, v.Elements()*element.Size(v.DType))
		e, err := view(v.DType, data)
		if err != nil {
			return false, err
		}
		e.rules = s.arith.result
		s.out, c.out = append(s.out, place{where: scratch, dtype: v.DType, shape: v.Shape}), append(c.out, e)
	}
	s.make(nil)
	c.run = s.run
	if s.work > min(maxFolded, k.budget.folded)/4/c.workers {
		return false, nil
	}
	for range c.workers {
		room := make([]byte, 4*s.work)
		work, err := unimem.View[float32](room)
		if err != nil {
			return false, err
		}
		if err := c.viewHalves(room); err != nil {
			return false, err
		}
		c.work = append(c.work, work)
		if s.arith.operand != 0 {
			c.words = append(c.words, make([]int32, s.work))
		}
	}
	c.run.run(c)
	if err := ctx.Err(); err != nil || c.declined {
		return false, err
	}
	if err := c.fault.Load(); err != nil {
		return false, err
	}
	k.budget.folded -= size
	for i, v := range n.Out {
		k.known[v] = c.out[i].raw
	}
	return true, nil
}
