package plan

import (
	"context"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// constants holds the values that are known before any run, and the budget for computing more of them.
type constants struct {
	known  map[*ops.Value][]byte  // computed, unpacked, or replacing a value's Data
	stored map[*ops.Value][]byte  // replacing a value's Stored
	vecs   map[*ops.Value]run.Vec // as elements
	budget Budget
	cloned int // bytes of vecs that are copies
	arith  kernels.Arith
}

// newConstants starts from known values and adds to them.
func newConstants(known map[*ops.Value][]byte, b Budget, a kernels.Arith) constants {
	return constants{known: known, stored: map[*ops.Value][]byte{}, vecs: map[*ops.Value]run.Vec{}, budget: b, arith: a}
}

// Budget bounds what compiling may still spend, so that a short text cannot run or
// grow without end. Work beyond the budget is left to every run.
type Budget struct {
	Folded int // bytes of constants computed
	work   int // arithmetic on them, in the units of call.spread
	packed int // float32s of constants decoded ahead of the runs

	workers int // bound of parallel
	Expand  int // least elements of weights that stay packed; 0 for packedLeast
}

// Limits is the budget of one program: more than a model that fits the engine needs, and a few seconds or gigabytes at
// most. At most room bytes are for constants, half for those computed and half for those decoded. workers is a bound of
// parallel.
func Limits(room int64, workers int) Budget {
	return Budget{Folded: int(min(1<<30, room/2)), work: 1 << 31, packed: int(min(1<<28, room/2/4)), workers: workers}
}

// maxFolded is the largest value, in bytes, that compiling computes. A larger one costs less to compute than to keep.
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
func (k *constants) operand(p *Place, packed bool) (err error) {
	if raw := k.packed(p.owner); packed && raw != nil {
		p.Data, p.Stored = run.Vec{DType: p.DType, Raw: raw}, true
		return nil
	}
	p.Data, err = k.elements(p.owner)
	p.Stored = false
	return err
}

// elements views a constant as elements. It copies a constant that is unaligned in its weight file.
func (k *constants) elements(v *ops.Value) (run.Vec, error) {
	e, seen := k.vecs[v]
	if seen {
		return e, nil
	}
	e, err := run.View(v.DType, k.data(v))
	if err != nil {
		e, err = run.View(v.DType, slices.Clone(k.data(v)))
		k.cloned += len(k.data(v))
	}
	k.vecs[v] = e
	return e, err
}

// step is the step of a node, without its operands and results.
func (k *constants) step(n *ops.Node) Step {
	s := Step{Op: n.Def.Name, pos: n.Op.Pos, kernel: kernels.Of(n.Def.Name), Arith: k.arith.Of(n.Def.Name)}
	s.Attrs, s.Packed = kernels.Unwrap(n.Attrs)
	return s
}

// evaluate runs one node on constants and stores the results. done is false if the node exceeds the budget.
func (k *constants) evaluate(ctx context.Context, n *ops.Node) (done bool, err error) {
	if isView(n) {
		k.known[n.Out[0]] = k.data(n.In[0])
		return true, nil
	}
	size := 0
	for _, v := range n.Out {
		size += v.Elements() * element.Size(v.DType)
	}
	if size > min(maxFolded, k.budget.Folded) || k.budget.work <= 0 {
		return false, nil
	}
	s := k.step(n)
	c := &run.Call{Ctx: ctx, Budget: &k.budget.work, Workers: run.Parallel(k.budget.workers)}
	c.Yields, _ = ctx.(run.Yielder)
	for i, v := range n.In {
		at := Place{}
		if v != nil {
			at.Tensor, at.owner = kernels.Tensor{DType: v.DType, Shape: v.Shape, Given: true, Constant: true}, v
			if err = k.operand(&at, s.Packed.IsPacked(i)); err != nil {
				return false, err
			}
			at.Data.Rules = s.Arith.Operand
		}
		s.In, c.In = append(s.In, at), append(c.In, at.Data)
	}
	for _, v := range n.Out {
		e, err := run.View(v.DType, make([]byte, v.Elements()*element.Size(v.DType)))
		if err != nil {
			return false, err
		}
		e.Rules = s.Arith.Result
		s.Out = append(s.Out, Place{Tensor: kernels.Tensor{DType: v.DType, Shape: v.Shape, Given: true}})
		c.Out = append(c.Out, e)
	}
	s.make(nil)
	c.Run = s.Run
	if s.Work > min(maxFolded, k.budget.Folded)/4/c.Workers {
		return false, nil
	}
	for range c.Workers {
		if err := c.AddRoom(make([]byte, 4*s.Work)); err != nil {
			return false, err
		}
	}
	c.Run.Run(c)
	if err := ctx.Err(); err != nil || c.Declined {
		return false, err
	}
	if err := c.Fault.Load(); err != nil {
		return false, err
	}
	k.budget.Folded -= size
	for i, v := range n.Out {
		k.known[v] = c.Out[i].Raw
	}
	return true, nil
}

// fold computes the nodes whose operands are all constant, up to the budget, and keeps the others. It returns those
// that it computed.
func (p *planner) fold(ctx context.Context) (folded []*ops.Node, err error) {
	var rest []*ops.Node
	for _, n := range p.nodes {
		if err := run.Between(ctx); err != nil {
			return nil, err
		}
		if isControl(n) {
			rest = append(rest, n)
			continue
		}
		if !slices.ContainsFunc(n.Out, func(v *ops.Value) bool { return !p.has(v) }) && len(n.Out) > 0 {
			continue // its rule computed it
		}
		r, drawn := n.Attrs.(ops.Random)
		done := !(drawn && r.Seed < 0) && // other numbers in each run
			!slices.ContainsFunc(n.In, func(v *ops.Value) bool { return v != nil && !p.has(v) })
		if done {
			if done, err = p.evaluate(ctx, n); err != nil {
				return nil, &mil.Error{Pos: n.Op.Pos, Msg: err.Error(), Err: err}
			}
		}
		if done {
			folded = append(folded, n)
		} else {
			rest = append(rest, n)
		}
	}
	p.nodes = rest
	return folded, nil
}
