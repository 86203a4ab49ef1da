package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// View lays out the figures of each engine and of the GPU, the checks and the verdict; if quiet a terminal shows only the
// failed checks and the verdict.
func View(quiet bool) doc.View {
	return func(d *doc.Doc, v *doc.Value) {
		if v.Here() {
			show(d, v)
		}
		if quiet {
			d.Hide()
		}
		showVerdict(d, v)
	}
}

// show lays out all but the verdict.
func show(d *doc.Doc, v *doc.Value) {
	checks := d.Root.Items("checks")
	for _, k := range []struct{ check, name string }{{memoryCopies, "tensors reached through a copy"},
		{memoryNeighbor, "bytes written beside tensors"}, {trial.GrowthCheck, "growth of memory"},
		{memoryClosed, "surfaces left open"}} {
		for _, c := range checks {
			if value := c.At("value"); c.At("name").Is(k.check) && value.Here() {
				figure := value.Size()
				if k.check == memoryClosed {
					figure = value.Plain()
				}
				d.Key(k.name, figure)
			}
		}
	}
	var models, guests []doc.Block
	receipts, engines := d.Receipts(), v.Items("engines")
	for i, e := range engines {
		if i < len(receipts) {
			r := receipts[i]
			d.Terminal(doc.Facts{doc.Named("engine", r.Text("name"), ": ", r.Text("chip"), ", ", r.Text("os_build")),
				doc.Named("numerics", r.Text("numerics")), doc.Named("sharing", r.Text("sharing")),
				doc.Named("because", r.Text("fallback"))})
		}
		if g := v.At("guests").Item(i); g.Object() {
			t := guestTable(g)
			guests = append(guests, t)
			d.Terminal(t)
		}
		t := ModelTable("Models on "+e.Text("engine").Number, e.Items("models"))
		models = append(models, t)
		d.Terminal(t)
	}
	d.Page("Models", nil, models...)
	d.Page("WebAssembly guests", nil, guests...)
	trial.ShowLatency(d, engines)
	timeline.Show(d, v.At("timeline"))
	showMemory(d, engines)
	trial.ShowSurfaces(d, v.Items("models")...)
	if g := v.At("gpu"); g.Object() {
		d.Section("GPU", nil, doc.Facts{doc.Named("gpu", g.Text("name"), ", ", g.Text("driver"), ", ", g.Text("api")),
			doc.Named("kind", g.Text("kind")), doc.Named("id", g.Code("id")),
			doc.Named("road", g.Text("road"), ", in multiples of ", g.Bytes("alignment_bytes"))})
	}
	d.Terminal(doc.Checks("", checks...))
}

// ModelTable has a row for each model.
func ModelTable(caption string, models []*doc.Value) *doc.Table {
	t := doc.NewTable(caption, "model", "#compile", "#load", "#p50", "#p99", "#max error",
		"#reached through a copy|copied", "~>error")
	for _, m := range models {
		copied := m.Size("bytes_copied")
		if copied.Raw == "null" {
			copied = copied.Brief("not shown")
		}
		t.Row(m.Text("name"), m.Time("compile_ns"), m.Time("load_ns"), m.Time("evaluate_p50_ns"), m.Time("evaluate_p99_ns"),
			m.Plain("max_error"), copied, m.Text("error"))
	}
	return t
}

// guestTable has the figures of a guest, in place beside those of the path with copies.
func guestTable(g *doc.Value) *doc.Table {
	how := "surfaces mapped over the guest's memory"
	if g.At("path").Is("offset") {
		how = "tensors at an offset of the guest's memory"
	}
	c, copied := g.At("copying"), g.Size("bytes_copied")
	t := doc.NewTable("A guest on "+g.Text("engine").Number+": "+how, "figure|guest: "+how, "#in place", "#with copies")
	t.Row(doc.Words("errors").Brief("errors in %s elements", g.At("elements").Raw), g.Plain("errors"), c.Plain("errors"))
	t.Row(doc.Words("reached through a copy"), g.Size("unshared_bytes"))
	if copied.Raw == "0" { // then in each
		t.Row(doc.Words("copied in a run"), copied, c.Size("bytes_copied_per_run"))
	} else {
		t.Row(doc.Words("copied in a run"), doc.Nothing(), c.Size("bytes_copied_per_run"))
		t.Row(doc.Words("copied in all runs"), copied)
	}
	t.Row(doc.Words("growth of memory by a large tensor").Brief("growth of memory by a tensor of 16 MiB"),
		g.Size("growth_bytes"), c.Size("growth_bytes"))
	t.Row(doc.Words("a run, median").Brief("a run of 128 x 128, p50"), g.Time("evaluate_p50_ns"), c.Time("evaluate_p50_ns"))
	t.Row(doc.Words("a call across the boundary"), g.Time("crossing_ns"))
	return t
}

