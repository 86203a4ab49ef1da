package build

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// write writes the function to fb.
func (f *Func) write(fb *mil.FuncBuilder) {
	for _, p := range f.params {
		fb.InputOf(p.Name, p.Type())
	}
	for _, s := range f.body {
		if s.kind == "const" {
			fb.Const(s.results[0].Name, s.results[0].Literal)
			continue
		}
		var args []mil.Arg
		for _, a := range s.args {
			if refs := references(a.Values); a.List {
				args = append(args, mil.A(a.Name, mil.Refs(refs...)))
			} else {
				args = append(args, mil.A(a.Name, refs[0]))
			}
		}
		var results []mil.Var
		for _, v := range s.results {
			results = append(results, mil.V(v.Type(), v.Name))
		}
		fb.Ops(s.kind, results, args...)
	}
	fb.Output(references(f.outs)...)
}

func references(values []*ops.Value) (refs []mil.Ref) {
	for _, v := range values {
		refs = append(refs, mil.Ref{Name: v.Name})
	}
	return refs
}

// label is a taken name of a function: the caller's, or a generated one.
type label struct {
	at      place      // where the caller chose it
	v       *ops.Value // that has the generated name, else nil
	base    string     // its start
	setting bool
}

// claim records a name as chosen by the caller, or reports a fault and returns false. A value whose generated name it
// is gets another one.
func (f *Func) claim(what, chosen string) bool {
	f.own()
	if !mil.ValidName(chosen) {
		f.fault(what+" "+quote(chosen)+" is not a name", nameHint)
		return false
	}
	old, taken := f.names[chosen]
	if taken && old.v == nil {
		f.fault(what+" "+quote(chosen)+" is defined twice", "the first is at "+old.at.String()+"; rename one")
		return false
	}
	f.names[chosen] = label{at: caller()}
	if taken {
		f.generate(old)
	}
	return true
}

// generate names n.v: conv_0, conv_1 for results, and strides, strides_1 for settings.
func (f *Func) generate(n label) {
	for taken := true; taken; _, taken = f.names[n.v.Name] {
		i := f.counts[n.base]
		f.counts[n.base]++
		if n.v.Name = fmt.Sprintf("%s_%d", n.base, i); n.setting && i == 0 {
			n.v.Name = n.base
		}
	}
	f.names[n.v.Name] = n
}
