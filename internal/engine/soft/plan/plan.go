// Package plan makes the steps of the software engine from the graph of a program. Steps are in the order of the run,
// each with a runner and the places of its operands and results. It folds constants, fuses steps, places values in
// memory, and makes a plan again with other weights.
package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/kernels"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// maxScratch bounds the intermediate values of one program: 8 GiB. A larger plan is a mistake rather than a model.
const maxScratch = 8 << 30

// Plan is a program ready to be bound: the steps in order and the place of every value.
type Plan struct {
	In, Out []ane.Layout
	Steps   []Step
	Scratch int // bytes of intermediate values
	Work    int // bytes of workspace for each worker
	Workers int // bound of parallel
	States  int // bytes of states
	Held    int // bytes of constants that compiling made
	Notes   []string
	Links   links
	arith   kernels.Arith
	budget  Budget // that Make began with
}

// Step is one operation and the places of its operands.
type Step struct {
	Op      string // the operator's name; gather and scatter have none
	pos     mil.Pos
	kernel  kernels.Kernel
	Attrs   any
	Packed  *kernels.PackedAttrs // of the weight that stays packed, or nil
	In, Out []Place
	Run     run.Runner // made by kernel after the places are known
	Work    int        // float32s of workspace for each worker
	Arith   kernels.Arith

	Joined bool // to the step before: computes on its result, in the same memory, piece by piece
	Skip   int  // float32s of workspace before its own, if joined: those of the group's first step

	To         int   // the step after a leap
	leap, mark *mark // of a leap and of a mark
}

// make lets the kernel prepare the step. The kernel may decode up to budget
// float32s of constants ahead of the runs and subtracts them from budget.
func (s *Step) make(budget *int) {
	k := kernels.Step{Op: s.Op, Attrs: s.Attrs, Packed: s.Packed, Arith: s.Arith, Decode: budget}
	for i := range s.In {
		k.In = append(k.In, &s.In[i].Tensor)
	}
	for i := range s.Out {
		k.Out = append(k.Out, &s.Out[i].Tensor)
		if o := s.Out[i].owner; i == 0 && o != nil {
			k.Name = o.Name
		}
	}
	s.Run, s.Work = k.Make(s.kernel)
}

// Place is the location of a dense value.
type Place struct {
	kernels.Tensor
	Where where
	Index int // index of the input or output, or offset in scratch
	Bytes int
	owner *ops.Value // the value that owns the elements
}

// where is a kind of memory.
type where uint8

const (
	absent where = iota // an omitted optional operand
	Constant
	Scratch
	Input  // a surface, read in place: rows without gaps, or all of it by the kernel FromRows
	Output // likewise, written in place, or by ToRows
	State  // memory that stays from one run to the next
)

// planner is the state of makePlan.
type planner struct {
	Plan
	constants
	graph  *ops.Graph
	nodes  []*ops.Node               // nodes that outputs need
	root   map[*ops.Value]*ops.Value // a view's origin
	places map[*ops.Value]Place      // of roots
	looks  int                       // nodes that readInPlace visited
	alias  map[*ops.Value]*ops.Value // see flattening; nil for a program without blocks
	ctx    context.Context           // of the compile
}

// Make folds constants, drops unused nodes, places values and picks kernels.
func Make(ctx context.Context, g *ops.Graph, b Budget, a kernels.Arith) (*Plan, error) {
	g, alias := flatten(g)
	g = rewrite(g, cmp.Or(b.Expand, packedLeast), a.Operand.Has(numerics.Int8Sums))
	p := &planner{
		graph: g, alias: alias, ctx: ctx, root: map[*ops.Value]*ops.Value{}, places: map[*ops.Value]Place{},
		constants: newConstants(map[*ops.Value][]byte{}, b, a),
	}
	p.Plan.arith, p.Plan.budget, p.Workers = a, b, b.workers
	p.Notes = g.Notes
	var err error
	if p.In, err = layouts(g.Inputs); err != nil {
		return nil, err
	}
	if p.Out, err = layouts(g.Outputs); err != nil {
		return nil, err
	}
	p.prune()
	folded, err := p.fold(ctx)
	if err != nil {
		return nil, err
	}
	if note := exact(p.nodes, a.Operand); note != "" {
		p.Notes = append(slices.Clip(p.Notes), note)
	}
	p.Links.start(g, p.nodes, folded)
	if err := p.placeStates(); err != nil {
		return nil, err
	}
	p.placeOnSurfaces()
	p.emit()
	if !a.Apart && a.Only == 0 {
		p.fuse()
	}
	if err := p.arrange(ctx); err != nil {
		return nil, err
	}
	p.Links.trim(&p.constants)
	var runners []run.Runner
	for i := range p.Steps {
		runners = append(runners, p.Steps[i].Run)
	}
	left := p.constants.budget
	p.Held = b.Folded - left.Folded + 4*(b.packed-left.packed) + p.cloned + kernels.TableBytes(runners)
	made := p.Plan // copied, so that the planner can be freed
	return &made, nil
}

