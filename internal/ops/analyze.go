package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/near"
)

// Analyze resolves the function called name. If name is empty, it resolves main, or the first function of a program
// without main: procedure 0 of the compiled program. Messages use the name file. weights may be nil if the program
// names no files. The Graph keeps a copy of what it reads. The error is a mil.ErrorList with the faults of all
// functions, because a compiler accepts a whole program or nothing.
func Analyze(file string, p *mil.Program, name string, weights blob.Source) (*Graph, error) {
	return analyze(context.Background(), file, p, name, weights, false)
}

// AnalyzeStored is Analyze for an engine that computes with packed integers: those of 2 to 7 bits from weight files are
// in Value.Stored. It returns the error of ctx once that has ended.
func AnalyzeStored(ctx context.Context, file string, p *mil.Program, name string, weights blob.Source) (*Graph, error) {
	g, err := analyze(ctx, file, p, name, weights, true)
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	return g, err
}

func analyze(
	ctx context.Context, file string, p *mil.Program, name string, weights blob.Source, stored bool,
) (*Graph, error) {
	invalid := mil.ValidateContext(ctx, file, p)
	if invalid != nil && !mil.OnlyNames(invalid) {
		return nil, invalid
	}
	files := newWeightFiles(weights, file)
	files.copied = true
	start := func() *analysis {
		a := newAnalysis(ctx, file)
		a.files, a.stored = files, stored
		return a
	}
	a := start()
	chosen := p.Select(name)
	switch {
	case chosen != nil:
		a.function(chosen)
	case len(p.Funcs) == 0:
		a.fail(p.Pos, "write func main<ios18>(..) {..} in it", "the program has no function")
	default:
		var names []string
		for _, f := range p.Funcs {
			names = append(names, f.Name)
		}
		a.fail(p.Pos, near.Choices(name, "choose one of", names), "no function called %q", name)
	}
	faults := a.faults
	for _, f := range p.Funcs {
		if f != chosen {
			other := start()
			other.function(f)
			faults = append(faults, other.faults...)
			for _, w := range other.graph.Weights {
				w.Value, w.Notes = nil, nil
			}
			a.graph.Weights = append(a.graph.Weights, other.graph.Weights...)
		}
	}
	var named mil.ErrorList
	errors.As(invalid, &named)
	if err := named.Merge(faults).Err(); err != nil {
		return nil, err
	}
	return a.graph, nil
}

// Survey resolves the functions of a program as far as it goes, without weights: for tools that tell of a program
// that no engine takes. Where a statement is faulty, the types that it declares are believed. The program should
// validate but for names.
func Survey(file string, p *mil.Program) (all []*Graph) {
	for _, f := range p.Funcs {
		a := newAnalysis(context.Background(), file)
		a.survey = true
		a.function(f)
		a.graph.Faults, a.graph.Values = a.faults, a.values
		all = append(all, a.graph)
	}
	return all
}

// Open lists the parameters and results of a function that are tensors with an axis of no fixed length.
func Open(f *mil.Function) (list []mil.Var) {
	all := slices.Clone(f.Params)
	for _, op := range f.Body {
		all = append(all, op.Results...)
	}
	for _, v := range all {
		t, _ := held(v.Type)
		if _, fixed := t.Shape(); !fixed && t.Kind == mil.Tensor {
			list = append(list, v)
		}
	}
	return list
}

// note adds a note and returns it.
func (a *analysis) note(pos mil.Pos, hint, format string, args ...any) string {
	text := (&mil.Error{File: a.file, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}).Error()
	a.graph.note(text)
	return text
}

func (g *Graph) note(text string) {
	g.notes.AddText(text)
	g.Notes = g.notes.List
}

// analysis is the state of one Analyze.
type analysis struct {
	file   string
	files  *weightFiles
	values map[string]*Value // absent or nil for a faulty definition
	faults mil.ErrorList
	graph  *Graph
	hidden map[string]*Value // names that the current block hides, with what they mean outside of it; nil outside
	within *Node             // the statement of that block
	// resolve is block, which rules of the table call: block itself reads the table.
	resolve func(*Node, *mil.Block, []*Value) *Body
	stored  bool // see AnalyzeStored
	survey  bool // see Survey
	ctx     context.Context
}

