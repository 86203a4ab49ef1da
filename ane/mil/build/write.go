package build

import "github.com/anekit/anekit/ane/mil"

// write writes the function to fb.
func (f *Func) write(fb *mil.FuncBuilder) {
	names := f.naming()
	ref := func(n *node) mil.Ref { return mil.Ref{Name: names[n]} }
	for _, p := range f.params {
		fb.InputOf(p.name, p.v.Type())
	}
	for _, s := range f.body {
		if s.constant != nil {
			fb.Const(names[s.constant], s.constant.lit)
			continue
		}
		var args []mil.Arg
		for _, a := range s.args {
			refs := make([]mil.Ref, len(a.nodes))
			for i, n := range a.nodes {
				refs[i] = ref(n)
			}
			if a.list {
				args = append(args, mil.A(a.name, mil.Refs(refs...)))
			} else {
				args = append(args, mil.A(a.name, refs[0]))
			}
		}
		var results []mil.Var
		for _, n := range s.results {
			results = append(results, mil.V(n.v.Type(), names[n]))
		}
		fb.Ops(s.kind, results, args...)
	}
	for _, n := range f.outs {
		fb.Output(ref(n))
	}
}

// naming returns the name of every value: the caller's, or a generated one that the
// caller does not use.
func (f *Func) naming() map[*node]string {
	names := map[*node]string{}
	counts := map[string]int{}
	taken := map[string]bool{}
	for name := range f.names {
		taken[name] = true
	}
	name := func(n *node) {
		if n.base == "" {
			names[n] = n.name
			return
		}
		chosen := numbered(n, counts[n.base])
		for counts[n.base]++; n.name == "" && taken[chosen]; counts[n.base]++ {
			chosen = numbered(n, counts[n.base])
		}
		if n.name != "" { // an output; the other numbers do not change
			chosen = n.name
		}
		names[n], taken[chosen] = chosen, true
	}
	for _, p := range f.params {
		name(p)
	}
	for _, s := range f.body {
		if s.constant != nil {
			name(s.constant)
		}
		for _, r := range s.results {
			name(r)
		}
	}
	return names
}
