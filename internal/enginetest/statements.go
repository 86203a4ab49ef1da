package enginetest

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
)

// statements check what the engine reports about itself and about programs.
func statements() []check {
	return []check{
		{"info", "the engine reports a permitted name, and always the same Info", info},
		{"receipt", "receipts repeat the engine's Info", receipt},
		{"layouts", "inputs and outputs have the text's names, order, types and shapes, rows padded to 64 bytes",
			layouts},
	}
}

func info(e *env) {
	d := e.device()
	i := d.Info()
	for what, s := range map[string]string{"Name": i.Name, "Chip": i.Chip, "OSBuild": i.OSBuild, "Numerics": i.Numerics,
		"Sharing": i.Sharing} {
		if s == "" {
			e.errorf("Info().%s is empty", what)
		}
	}
	if want := e.cfg.name; want != "" && i.Name != want {
		e.errorf("the engine calls itself %q, want %q", i.Name, want)
	}
	if i.Name == "apple" && (!host.Apple || strings.HasPrefix(i.Chip, "software")) {
		e.errorf("the engine calls itself apple on %s with the chip %q", host.Platform, i.Chip)
	}
	second := e.open()
	e.later(second.Close, "closing the engine")
	for range 3 {
		if again := second.Info(); again != i {
			e.errorf("Info changes from %+v to %+v", i, again)
		}
	}
}

func receipt(e *env) {
	d := e.device()
	p := identity(1, 2, 2, 32)
	m := e.loaded(d, p)
	r := e.rig(m, p, inBlock())
	e.need(r.fill(p.samples(1)), "inputs")
	res, err := m.Evaluate(e.ctx, r.request)
	e.need(err, "evaluate")
	if res.Receipt == nil {
		e.fatalf("no receipt")
	}
	i := d.Info()
	want := ane.Receipt{Engine: i.Name, Chip: i.Chip, OSBuild: i.OSBuild, Numerics: i.Numerics, Sharing: i.Sharing}
	got := *res.Receipt
	got.Cached, got.Notes = false, nil
	if got.Engine != want.Engine || got.Chip != want.Chip || got.OSBuild != want.OSBuild ||
		got.Numerics != want.Numerics || got.Sharing != want.Sharing {
		e.errorf("receipt %+v, want %+v", got, want)
	}
	if got.Fallback != "" {
		e.errorf("the receipt of an engine without fallback has one: %s", got.Fallback)
	}
	if res.Elapsed <= 0 {
		e.errorf("elapsed time %v", res.Elapsed)
	}
}

func layouts(e *env) {
	d := e.device()
	for _, p := range e.programs() {
		m := e.compile(d, p)
		e.declared(p.name+" input", m.Inputs(), p.in)
		e.declared(p.name+" output", m.Outputs(), p.out)
	}
}

// declared compares layouts with the ports that the text declares.
func (e *env) declared(what string, got []ane.Layout, ports []port) {
	if len(got) != len(ports) {
		e.errorf("%ss: %d, the text has %d", what, len(got), len(ports))
		return
	}
	for i, q := range ports {
		want, err := ane.NewLayout(q.name, q.dtype, q.shape...)
		e.need(err, "layout")
		l := got[i]
		switch {
		case l.Name != q.name:
			e.errorf("%s %d is called %q, the text has %q", what, i, l.Name, q.name)
		case l.DType != q.dtype || !slices.Equal(l.Shape, q.shape):
			e.errorf("%s %s is %s%v, the text has %s%v", what, q.name, l.DType, l.Shape, q.dtype, q.shape)
		case l.RowStride%ane.RowAlign != 0:
			e.errorf("%s %s: row stride %d is not a multiple of %d", what, q.name, l.RowStride, ane.RowAlign)
		case !l.Equal(want):
			e.errorf("%s has layout %s, want %s", what, l, want)
		}
	}
}
