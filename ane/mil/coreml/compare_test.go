package coreml_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// same compares two programs as graphs: names of values, labels, and the order and number of equal constants do not
// matter. It returns the first difference.
func same(a, b *mil.Program) error {
	if len(a.Funcs) != len(b.Funcs) {
		return fmt.Errorf("%d functions and %d", len(a.Funcs), len(b.Funcs))
	}
	if info, other := tools(a), tools(b); !reflect.DeepEqual(info, other) {
		return fmt.Errorf("made by %v and by %v", info, other)
	}
	for _, f := range a.Funcs {
		g := b.Func(f.Name)
		if g == nil {
			return fmt.Errorf("no function %s", f.Name)
		}
		c := &comparison{a: scopeOf(nil, f.Params, f.Body), b: scopeOf(nil, g.Params, g.Body),
			matched: map[[2]*mil.Op]error{}}
		if err := c.function(f, g); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// tools returns buildInfo without the keys that Apple's compiler adds.
func tools(p *mil.Program) map[string]string {
	all := map[string]string{}
	for _, a := range p.Attrs {
		v, _ := a.Value.(*mil.Value)
		d, _ := v.Literal.(*mil.DictLit)
		for _, pair := range d.Pairs {
			if key := pair.Key.(mil.StringLit).Value; !strings.HasPrefix(key, "coremlc") {
				all[key] = pair.Value.(mil.StringLit).Value
			}
		}
	}
	return all
}

// scope has what the names of a body mean.
type scope struct {
	outer *scope
	at    map[string]place
}

// place is a result of a statement, or a parameter if there is none.
type place struct {
	op *mil.Op
	n  int
}

func scopeOf(outer *scope, params []mil.Var, body []*mil.Op) *scope {
	s := &scope{outer, map[string]place{}}
	for i, p := range params {
		s.at[p.Name] = place{nil, i}
	}
	for _, op := range body {
		for i, r := range op.Results {
			s.at[r.Name] = place{op, i}
		}
	}
	return s
}

// find returns the place of a name and the scope that has it.
func (s *scope) find(name string) (place, *scope) {
	for ; s != nil; s = s.outer {
		if p, ok := s.at[name]; ok {
			return p, s
		}
	}
	return place{}, nil
}

// comparison compares values of a and b.
type comparison struct {
	a, b    *scope
	matched map[[2]*mil.Op]error
}

func (c *comparison) function(f, g *mil.Function) error {
	if f.Opset != g.Opset {
		return fmt.Errorf("opset %s and %s", f.Opset, g.Opset)
	}
	if x, y := printed(f.Params), printed(g.Params); x != y {
		return fmt.Errorf("parameters %s and %s", x, y)
	}
	if x, y := printed(f.Attrs), printed(g.Attrs); x != y {
		return fmt.Errorf("attributes %s and %s", x, y)
	}
	if x, y := counts(f.Body), counts(g.Body); !reflect.DeepEqual(x, y) {
		return fmt.Errorf("operators %v and %v", x, y)
	}
	if !slices.Equal(nameList(f.Results), nameList(g.Results)) {
		return fmt.Errorf("results %v and %v", f.Results, g.Results)
	}
	return c.results(f.Results, g.Results)
}

func (c *comparison) results(f, g []mil.Ref) error {
	if len(f) != len(g) {
		return fmt.Errorf("%d results and %d", len(f), len(g))
	}
	for i := range f {
		if err := c.ref(f[i], g[i]); err != nil {
			return err
		}
	}
	return nil
}

func nameList(refs []mil.Ref) (all []string) {
	for _, r := range refs {
		all = append(all, r.Name)
	}
	return all
}

// counts returns how often each operator other than const occurs, in blocks too.
func counts(body []*mil.Op) map[string]int {
	n := map[string]int{}
	var walk func([]*mil.Op)
	walk = func(body []*mil.Op) {
		for _, op := range body {
			if op.Kind != "const" {
				n[op.Kind]++
			}
			for _, b := range op.Blocks {
				walk(b.Body)
			}
		}
	}
	walk(body)
	return n
}

func printed(x any) string { return fmt.Sprint(plain(x)) }

// plain makes a tree of printable parts without positions.
func plain(x any) any {
	switch x := x.(type) {
	case []mil.Var:
		var all []string
		for _, v := range x {
			all = append(all, v.Type.String()+" "+v.Name)
		}
		return all
	case []mil.Arg:
		f := &mil.Function{Name: "f", Opset: "ios16", Attrs: x}
		return string(mil.Print(&mil.Program{Version: "1.0", Funcs: []*mil.Function{f}}))
	}
	return x
}

// ref compares two names.
func (c *comparison) ref(x, y mil.Ref) error {
	p, from := c.a.find(x.Name)
	q, other := c.b.find(y.Name)
	if from == nil || other == nil {
		return fmt.Errorf("%s or %s is not defined", x.Name, y.Name)
	}
	switch {
	case p.n != q.n || (p.op == nil) != (q.op == nil):
		return fmt.Errorf("%s and %s are other results", x.Name, y.Name)
	case p.op == nil && from.outer == nil && x.Name != y.Name:
		return fmt.Errorf("parameters %s and %s", x.Name, y.Name)
	case p.op == nil:
		return nil
	}
	key := [2]*mil.Op{p.op, q.op}
	err, done := c.matched[key]
	if !done {
		c.matched[key] = nil
		inner := comparison{from, other, c.matched}
		if err = inner.op(p.op, q.op); err != nil {
			err = fmt.Errorf("%s and %s: %w", x.Name, y.Name, err)
		}
		c.matched[key] = err
	}
	return err
}

func (c *comparison) op(p, q *mil.Op) error {
	if p.Kind != q.Kind || len(p.Args) != len(q.Args) || len(p.Results) != len(q.Results) ||
		len(p.Blocks) != len(q.Blocks) {
		return fmt.Errorf("%s of %d arguments and %s of %d", p.Kind, len(p.Args), q.Kind, len(q.Args))
	}
	for i := range p.Results {
		if x, y := p.Results[i].Type, q.Results[i].Type; !x.Same(y) {
			return fmt.Errorf("%v and %v", x, y)
		}
	}
	for _, lists := range [][2][]mil.Arg{{p.Args, q.Args}, {unlabeled(p.Attrs), unlabeled(q.Attrs)}} {
		for i, a := range lists[0] {
			if i >= len(lists[1]) || a.Name != lists[1][i].Name {
				return fmt.Errorf("argument %s is in one alone", a.Name)
			}
			if err := c.operand(a.Value, lists[1][i].Value); err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
	}
	for i, b := range p.Blocks {
		d := q.Blocks[i]
		inner := comparison{scopeOf(c.a, b.Params, b.Body), scopeOf(c.b, d.Params, d.Body), c.matched}
		if len(b.Params) != len(d.Params) {
			return fmt.Errorf("blocks of %d parameters and %d", len(b.Params), len(d.Params))
		}
		if err := inner.results(b.Results, d.Results); err != nil {
			return err
		}
	}
	return nil
}

func unlabeled(attrs []mil.Arg) []mil.Arg {
	return slices.DeleteFunc(slices.Clone(attrs), func(a mil.Arg) bool { return a.Name == "name" })
}

func (c *comparison) operand(x, y mil.Operand) error {
	switch x := x.(type) {
	case mil.Ref:
		if y, ok := y.(mil.Ref); ok {
			return c.ref(x, y)
		}
	case *mil.Values:
		y, ok := y.(*mil.Values)
		if !ok || len(x.Items) != len(y.Items) {
			break
		}
		for i := range x.Items {
			if err := c.operand(x.Items[i], y.Items[i]); err != nil {
				return err
			}
		}
		return nil
	case *mil.Value:
		y, ok := y.(*mil.Value)
		if !ok {
			break
		}
		if !x.Type.Same(y.Type) || !reflect.DeepEqual(content(x), content(y)) {
			return fmt.Errorf("%.200s and %.200s", printed([]mil.Arg{mil.A("v", x)}), printed([]mil.Arg{mil.A("v",
				y)}))
		}
		return nil
	}
	return fmt.Errorf("%T and %T", x, y)
}

// content returns the elements of a value, or its text if it has none.
func content(v *mil.Value) any {
	if v.Blob() == nil {
		d := v.Type.DType
		var all any
		var err error
		switch {
		case d.Float():
			all, err = v.Floats()
		case d.Integer():
			all, err = v.Ints()
		case d == mil.Bool:
			all, err = v.Bools()
		default:
			all, err = v.Strings()
		}
		if err == nil {
			return all
		}
	}
	return printed([]mil.Arg{mil.A("v", v)})
}
