package enginetest

import (
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/step"
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
	e.Closing(second.Close)
	for range 3 {
		if again := second.Info(); again != i {
			e.errorf("Info changes from %+v to %+v", i, again)
		}
	}
}

func receipt(e *env) {
	d := e.device()
	r := e.fresh(d, identity(1, 2, 2, 32), inBlock())
	step.NoError(r.fill(r.program.samples(1)))
	res := step.Must(r.model.Evaluate(e.Ctx, r.request))
	got, i := res.Receipt, d.Info()
	if got == nil {
		e.errorf("no receipt")
		return
	}
	if got.Engine != i.Name || got.Chip != i.Chip || got.OSBuild != i.OSBuild || got.Numerics != i.Numerics ||
		got.Sharing != i.Sharing {
		e.errorf("receipt %+v, want that of %+v", *got, i)
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
	for _, p := range programs() {
		m := e.compile(d, p)
		e.declared(p.name+" input", m.Inputs(), p.in)
		e.declared(p.name+" output", m.Outputs(), p.out)
	}
}

// declared compares layouts with those that the text declares.
func (e *env) declared(what string, got, want []ane.Layout) {
	if len(got) != len(want) {
		e.errorf("%ss: %d, the text has %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		if l := got[i]; l.Name != w.Name || l.RowStride%ane.RowAlign != 0 || !l.Equal(w) {
			e.errorf("%s %d has layout %s, want %s", what, i, l, w)
		}
	}
}
