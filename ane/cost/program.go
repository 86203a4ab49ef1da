package cost

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// program is a function as the estimate sees it.
type program struct {
	*ops.Graph
	inputs  []*ops.Value // the parameters, states among them
	layers  []*layer
	chain   int // layers of 1x1
	weights map[*ops.Value]*weight
}

// layer is an operator that the engine executes. What is computed from constants alone is none.
type layer struct {
	*ops.Node
	in      []*ops.Value // operands that are computed or inputs, each once
	cost    ops.Cost
	product *product
	host    *layer // that it is a part of, or nil
	why     string
	single  bool // one input through the elementwise unit, once
	paired  bool // shares its pass with the operator before
}

// weight is how a program stores a value that is known when compiling.
type weight struct {
	stored  int64   // bytes
	bits    int     // of an element
	density float64 // share of the elements of a sparse weight that are stored, else 1
	key     string  // equal for weights that are one
}

// read resolves a function.
func read(p *mil.Program, f *mil.Function) *program {
	g := ops.Survey("", p)[slices.Index(p.Funcs, f)]
	r := &program{Graph: g, inputs: slices.Concat(g.Inputs, g.States), weights: map[*ops.Value]*weight{}}
	made := map[*ops.Node]*layer{}
	for _, n := range g.Statements {
		if n.Folded() {
			continue
		}
		l := &layer{Node: n, cost: ops.Pass, product: r.product(n)}
		if n.Def != nil {
			l.cost = n.Def.Cost
		}
		l.in = slices.DeleteFunc(distinct(n.Arguments()), func(v *ops.Value) bool { return v.Folded })
		switch {
		case l.product == nil:
			l.join(made)
		case l.product.is(1, 1):
			r.chain++
		}
		made[n] = l
		r.layers = append(r.layers, l)
	}
	return r
}

// join finds out what a layer without products is a part of.
func (l *layer) join(made map[*ops.Node]*layer) {
	var before *layer
	if len(l.in) == 1 && l.in[0].Made != nil && len(l.in[0].Uses) == 1 && !l.in[0].Returned {
		before = made[l.in[0].Made]
	}
	l.single = len(l.in) == 1 && l.cost != ops.Free && l.cost != ops.Twice
	if before == nil || len(l.Out) != 1 {
		return
	}
	switch host := cmp.Or(before.host, before); {
	case host.product == nil || before.host != nil && before.why != addsBias:
	case l.Op.Kind == "add" && before.host == nil:
		for _, t := range slices.Concat(l.List("x"), l.List("y")) {
			if t.Folded && elements(t) <= float64(host.product.cout) {
				l.host, l.why = host, addsBias
			}
		}
	case l.cost == ops.Function:
		l.host, l.why = host, appliesTable
	}
	l.paired = l.host == nil && l.single && before.host == nil && before.single && !before.paired
}

const (
	addsBias     = "the bias of"
	appliesTable = "the function of"
)

// distinct returns each value once.
func distinct(list []*ops.Value) (all []*ops.Value) {
	seen := map[*ops.Value]bool{}
	for _, v := range list {
		if !seen[v] {
			all, seen[v] = append(all, v), true
		}
	}
	return all
}

// volume is the number of elements of a shape, up to 2^50.
func volume(shape []int) float64 {
	n := 1.0
	for _, d := range shape {
		n *= float64(max(d, 0))
	}
	return min(n, 1<<50)
}

func elements(v *ops.Value) float64 { return volume(v.Shape) }

// bytes is the size of the packed elements.
func bytes(v *ops.Value) float64 { return float64(v.Bytes()) }

// at returns a length of the shape from its end: at(v, 0) is the last axis, 1 where there is none.
func at(v *ops.Value, i int) int {
	if i >= v.Rank() {
		return 1
	}
	return v.Shape[v.Rank()-1-i]
}

// weight returns how a value is stored; nil for one that is not known when compiling, and for none.
func (r *program) weight(v *ops.Value) *weight {
	if v == nil || !v.Folded {
		return nil
	}
	if w := r.weights[v]; w != nil {
		return w
	}
	w := &weight{stored: int64(v.Bytes()), bits: v.DType.Bits(), density: 1, key: v.Name}
	r.weights[v] = w
	switch {
	case v.Literal != nil && v.Literal.Blob() != nil:
		if path, offset, err := v.Literal.Blob().Entry(); err == nil {
			w.key = path + "\x00" + strconv.FormatUint(offset, 10)
		}
	case v.Made != nil && strings.HasPrefix(v.Made.Op.Kind, "constexpr_"):
		r.expand(w, v)
	}
	return w
}

// expand gives an expanded weight the size of what is stored.
func (r *program) expand(w *weight, v *ops.Value) {
	w.stored = 0
	var keys []string
	for _, a := range v.Made.Arguments() {
		if from := r.weight(a); from != nil {
			w.stored, w.density = min(w.stored+from.stored, 1<<50), min(w.density, from.density)
			keys = append(keys, from.key)
		}
	}
	slices.Sort(keys)
	for _, name := range []string{"quantized_data", "data", "indices", "nonzero_data", "source_val",
		"indices_nonzero_data"} {
		if from := r.weight(v.Made.Value(name)); from != nil {
			w.bits = from.bits
			if k := strings.Join(keys, "\x00"); len(k) < 1<<10 { // weights of weights would double it
				w.key = k
			}
		}
	}
	if kept := v.Made.Value("nonzero_data"); kept != nil && strings.Contains(v.Made.Op.Kind, "sparse") &&
		elements(v) > 0 {
		w.density = min(elements(kept)/elements(v), 1)
	}
}
