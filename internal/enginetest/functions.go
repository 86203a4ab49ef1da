package enginetest

import (
	"bytes"
	"strings"

	"github.com/anekit/anekit/ane"
)

// opening is what a program's text has before its function.
var opening = header[:strings.Index(header, "    func ")]

// bank returns programs as the functions of one text, each called as its program.
func bank(programs ...*program) []byte {
	text := []byte(opening)
	for _, p := range programs {
		own := bytes.TrimPrefix(p.source().Text, []byte(opening))
		own = bytes.Replace(own, []byte("main"), []byte(p.name), 1)
		text = append(text, bytes.TrimSuffix(own, []byte("}\n"))...)
	}
	return append(text, "}\n"...)
}

// functions compiles functions of one text to Models, whose lives are independent.
func functions(e *env) {
	d := e.device()
	programs := []*program{order(), addition(1, 8, 4, 32), splitting()} // no name of a tensor occurs twice
	text := e.dialect(d, bank(programs...))
	var rigs []*rig
	for _, p := range append(programs, programs[1]) {
		m, err := d.Compile(e.ctx, ane.Source{File: "bank.mil", Text: text, Function: p.name})
		e.need(err, "compile function "+p.name)
		e.later(func() error { return m.Close(e.ctx) }, "closing the model")
		e.wants(d, m)
		e.need(m.Load(e.ctx), "load function "+p.name)
		rigs = append(rigs, e.rig(m, p, inBlock()))
	}
	all := func(what string, rigs ...*rig) {
		for i, r := range rigs {
			e.must(r.round(e.ctx, i), "%s, function %s", what, r.program.name)
		}
	}
	all("with all functions loaded", rigs...)
	for i, r := range rigs {
		e.need(r.model.Unload(e.ctx), "unload "+r.program.name)
		_, err := r.model.Evaluate(e.ctx, r.request)
		e.want(err, ane.ErrNotLoaded, "Evaluate of an unloaded function while others are loaded")
		all("after an Unload of others", rigs[i+1:]...)
	}
	for i, r := range rigs {
		e.need(r.model.Load(e.ctx), "load "+r.program.name)
		all("after a Load", rigs[:i+1]...)
	}
	for i, r := range rigs {
		e.must(r.request.Close(), "closing the request")
		e.must(r.model.Close(e.ctx), "closing the model")
		all("after a Close of others", rigs[i+1:]...)
	}
}
