package enginetest

import (
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// tree compiles parsed programs.
func tree(e *env) {
	d := e.device()
	for _, p := range e.programs() {
		src := p.source()
		parsed, err := mil.Parse(src.File, src.Text)
		e.need(err, "parse "+p.name)
		src.Text, src.Program = nil, parsed
		m, err := d.Compile(e.ctx, src)
		e.need(err, "compile the tree of "+p.name)
		e.later(func() error { return m.Close(e.ctx) }, "closing the model")
		e.need(m.Load(e.ctx), "load "+p.name)
		e.must(e.rig(m, p, inBlock()).round(e.ctx, 1), "as a tree")
	}
	for what, bad := range map[string]*mil.Program{
		"without functions": {Version: "1.3"},
		"with an undefined result": {Version: "1.3",
			Funcs: []*mil.Function{{Name: "main", Opset: "ios18", Results: []mil.Ref{{Name: "y"}}}}},
	} {
		m, err := d.Compile(e.ctx, ane.Source{File: "tree.mil", Program: bad})
		if err == nil {
			e.errorf("a tree %s compiles", what)
			e.must(m.Close(e.ctx), "close")
			continue
		}
		var list mil.ErrorList
		if !errors.Is(err, ane.ErrCompile) || !errors.As(err, &list) {
			e.errorf("a tree %s is refused with %v, which does not match ErrCompile or has no mil.ErrorList", what, err)
		}
	}
}
