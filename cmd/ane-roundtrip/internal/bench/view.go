package bench

import (
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/measure"
)

// View lays out what bench has measured. A terminal has seen all but the caches.
func View(d *doc.Doc, v *doc.Value) {
	showOperations(d, v)
	showSizes(d, v.Items("sizes"))
	showEvaluations(d, v.At("evaluate"))
	showCaches(d, v.Items("cache", "modes"), "36 layers of 8 heads of 128 in fp16",
		publishedCaches(v.Items("cache", "published", "reserve")))
	d.Page("Skipped", nil, skipped(v.Items("skipped")))
	d.Terminal(doc.Text("verdict: ", d.Root.Status("verdict")))
}

// skipped tells why steps could not run.
func skipped(items []*doc.Value) (all doc.Remarks) {
	for _, s := range items {
		all.Add("skipped: "+s.Text("step").Number, s.Text("reason"))
	}
	return all
}

// target is the target of a figure, on a terminal with the verdict and what else is known of it.
func target(v *doc.Value) doc.Cell {
	text := v.Text("target").Number
	if missed := v.Text("missed").Number; missed != "" {
		text += ": " + missed
	}
	if published := v.Text("published").Number; published != "" {
		text += "; published " + published
	}
	if rate := v.Rate("bytes_per_s").String(); rate != "" {
		text += "; " + rate
	}
	return v.Text("target").Brief("%s", text)
}

// missed is the verdict of a target that a figure exceeds.
func missed(v *doc.Value) doc.Cell {
	c := v.Text("missed")
	if c.Number == measure.Missed {
		c.Class = "status fail"
	}
	return c
}

// spread is that of the ratios of the rounds.
func spread(v *doc.Value) doc.Cell {
	return v.Digits("ratio_spread").Brief("%.2f", v.At("ratio_spread").Float())
}

func operationTable() *doc.Table {
	return doc.NewTable("Operations", "operation|Operation", "#measured|Measured", "~#throughput", "#floor|Floor",
		"#ratio|Ratio", "#spread|Spread", "#allocs|Allocs", ">target|Target", "~published", "~verdict")
}

func operationRow(o *doc.Value) []doc.Cell {
	return []doc.Cell{o.Text("operation"), o.Time("measured_ns"), o.Rate("bytes_per_s"), o.Time("floor_ns"),
		o.Ratio("ratio"), spread(o), o.Plain("allocs_per_op"), target(o), o.Text("published"), missed(o)}
}

func showOperations(d *doc.Doc, v *doc.Value) {
	t := operationTable()
	var labels []string
	var ratios []float64
	for _, o := range v.Items("operations") {
		t.Row(operationRow(o)...)
		labels, ratios = append(labels, o.Text("operation").Number), append(ratios, o.At("ratio").Float())
	}
	plots := d.Figures()
	if len(labels) > 0 {
		c := doc.Lengths(doc.Axis{Label: "times the floor"}, labels, ratios)
		c.Rectangle(0, .5, 1, .5, doc.Rule) // the axis begins at 0 and reaches the floor
		c.Add(doc.Curve{Color: doc.Ink, Dash: true, X: []float64{1, 1}, Y: []float64{.5, .5 - float64(len(labels))}})
		plots.Add(c, doc.Plot{Title: doc.Words("Ratio to the floor"),
			Caption: doc.Line("shorter is better; the dashed line is the floor")},
			"A bar for each operation, as long as its ratio to the floor.")
	}
	d.Page("Operations", doc.Line("Each figure beside its floor, the barest code that does the same work, measured in "+
		"the same rounds. Floors of Blocks: ", v.Text("floors"), "."), plots, t)
}

// through is the curve through the numbers that values have at two places: keys with slashes between them.
func through(values []*doc.Value, x, y string, k doc.Curve) doc.Curve {
	for _, v := range values {
		k.X = append(k.X, v.At(strings.Split(x, "/")...).Float())
		k.Y = append(k.Y, v.At(strings.Split(y, "/")...).Float())
	}
	return k
}

// phase is what is measured of a Block.
type phase struct {
	key, name       string
	measured, floor string // keys
	cell            func(*doc.Value, ...string) doc.Cell
	axis            doc.Axis
	better          string
}