// showMemory draws the memory of this process and of Blocks over the time of the checks, a plot for each engine.
func showMemory(d *doc.Doc, engines []*doc.Value) {
	plots := d.Figures()
	for _, e := range engines {
		process, blocks := doc.Curve{Color: doc.Series(0)}, doc.Curve{Color: doc.Series(1), Step: true}
		t := doc.NewTable("Memory after each step", "step", "#time", "#process", "#Blocks")
		for _, m := range e.Items("memory") {
			t.Row(m.Text("step"), m.Time("at_ns"), m.Size("process_bytes"), m.Size("block_bytes"))
			at := m.At("at_ns").Float()
			if p := m.At("process_bytes"); p.Here() {
				process.X, process.Y = append(process.X, at), append(process.Y, p.Float())
			}
			blocks.X, blocks.Y = append(blocks.X, at), append(blocks.Y, m.At("block_bytes").Float())
		}
		if len(blocks.X) < 2 {
			continue
		}
		c := &doc.Chart{X: doc.Axis{Form: doc.DurationOf(1)}, Y: doc.Bytes(slices.Max(append(process.Y, blocks.Y...))),
			Height: 170}
		c.Add(blocks)
		c.Add(process)
		plots.Add(c, doc.Plot{Title: doc.Words("Checks on %s", e.Text("engine").Number),
			Caption: doc.Line("memory after each model and each group of checks"),
			Legend: []doc.Mark{doc.SeriesMark("", 0, doc.Words("this process")),
				doc.SeriesMark("", 1, doc.Words("open Blocks"))},
			Data: &doc.Folded{Summary: "Figures", Table: t}}, "Memory of the process and of open Blocks over time.")
	}
	d.Page("Memory over time", nil, plots)
}

// showVerdict adds the failed checks once more, so that the reader need not search a long table, and the verdict.
func showVerdict(d *doc.Doc, v *doc.Value) {
	checks, verdict := d.Root.At("checks"), d.Root.Status("verdict")
	if !v.Here() {
		d.Terminal(doc.Text("verdict: ", verdict))
		return
	}
	var failed []*doc.Value
	var unmeasured []string // growth of memory, which the verdict says nothing of
	for _, c := range d.Root.Items("checks") {
		switch name := c.Text("name").Number; {
		case c.At("status").Is(trial.Fail):
			failed = append(failed, c)
		case c.At("status").Is(trial.Skip) && strings.HasPrefix(name, "gpu/growth"):
			unmeasured = append(unmeasured, name)
		}
	}
	more := ""
	if checks.Count("status", trial.Skip).Raw != "0" {
		more = ", others cannot run here"
	}
	if left := v.At("left_out"); left.Here() {
		more += fmt.Sprintf(", %s left out by --only %s", left.Raw, v.Text("only").Number)
	}
	lines := doc.Text(checks.Count("status", trial.Pass), " of ", checks.Count("", ""), " checks passed", more)
	for _, c := range d.Root.Items("claims") {
		claim := Claim{Name: c.At("name").Raw, Status: c.At("status").Raw}
		for _, by := range c.Items("by") {
			claim.By = append(claim.By, by.Raw)
		}
		lines = append(lines, doc.Line(claim.Words()))
	}
	not := ""
	if len(unmeasured) > 0 {
		not = ", " + strings.Join(unmeasured, " and ") + " not measured on this system"
	}
	d.Terminal(doc.Checks("", failed...))
	d.Terminal(append(lines, doc.Line("verdict: ", verdict, not)))
}