func newAnalysis(ctx context.Context, file string) *analysis {
	a := &analysis{file: file, graph: &Graph{}, ctx: ctx}
	a.resolve = a.block
	return a
}

func (a *analysis) fail(pos mil.Pos, hint, format string, args ...any) {
	a.faults.Add(&mil.Error{File: a.file, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// function resolves parameters, body and results in the order of the text.
func (a *analysis) function(f *mil.Function) {
	a.graph.Function = f
	a.values = make(map[string]*Value, len(f.Params)+len(f.Body))
	if known, hint := f.KnownOpset(); !known {
		a.note(f.Pos, hint, "function %s: %s is no opset that Apple published", f.Name, f.Opset)
	}
	for _, p := range f.Params {
		a.define(p.Name, a.parameter(p), p)
		if v := a.values[p.Name]; v != nil {
			v.input = true
			a.graph.Parameters = append(a.graph.Parameters, v)
			if v.State {
				a.graph.States = append(a.graph.States, v)
				continue
			}
			a.graph.Inputs = append(a.graph.Inputs, v)
		}
	}
	for _, op := range f.Body {
		if a.ctx.Err() != nil {
			return // AnalyzeStored returns the error
		}
		if a.statement(op); len(a.faults) > mil.MaxFaults && !a.survey {
			return // Merge adds the fault "too many faults"
		}
	}
	for _, r := range f.Results {
		switch v := a.values[r.Name]; {
		case v != nil && a.survey:
			v.Returned = true
			a.graph.Outputs = append(a.graph.Outputs, v)
		case v == nil: // the definition is faulty or, as Validate reported, missing
		case v.State:
			a.fail(r.Pos, "read it with read_state and return the result", "output %s is a state", r.Name)
		case v.listed:
			a.fail(r.Pos, "read it with list_gather", "output %s is a list", r.Name)
		case !slices.Contains(storable, v.DType):
			a.fail(r.Pos, "convert it with cast", "output %s: %s cannot be stored on a surface", r.Name, v.DType)
		case v.input || v.Const() && v.Made == nil:
			a.graph.Outputs = append(a.graph.Outputs, a.copied(v, r))
		default:
			a.graph.Outputs = append(a.graph.Outputs, v)
		}
	}
}

// copied is the output of a function that returns an input or a constant: what identity makes of it. Programs of Core ML
// do so; rule dead-output of package lint says which compilers refuse it.
func (a *analysis) copied(v *Value, r mil.Ref) *Value {
	n := &Node{Def: Lookup("identity"), Op: &mil.Op{Pos: r.Pos, Kind: "identity", Results: make([]mil.Var, 1),
		Args: []mil.Arg{{Pos: r.Pos, Name: "x", Value: r}}}}
	a.compute(n)
	n.Out[0].Name, n.Out[0].Pos = v.Name, r.Pos
	n.link()
	a.graph.Nodes = append(a.graph.Nodes, n)
	a.note(r.Pos, "multiply it by one", "output %s is an input or a constant, which is copied here; the in-memory compiler "+
		"refuses it (orion: measured on m4)", v.Name)
	return n.Out[0]
}

// define records the value of a name. A nil value records a faulty definition, so
// that uses of the name are not reported again.
func (a *analysis) define(name string, v *Value, declared mil.Var) {
	if v == nil && a.survey {
		v = believed(declared)
	}
	if old := a.values[name]; a.hidden != nil {
		if _, seen := a.hidden[name]; !seen {
			a.hidden[name] = old
		}
	}
	a.values[name] = v
}

// believed returns what a declaration says, though an engine may not take it.
func believed(d mil.Var) *Value {
	t, state := held(d.Type)
	v := &Value{Name: d.Name, Pos: d.At, DType: t.DType, State: state, guessed: true}
	fixed := false
	if t.Kind == mil.Tensor || t.Kind == mil.Scalar {
		v.Shape, fixed = t.Shape()
	}
	v.Open = !fixed
	v.vague = v.Open || len(v.Shape) > MaxRank || !sensible(v.Shape)
	return v
}

// parameter checks the type of an input.
func (a *analysis) parameter(p mil.Var) *Value {
	t, state := held(p.Type)
	if state && t.Kind != mil.Tensor {
		a.fail(p.Pos, "write state<tensor<fp16, [1, 64, 1, 32]>>", "state %s: %s is not a tensor", p.Name, t)
		return nil
	}
	p.Type = t.Held()
	v := a.declared(MaxRank, p)
	if v == nil {
		return nil
	}
	if t.Kind == mil.TensorBuffer {
		v.Written = &t
	}
	if v.State = state; !slices.Contains(storable, v.DType) {
		a.fail(p.Pos, "use fp16, or fp32 with a cast", "input %s: %s cannot be stored on a surface", p.Name, v.DType)
		return nil
	}
	return v
}

// held returns the type of the tensor that a state holds, another type as it is.
func held(t mil.Type) (of mil.Type, state bool) {
	if t.Kind == mil.State && len(t.Elems) == 1 {
		return t.Elems[0], true
	}
	return t, false
}

// declared returns the Value of a declaration of fixed shape, up to a rank.
func (a *analysis) declared(rank int, p mil.Var) *Value {
	shape, fixed := p.Type.Shape()
	switch {
	case !fixed && a.survey: // Value.Open says so
	case p.Type.Kind != mil.Tensor && p.Type.Kind != mil.Scalar:
		a.fail(p.Pos, "declare a scalar or a tensor", "%s: %s is not a tensor", p.Name, p.Type)
	case !fixed:
		a.fail(p.Pos, "the engine needs a fixed size for every axis", "%s: unknown axis in %s", p.Name, p.Type)
	case len(shape) > rank:
		a.fail(p.Pos, "merge axes", "%s: rank %d, at most %d", p.Name, len(shape), rank)
	case !sensible(shape):
		a.fail(p.Pos, "every axis is at least 1, and all together have up to 2^31 elements",
			"%s: shape %v is empty or too large", p.Name, shape)
	default:
		return &Value{Name: p.Name, Pos: p.At, DType: p.Type.DType, Shape: shape}
	}
	return nil
}

// statement resolves one line of the body.
func (a *analysis) statement(op *mil.Op) {
	n := &Node{Def: Lookup(op.Kind), Op: op, Within: a.within}
	good := a.compute(n)
	n.faulty = !good
	out := n.Out
	n.Out = nil
	for i, r := range op.Results {
		var v *Value
		if good && i < len(out) {
			v = out[i]
			if v.Name, v.Pos = r.Name, r.At; v.weight != nil {
				v.weight.Name = r.Name
			}
			if !v.has(r.Type) {
				a.fail(r.Pos, "declare it as "+v.Type().String(), "%s: Expected %s; got %s", r.Name, v.Type(), r.Type)
				if n.faulty = true; a.survey {
					v = nil
				}
			}
		}
		a.define(r.Name, v, r)
		if v = a.values[r.Name]; v != nil {
			v.Folded = v.Folded || op.Kind == "const"
			n.Out = append(n.Out, v)
		}
	}
	if op.Kind != "const" {
		n.link()
		if a.survey {
			n.fold()
		}
		if good {
			a.graph.Nodes = append(a.graph.Nodes, n)
		}
	}
	if a.survey {
		a.graph.Statements = append(a.graph.Statements, n)
	}
}

// compute fills in a node, or reports its faults and returns false.
func (a *analysis) compute(n *Node) bool {
	op := n.Op
	switch {
	case op.Kind == "const" && len(op.Results) != 1:
		a.fail(op.Pos, "declare one result", "const: results: 1 expected, %d declared", len(op.Results))
		return false
	case op.Kind == "const":
		v := a.constant(op.Pos, op.Args, op.Attrs)
		n.Out = []*Value{v}
		return v != nil
	case n.Def == nil && a.survey:
	case n.Def == nil:
		hint, _ := Suggest(op.Kind)
		a.fail(op.Pos, hint, "unknown operator %s", op.Kind)
		return false
	case n.Def.constexpr():
		n.Op = bracketed(n.Def, op)
	}
	c := a.call(n)
	c.arguments()
	if n.Def != nil {
		c.rule()
	}
	for i := len(n.Blocks); i < len(op.Blocks); i++ { // that no rule resolved
		if op.Blocks[i] != nil && a.survey {
			a.block(n, op.Blocks[i], nil)
		}
	}
	if n.Def != nil && n.Def.Family != Controls && len(op.Blocks) > 0 {
		c.fail("", "remove them", "blocks in a statement that takes none")
	}
	return n.Def != nil && !c.failed()
}