func phases() (all []phase) {
	for _, p := range [][2]string{{"open", "open"}, {"first_touch", "first touch of 16 KiB"}, {"drop", "drop"}} {
		all = append(all, phase{p[0], p[1], "measured_ns", "floor_ns", (*doc.Value).Time,
			doc.Axis{Form: doc.DurationOf(1), Log: true}, "less is better"})
	}
	for _, key := range []string{"write", "read"} {
		all = append(all, phase{key, key, "bytes_per_s", "floor_bytes_per_s", (*doc.Value).Rate, doc.Axis{Form: doc.RateOf},
			"more is better"})
	}
	return all
}

// cells are the figure, its floor and their ratio.
func (p phase) cells(size *doc.Value) []doc.Cell {
	f := size.At(p.key)
	return []doc.Cell{p.cell(f, p.measured), p.cell(f, p.floor), f.Ratio("ratio")}
}

// showSizes draws times and throughput of Blocks over their size, each with its floor.
func showSizes(d *doc.Doc, sizes []*doc.Value) {
	plots := d.Figures()
	for _, p := range phases() {
		t := doc.NewTable(p.name, "size", "#measured", "#floor", "#ratio", "published")
		for _, s := range sizes {
			cells := append([]doc.Cell{s.Size("bytes")}, p.cells(s)...)
			if p.key == "open" {
				cells = append(cells, s.Text("published"))
			}
			t.Row(cells...)
		}
		c := &doc.Chart{X: doc.Axis{Form: doc.SizeOf, Log: true, Step: 16}, Y: p.axis}
		c.Add(through(sizes, "bytes", p.key+"/"+p.floor, doc.Curve{Color: doc.Series(1), Dash: true}))
		c.Add(through(sizes, "bytes", p.key+"/"+p.measured, doc.Curve{Color: doc.Series(0), Dots: true}))
		plots.Add(c, doc.Plot{Title: doc.Words("Block: %s", p.name), Caption: doc.Line(p.better),
			Legend: []doc.Mark{doc.SeriesMark("", 0, doc.Words("measured")), doc.SeriesMark("dash ", 1, doc.Words("floor"))},
			Data:   &doc.Folded{Summary: "Figures", Table: t}}, "Measured and floor, over the size of the Block.")
	}
	d.Page("Blocks by size", nil, plots)
}

func evaluationTable(engine string) *doc.Table {
	return doc.NewTable("Evaluations that read one row of a tensor, on "+engine, "tensor|Evaluate on "+engine, "#p50", "#p99",
		"#floor|Floor", "#ratio|Ratio", "#spread|Spread", "#allocs|Allocs", ">target|Target", "~verdict")
}

func evaluationRow(r *doc.Value) []doc.Cell {
	size := r.Size("tensor_bytes")
	return []doc.Cell{size.Brief("one row of %s", size), r.Time("p50_ns"), r.Time("p99_ns"), r.Time("floor_ns"),
		r.Ratio("ratio"), spread(r), r.Plain("allocs_per_op"), target(r), missed(r)}
}

func showEvaluations(d *doc.Doc, e *doc.Value) {
	t := evaluationTable(e.Text("engine").Number)
	floor := doc.Curve{Color: doc.Series(1), Dash: true}
	trips := e.Items("trips")
	for _, r := range trips {
		t.Row(evaluationRow(r)...)
		floor.X = append(floor.X, r.At("tensor_bytes").Float())
		floor.Y = append(floor.Y, e.At("floor_p50_ns").Float())
	}
	c := &doc.Chart{X: doc.Axis{Form: doc.SizeOf, Log: true, Step: 16}, Y: doc.Axis{Form: doc.DurationOf(1)}}
	c.Add(floor)
	c.Add(through(trips, "tensor_bytes", "p99_ns", doc.Curve{Color: doc.Series(2), Dots: true}))
	c.Add(through(trips, "tensor_bytes", "p50_ns", doc.Curve{Color: doc.Series(0), Dots: true}))
	plots := d.Figures().Add(c, doc.Plot{Title: doc.Words("Time of an evaluation"),
		Caption: doc.Line("over the size of the tensor"),
		Legend: []doc.Mark{doc.SeriesMark("", 0, doc.Words("p50")), doc.SeriesMark("", 2, doc.Words("p99")),
			doc.SeriesMark("dash ", 1, doc.Words("floor"))}}, "Median and 99th of 100 over the size of the tensor.")
	d.Page("Evaluations", doc.Line("Floor: two processes that wake each other, ", e.Time("floor_p50_ns"),
		". The largest tensor takes ", e.Ratio("largest_to_smallest"), " the time of the smallest."), plots, t)
}
