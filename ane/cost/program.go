package cost

import (
	"math"
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
	steps   []*step
	weights map[*ops.Value]*weight
}

// step is an operator that the engine executes. What is computed from constants alone is none.
type step struct {
	*ops.Node
	in   []*ops.Value // operands that are computed or inputs, each once
	cost ops.Cost
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
	for _, n := range g.Statements {
		if n.Op.Kind == "const" || len(n.Out) > 0 && n.Out[0].Folded {
			continue
		}
		s := &step{Node: n, cost: ops.Pass}
		if n.Def != nil {
			s.cost = n.Def.Cost
		}
		s.in = slices.DeleteFunc(distinct(n.Arguments()), func(v *ops.Value) bool { return v.Folded })
		r.steps = append(r.steps, s)
	}
	return r
}

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

// bits is the size of an element.
func bits(v *ops.Value) int { return max(v.DType.Bits(), 1) }

// bytes is the size of the packed elements.
func bytes(v *ops.Value) float64 { return elements(v) * float64(bits(v)) / 8 }

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
	w := &weight{stored: int64(math.Ceil(bytes(v))), bits: bits(v), density: 1, key: v.Name}
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