// exact says which operators of halves the arithmetic of a chip leaves exact, and how many of each; "" for none.
func exact(nodes []*ops.Node, r numerics.Rules) string {
	var names []string
	count := map[string]int{}
	for _, n := range nodes {
		op := n.Def.Name
		if !r.Leaves(op) || n.Out[0].DType != mil.FP16 {
			continue
		}
		if count[op]++; count[op] == 1 {
			names = append(names, op)
		}
	}
	if names == nil {
		return ""
	}
	for i, op := range names {
		names[i] = fmt.Sprintf("%s (%d)", op, count[op])
	}
	return "computed exactly and rounded once, as the chip's tables and steps for them are not published: " +
		strings.Join(names, ", ")
}

func layouts(values []*ops.Value) ([]ane.Layout, error) {
	var out []ane.Layout
	for _, v := range values {
		l, err := ane.BufferLayout(v.Name, surface(v))
		if err != nil {
			return nil, &mil.Error{Pos: v.Pos, Msg: err.Error(), Err: err}
		}
		out = append(out, l)
	}
	return out, nil
}

// surface is the type of an input or output: its tensor_buffer, or a tensor.
func surface(v *ops.Value) mil.Type {
	if v.Written != nil && v.Written.Kind == mil.TensorBuffer {
		return *v.Written
	}
	return mil.TensorOf(v.DType, v.Shape...)
}

// prune drops nodes whose results are unused and that change no state.
func (p *planner) prune() {
	needed := make(map[*ops.Value]bool, len(p.graph.Nodes))
	for _, v := range p.graph.Outputs {
		needed[v] = true
	}
	kept := make([]*ops.Node, 0, len(p.graph.Nodes))
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
		_ = run.Between(p.ctx)
	}
}

// isView reports whether a node only gives its operand's elements another shape: it needs no kernel.
func isView(n *ops.Node) bool { return kernels.Of(n.Def.Name) == nil }

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
	made := make(map[*ops.Value]bool, len(p.nodes))
	for v, loop := range p.alias {
		p.root[v] = loop
	}
	for i, n := range p.nodes {
		p.pause(i)
		p.viewState(i)
		if !isControl(n) && isView(n) {
			p.root[n.Out[0]] = p.origin(n.In[0])
			continue
		}
		for _, v := range n.Out {
			made[v] = p.root[v] == nil
		}
	}
	for i, v := range p.graph.Inputs {
		if p.In[i].Packed() {
			p.places[v] = Place{Where: Input, Index: i}
		}
	}
	for i, v := range p.graph.Outputs {
		o := p.origin(v)
		if _, taken := p.places[o]; !taken && made[o] && p.Out[i].Packed() {
			p.places[o] = Place{Where: Output, Index: i}
		}
	}
}

// emit adds the steps: gather padded inputs, compute, scatter or copy to the outputs that are not written in place.
func (p *planner) emit() {
	read := make(map[*ops.Value]int, len(p.nodes))
	for _, n := range p.nodes {
		for _, v := range n.In {
			read[v]++
		}
	}
	rows := p.onRows(read)
	p.Steps = make([]Step, 0, len(p.nodes)+len(p.graph.Inputs)+len(p.graph.Outputs))
	for i, v := range p.graph.Inputs {
		if _, direct := p.places[v]; !direct && read[v] > 0 && rows[v] == nil {
			p.Steps = append(p.Steps, Step{kernel: kernels.FromRows, Attrs: p.In[i],
				In: onSurface(Input, i, p.In[i]), Out: p.locate(v)})
		}
	}
	for i, n := range p.nodes {
		p.pause(i)
		if !p.emitControl(n) && !isView(n) && !p.emitState(n) {
			s := p.step(n)
			s.In, s.Out = p.locate(n.In...), p.locate(n.Out...)
			if len(n.In) == 1 && rows[n.In[0]] != nil {
				s.readRows(*rows[n.In[0]], p.In)
			}
			p.Steps = append(p.Steps, s)
		}
	}
	for i, v := range p.graph.Outputs {
		if at := p.places[p.origin(v)]; at.Where == Output && at.Index == i {
			continue
		}
		p.Steps = append(p.Steps, Step{kernel: kernels.ToRows, Attrs: p.Out[i], In: p.locate(v),
			Out: onSurface(Output, i, p.Out[i])})
	}
}

// onSurface is the place of input or output i with its gaps.
func onSurface(at where, i int, l ane.Layout) []Place {
	return []Place{{Where: at, Index: i, Bytes: l.Bytes(), Tensor: kernels.Tensor{DType: l.DType}}}
}

// locate returns the places of values, each with its own shape. arrange sets the offsets of values in scratch later.
func (p *planner) locate(values ...*ops.Value) []Place {
	places := make([]Place, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		o := p.origin(v)
		pl := p.places[o]
		if p.has(o) {
			pl.Where = Constant
		} else if pl.Where == absent {
			pl.Where = Scratch
		}
		pl.Bytes, pl.owner = v.Elements()*element.Size(v.DType), o
		pl.Tensor = kernels.Tensor{DType: v.DType, Shape: v.Shape, Given: true, Constant: pl.Where == Constant}
		places[i] = pl
	}
	return places
}

// tooLarge rejects programs whose values need more than maxScratch. pos is the position
// of the value or operation that exceeds it.
func tooLarge(pos mil.Pos, bytes int) error {
	return &mil.Error{Pos: pos, Msg: fmt.Sprintf("intermediate values need %d bytes, at most %d", bytes, maxScratch),
		Hint: "split the program, or make this value smaller"}
}
