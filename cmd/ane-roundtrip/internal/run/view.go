package run

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// View lays out the tensors and times of a program, then what --compare and --expect found. The extents of the tensors
// tell of infinite ones, which are null in the object.
func View(extents ...tensorfile.Extent) doc.View {
	return func(d *doc.Doc, v *doc.Value) { show(d, v, extents) }
}

func show(d *doc.Doc, v *doc.Value, extents []tensorfile.Extent) {
	finite := func(c doc.Cell, i int, of func(tensorfile.Extent) trial.Number) doc.Cell {
		if i >= len(extents) || extents[i].Min > extents[i].Max || !math.IsInf(float64(of(extents[i])), 0) {
			return c // without a number it is absent
		}
		return c.Brief("%+v", float64(of(extents[i])))
	}
	least := func(e tensorfile.Extent) trial.Number { return e.Min }
	largest := func(e tensorfile.Extent) trial.Number { return e.Max }
	t := doc.NewTable("Tensors of the program", "tensor", "side", "type", "shape", "#least|min", "#largest|max",
		"#NaN|nan", "~#between file and tensor", ">file", "~>notes").Shorten(0, 8)
	for i, r := range v.Items("tensors") {
		t.Row(r.Text("name"), r.Text("side"), r.Text("dtype"), r.Shape("shape"), finite(r.Plain("min"), i, least),
			finite(r.Plain("max"), i, largest), r.Plain("nan"), r.Size("bytes_copied"), r.Text("file"), r.Joined("; ", "notes"))
	}
	d.Section("Tensors", nil, t)
	evaluations(d, v)
	comparison(d, v.At("compare"))
	for _, c := range d.Root.Items("checks") {
		d.Terminal(doc.Text(c.Text("name"), ": ", c.Status("status"), ", ", c.Text("detail")))
	}
	timeline.Show(d, v.At("timeline"))
	trial.ShowSurfaces(d, v)
}

// evaluations shows the times of a run: a line on a terminal, facts and a histogram on a page.
func evaluations(d *doc.Doc, v *doc.Value) {
	e := v.At("evaluate")
	d.Key("compile", v.Time("compile_ns"))
	d.Key("load", v.Time("load_ns"))
	d.Key("evaluate, p50", e.Time("p50_ns"))
	copied := doc.Line("copies unknown")
	if e.At("bytes_copied").Here() {
		d.Key("reached through a copy", e.Size("bytes_copied"))
		copied = doc.Line(e.Bytes("bytes_copied"), " copied")
	}
	times := doc.Line(e.Time("first_ns"))
	if e.At("allocs").Here() {
		times = doc.Line(e.Plain("repeat"), " times: min ", e.Time("min_ns"), ", p50 ", e.Time("p50_ns"), ", p99 ",
			e.Time("p99_ns"), ", ", copied, ", ", e.Plain("allocs"), " allocations each")
	}
	d.Terminal(doc.Text("engine ", d.Root.Text("engine", "name"), ": compile ", v.Time("compile_ns"), ", load ",
		v.Time("load_ns"), ", evaluate ", times))
	c := &doc.Chart{X: doc.Axis{Form: doc.DurationOf(1), Log: true}}
	c.Bars(e.At("latency", "edges_ns").Floats(), e.At("latency", "counts").Floats(), 0)
	plots := d.Figures().Add(c, doc.Plot{Title: doc.Words("Evaluations"), Caption: doc.Line("how many took how long")},
		"Histogram of the times of evaluations.")
	d.Page("Evaluations", nil, doc.Facts{doc.Named("evaluations", e.Plain("repeat")),
		doc.Named("first", e.Time("first_ns")), doc.Named("shortest", e.Time("min_ns")), doc.Named("p50", e.Time("p50_ns")),
		doc.Named("p99", e.Time("p99_ns")), doc.Named("Go allocations of each", e.Text("allocs"))}, plots)
}

// comparison shows the first difference between two modes, and that of each operator.
func comparison(d *doc.Doc, c *doc.Value) {
	if !c.Object() {
		return
	}
	modes := c.At("modes")
	both := doc.Line(modes.Item(0).Text(), " and ", modes.Item(1).Text())
	compared := doc.Counted(c.Plain("compared"), "result", "results")
	f := c.At("difference")
	if !f.Object() {
		d.Summary = doc.Line(both, ": ", compared, " compared, no difference")
		d.Section("Comparison", nil, doc.Text(d.Summary))
		return
	}
	d.Unproved = "Different results"
	d.Summary = doc.Line(both, " differ first in ", f.Code("operator"), " ", f.Code("value"))
	differ := doc.Line(f.Plain("differ"), " of ", f.Plain("elements"), " elements")
	infinite := f.At("not_finite").Float()
	if infinite < f.At("differ").Float() {
		differ = doc.Line(differ, ", by ", f.Plain("max_difference"), " at most")
	}
	if infinite > 0 {
		differ = doc.Line(differ, "; ", f.Plain("not_finite"), " infinite or NaN")
	}
	d.Section("First difference", nil, doc.Facts{
		doc.Named("operator", f.Code("operator"), " ", f.Code("value"), ", ", f.Text("file"), ":", f.Plain("line"), ":",
			f.Plain("column")),
		doc.Named("element", f.Shape("index"), " of ", f.Text("dtype"), " ", f.Shape("shape")),
		doc.Named(modes.Item(0).Text().Number, f.At("shown").Item(0).Text()),
		doc.Named(modes.Item(1).Text().Number, f.At("shown").Item(1).Text()),
		doc.Named("apart", doc.Counted(f.Plain("ulps"), "ulp", "ulps")),
		doc.Named("differ", differ),
		doc.Named("rule", f.Joined(" + ", "rules")),
		doc.Named("compared|equal before", c.Plain("compared").In("results").
			Brief("%s", cli.Counted(int(c.At("compared").Float())-1, "result", "results"))),
	})
	operators(d, c.Items("operators"), both)
}

// apart is how far the two results of an operator differ: infinitely where an element is infinite or NaN.
func apart(operator *doc.Value) float64 {
	if operator.At("not_finite").Float() > 0 {
		return math.Inf(1)
	}
	return operator.At("relative").Float()
}

// operators shows the difference of every operator, and draws the largest in the order of the program.
func operators(d *doc.Doc, all []*doc.Value, modes []doc.Cell) {
	t := doc.NewTable("Results in the order of the program", "result", "operator", "#line", "#elements", "#differ",
		"#infinite or NaN", "#largest difference", "#relative")
	for _, r := range all {
		t.Row(r.Code("value"), r.Code("operator"), r.Plain("line"), r.Plain("elements"), r.Plain("differ"),
			r.Plain("not_finite"), r.Plain("max_difference"), r.Plain("relative"))
	}
	var labels []string
	var values []float64
	shown := doc.Largest(all, 40, apart)
	for _, r := range shown {
		label := r.Text("value").Number
		if n := r.At("not_finite"); n.Float() > 0 {
			label += " (" + n.Raw + " not finite)" // a bar has no place for them
		}
		labels, values = append(labels, label), append(values, r.At("relative").Float())
	}
	p := doc.Plot{Title: doc.Words("Difference by operator"), Caption: doc.Line("between ", modes)}
	if len(shown) < len(all) {
		p.Caption = doc.Line(p.Caption, ": the largest; the table has all")
	}
	x := doc.Axis{Label: "largest difference of the result, relative to its largest value"}
	plots := d.Figures().Add(doc.Lengths(x, labels, values), p, fmt.Sprintf("A bar for each of %d results of operators.",
		len(labels)))
	d.Page("Difference by operator", nil, plots, t)
}
