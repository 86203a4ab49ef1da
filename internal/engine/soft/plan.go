package soft

import (
	"context"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// maxScratch bounds the intermediate values of one program: 8 GiB. A larger plan is a
// mistake rather than a model.
const maxScratch = 8 << 30

// plan is a program ready to be bound: the steps in order and the place of every value.
type plan struct {
	in, out []ane.Layout
	steps   []step
	scratch int // bytes of intermediate values
	work    int // bytes of workspace for each worker
	workers int // bound of parallel
	states  int // bytes of states
	held    int // bytes of constants that compiling made
	notes   []string
	links   links
	arith   arith
}

// step is one operation and the places of its operands.
type step struct {
	op      string // the operator's name; gather and scatter have none
	pos     mil.Pos
	kernel  kernel
	attrs   any
	packed  *packedAttrs // of the weight that stays packed, or nil
	in, out []place
	run     runner // made by kernel after the places are known
	work    int    // float32s of workspace for each worker
	decode  *int   // while run is made: the float32s that newOperand may still decode ahead
	arith   arith

	joined bool // to the step before: computes on its result, in the same memory, piece by piece
	skip   int  // float32s of workspace before its own, if joined: those of the group's first step
}

// place is the location of a dense value.
type place struct {
	where  where
	index  int // index of the input or output, or offset in scratch
	bytes  int
	dtype  mil.DType
	shape  []int
	owner  *ops.Value // the value that owns the elements
	data   vec        // elements of a constant
	stored bool       // data has integers below 8 bits without gaps
	ahead  []float32  // elements of a constant, decoded by newOperand
}

// where is a kind of memory.
type where uint8

const (
	absent where = iota // an omitted optional operand
	constant
	scratch
	input  // a surface whose rows have no gaps, read in place
	output // likewise, written in place
	state  // memory that stays from one run to the next
	padded // a surface row by row, for the kernels gather and scatter
)

// planner is the state of makePlan.
type planner struct {
	plan
	constants
	graph  *ops.Graph
	nodes  []*ops.Node               // nodes that outputs need
	root   map[*ops.Value]*ops.Value // a view's origin
	places map[*ops.Value]place      // of roots
	first  map[*ops.Value]int        // step that writes a root in scratch
	last   map[*ops.Value]int        // last step that reads it
	looks  int                       // nodes that readInPlace visited
	ctx    context.Context           // of the compile
}

// makePlan folds constants, drops unused nodes, places values and picks kernels.
func makePlan(ctx context.Context, g *ops.Graph, b budget, a arith) (*plan, error) {
	if a.operand.Has(numerics.Int8Sums) {
		g = sumBytes(g)
	}
	g = keepPacked(g, b.packedLeast())
	p := &planner{
		graph: g, ctx: ctx, root: map[*ops.Value]*ops.Value{}, places: map[*ops.Value]place{},
		first: map[*ops.Value]int{}, last: map[*ops.Value]int{}, constants: newConstants(map[*ops.Value][]byte{}, b, a),
	}
	p.plan.arith, p.workers = a, b.workers
	p.notes = g.Notes
	var err error
	if p.in, err = layouts(g.Inputs); err != nil {
		return nil, err
	}
	if p.out, err = layouts(g.Outputs); err != nil {
		return nil, err
	}
	p.prune()
	p.links.start(g, p.nodes)
	if err := p.fold(ctx); err != nil {
		return nil, err
	}
	if err := p.placeStates(); err != nil {
		return nil, err
	}
	p.placeOnSurfaces()
	p.emit()
	if !a.apart && a.only == 0 {
		p.fuse()
	}
	p.lifetimes()
	if err := p.arrange(ctx); err != nil {
		return nil, err
	}
	p.links.trim(&p.constants)
	p.held = b.spent(p.budget) + p.cloned + tablesOf(p.steps)
	made := p.plan // copied, so that the planner can be freed
	return &made, nil
}

func layouts(values []*ops.Value) ([]ane.Layout, error) {
	var out []ane.Layout
	for _, v := range values {
		l, err := ane.NewLayout(v.Name, v.DType, v.Shape...)
		if err != nil {
			return nil, &mil.Error{Pos: v.Pos, Msg: err.Error(), Err: err}
		}
		out = append(out, l)
	}
	return out, nil
}

// prune drops nodes whose results are unused and that change no state.
func (p *planner) prune() {
	needed := map[*ops.Value]bool{}
	for _, v := range p.graph.Outputs {
		needed[v] = true
	}
	var kept []*ops.Node
	for i, n := range slices.Backward(p.graph.Nodes) {
		p.pause(i)
		if !n.Def.Effect && !slices.ContainsFunc(n.Out, func(v *ops.Value) bool { return needed[v] }) {
			continue
		}
		for _, v := range n.In {
			needed[v] = true
		}
		kept = append(kept, n)
	}
	slices.Reverse(kept)
	p.nodes = kept
}

// pause lets more urgent work run after every some thousand nodes or steps. fold and arrange return the error of a
// context that has ended.
func (p *planner) pause(i int) {
	if i%4096 == 4095 {
		_ = between(p.ctx)
	}
}

// isView reports whether a node only gives its operand's elements another shape.
func isView(n *ops.Node) bool {
	switch n.Def.Name {
	case "reshape", "expand_dims", "squeeze", "flatten2d", "reshape_like", "identity":
		return true
	}
	return false
}

// origin follows views to the value that owns the elements.
func (p *planner) origin(v *ops.Value) *ops.Value {
	if o := p.root[v]; o != nil {
		return o
	}
	return v
}

// placeOnSurfaces decides which values lie on surfaces: inputs without gaps, and results
// that go to an output without gaps. All others go to scratch.
func (p *planner) placeOnSurfaces() {
	made := map[*ops.Value]bool{}
	for i, n := range p.nodes {
		p.pause(i)
		p.viewState(i)
		if isView(n) {
			p.root[n.Out[0]] = p.origin(n.In[0])
			continue
		}
		for _, v := range n.Out {
			made[v] = p.root[v] == nil
		}
	}
	for i, v := range p.graph.Inputs {
		if p.in[i].Packed() {
			p.places[v] = place{where: input, index: i}
		}
	}
	for i, v := range p.graph.Outputs {
		o := p.origin(v)
		if _, taken := p.places[o]; !taken && made[o] && p.out[i].Packed() {
			p.places[o] = place{where: output, index: i}
		}
	}
}

// emit adds the steps: gather padded inputs, compute, scatter or copy to the outputs
// that are not written in place.
func (p *planner) emit() {
	read := map[*ops.Value]bool{}
	for _, n := range p.nodes {
		for _, v := range n.In {
			read[v] = true
		}
	}
	for i, v := range p.graph.Inputs {
		if _, direct := p.places[v]; !direct && read[v] {
			p.add(step{kernel: gather, attrs: p.in[i], in: []place{{where: padded, index: i, dtype: v.DType}}},
				[]*ops.Value{nil}, []*ops.Value{v})
		}
	}
	for i, n := range p.nodes {
		p.pause(i)
		if !isView(n) && !p.emitState(n) {
			s := step{op: n.Def.Name, pos: n.Op.Pos, kernel: kernels[n.Def.Name], arith: p.plan.arith.of(n.Def.Name)}
			s.unwrap(n.Attrs)
			p.add(s, n.In, n.Out)
		}
	}
	for i, v := range p.graph.Outputs {
		if at := p.places[p.origin(v)]; at.where == output && at.index == i {
			continue
		}
		p.add(step{kernel: scatter, attrs: p.out[i], out: []place{{where: padded, index: i, dtype: v.DType}}},
			[]*ops.Value{v}, []*ops.Value{nil})
	}
}

// add appends a step. A nil value keeps the place that the step already has.
func (p *planner) add(s step, in, out []*ops.Value) {
	places := func(given []place, values []*ops.Value) []place {
		list := make([]place, len(values))
		copy(list, given)
		for i, v := range values {
			if v != nil {
				list[i] = p.locate(v)
			}
		}
		return list
	}
	s.in, s.out = places(s.in, in), places(s.out, out)
	p.steps = append(p.steps, s)
}

// lifetimes records the first and last step that use each value.
func (p *planner) lifetimes() {
	for i := range p.steps {
		p.pause(i)
		for _, at := range p.steps[i].in {
			p.last[at.owner] = i
		}
		for _, at := range p.steps[i].out {
			if _, seen := p.first[at.owner]; !seen && at.owner != nil {
				p.first[at.owner] = i
			}
			p.last[at.owner] = i
		}
	}
}

// locate returns the place of a value with its own shape. arrange sets the offset of a
// value in scratch later.
func (p *planner) locate(v *ops.Value) place {
	o := p.origin(v)
	pl := p.places[o]
	if p.has(o) {
		pl = place{where: constant}
	} else if pl.where == absent {
		pl = place{where: scratch}
	}
	pl.bytes, pl.dtype, pl.shape, pl.owner = v.Elements()*element.Size(v.DType), v.DType, v.Shape, o
	return pl
}

// tooLarge rejects programs whose values need more than maxScratch. pos is the position
// of the value or operation that exceeds it.
func tooLarge(pos mil.Pos, bytes int) error {
	return &mil.Error{Pos: pos, Msg: fmt.Sprintf("intermediate values need %d bytes, at most %d", bytes, maxScratch),
		Hint: "split the program, or make this value smaller"}
}
