package mil

import (
	"context"
	"slices"
)

// Builder makes a Program in Go, statement by statement: the caller names every value and declares its type, and the
// Builder does not check operators. Package build generates names, infers types and checks operators. Faults are
// collected and returned by Program, so the calls before it need no checks. One goroutine at a time may use a Builder.
type Builder struct {
	opset  string
	old    bool // Program converts to OldText
	funcs  []*FuncBuilder
	faults faults
}

// Option configures NewBuilder.
type Option func(*Builder)

// Opset sets the opset of the functions. The default is "ios18".
func Opset(name string) Option { return func(b *Builder) { b.opset = name } }

// OldDialect makes programs for compilers before program(1.3): program(1.0), opset ios16, and every scalar written as a
// tensor of rank 0. A later Opset option can choose ios15 to ios17 instead.
func OldDialect() Option {
	return func(b *Builder) { b.opset, b.old = "ios16", true }
}

// NewBuilder returns a Builder of an empty program(1.3).
func NewBuilder(opts ...Option) *Builder {
	b := &Builder{opset: "ios18"}
	for _, o := range opts {
		o(b)
	}
	return b
}

// buildInfo names tools whose text the Neural Engine's compiler is known to accept:
// those of coremltools 9.0, as in all six reference programs.
var buildInfo = [...][2]string{
	{"coremlc-component-MIL", "3510.2.1"},
	{"coremlc-version", "3505.4.1"},
	{"coremltools-component-milinternal", ""},
	{"coremltools-version", "9.0"},
}

// Program returns the program built so far, or an ErrorList of every fault of
// the calls and of Validate. Later calls do not change the returned program.
func (b *Builder) Program() (*Program, error) {
	pairs := &DictLit{}
	for _, kv := range buildInfo {
		pairs.Pairs = append(pairs.Pairs, Pair{StringLit{Value: kv[0]}, StringLit{Value: kv[1]}})
	}
	info := &Value{Type: Type{Kind: Dict, Elems: []Type{ScalarOf(String), ScalarOf(String)}}, Literal: pairs}
	p := &Program{Version: "1.3", Attrs: []Arg{A("buildInfo", info)}}
	for _, fb := range b.funcs {
		f := fb.fn
		f.Params, f.Body, f.Results = slices.Clone(f.Params), slices.Clone(f.Body), slices.Clone(f.Results)
		p.Funcs = append(p.Funcs, &f)
	}
	all := faults{list: slices.Clone(b.faults.list), full: b.faults.full}
	v := validator{faults: &all, during: &watch{ctx: context.Background()}}
	v.program(p)
	if err := all.err(); err != nil {
		return nil, err
	}
	if b.old { // what the old dialect lacks stays: a compiler refuses it
		p = (&converter{to: OldText}).program(p)
	}
	return p, nil
}

// Func adds a function. Functions become procedures in the order of these calls.
func (b *Builder) Func(name string) *FuncBuilder {
	f := &FuncBuilder{b: b, fn: Function{Name: name, Opset: b.opset}}
	f.named(name, "function")
	f.named(b.opset, "opset")
	b.funcs = append(b.funcs, f)
	return f
}

// ValidName reports whether name can name a function, a parameter or a value. It has ASCII letters, digits and _,
// begins with no digit, and is no reserved word.
func ValidName(name string) bool {
	return identifier(name) && !reserved(name) && !typeWord(name)
}
