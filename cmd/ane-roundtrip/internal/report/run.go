package report

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// run shows the tensors and times of a program, and what --compare found.
func (b *builder) run(d *value) {
	if d.kind != object {
		return
	}
	b.compare(d.at("compare"))
	e := d.at("evaluate")
	b.doc.Keys = append(b.doc.Keys,
		entry{"compile", []cell{nanoseconds(d.at("compile_ns"))}},
		entry{"load", []cell{nanoseconds(d.at("load_ns"))}},
		entry{"evaluate, p50", []cell{nanoseconds(e.at("p50_ns"))}})
	if c := e.at("bytes_copied"); c.here() {
		b.doc.Keys = append(b.doc.Keys, entry{"reached through a copy", []cell{size(c)}})
	}
	t := &table{Caption: "Tensors of the program", Columns: columns("tensor", "side", "type", "shape", "#least",
		"#largest", "#NaN", "#between file and tensor", ">file", ">notes")}
	for _, r := range d.at("tensors").items {
		nan := plain(r.at("nan"))
		t.add(texts(r.at("name")), texts(r.at("side")), texts(r.at("dtype")), shape(r.at("shape")), plain(r.at("min")),
			plain(r.at("max")), nan, size(r.at("bytes_copied")), texts(r.at("file")), joined(r.at("notes"), "; "))
	}
	b.section("Tensors", nil, tableBlock(t))
	times := []entry{
		{"evaluations", []cell{plain(e.at("repeat"))}}, {"first", []cell{nanoseconds(e.at("first_ns"))}},
		{"shortest", []cell{nanoseconds(e.at("min_ns"))}}, {"p50", []cell{nanoseconds(e.at("p50_ns"))}},
		{"p99", []cell{nanoseconds(e.at("p99_ns"))}},
	}
	if a := e.at("allocs"); a.here() {
		times = append(times, entry{"Go allocations of each", []cell{plain(a)}})
	}
	b.section("Evaluations", nil, block{Entries: times}, block{Plots: b.latency("Evaluations", e)})
	b.timeline(d.at("timeline"))
	b.surfaces([]surfaceRows{{nothing(), d.at("surfaces")}})
}

// compare shows the first difference between two modes, and that of each operator.
func (b *builder) compare(c *value) {
	if c.kind != object {
		return
	}
	modes := [2]cell{texts(c.at("modes").item(0)), texts(c.at("modes").item(1))}
	d := c.at("difference")
	if d.kind != object {
		b.section("Comparison", sentence(modes[0], " and ", modes[1], ": ", plain(c.at("compared")),
			" results of operators are equal."))
		b.doc.Summary = sentence(modes[0], " and ", modes[1], " agree in ", plain(c.at("compared")), " results")
		return
	}
	b.doc.Summary = sentence(modes[0], " and ", modes[1], " differ first in ", code(d.at("operator")), " ",
		code(d.at("value")))
	b.section("First difference", nil, block{Entries: []entry{
		{"operator", sentence(code(d.at("operator")), " ", code(d.at("value")), ", ", texts(d.at("file")), ":",
			plain(d.at("line")), ":", plain(d.at("column")))},
		{"element", sentence(shape(d.at("index")), " of ", texts(d.at("dtype")), " ", shape(d.at("shape")))},
		{page.Visible(c.at("modes").item(0).raw), []cell{texts(d.at("shown").item(0))}},
		{page.Visible(c.at("modes").item(1).raw), []cell{texts(d.at("shown").item(1))}},
		{"apart", sentence(exactly(d.at("ulps"), "ulp"))},
		{"differ", sentence(exactly(d.at("differ"), ""), " of ", exactly(d.at("elements"), ""), " elements, by ",
			plain(d.at("max_difference")), " at most where finite; ", exactly(d.at("not_finite"), ""),
			" infinite or NaN")},
		{"rule", []cell{joined(d.at("rules"), " + ")}},
	}})
	b.operators(c, modes)
}

// apart is how far the two results of an operator differ: infinitely where an element is infinite or NaN.
func apart(operator *value) float64 {
	if operator.at("not_finite").float() > 0 {
		return math.Inf(1)
	}
	return operator.at("relative").float()
}

// operators shows the difference of every operator.
func (b *builder) operators(c *value, modes [2]cell) {
	all := c.at("operators")
	t := &table{Caption: "Results in the order of the program", Columns: columns("result", "operator", "#line",
		"#elements", "#differ", "#infinite or NaN", "#largest difference", "#relative")}
	var labels []string
	drawn := &chart{rows: true, y: axis{},
		x: axis{label: "largest difference of the result, relative to its largest value"}}
	for _, r := range all.items {
		t.add(code(r.at("value")), code(r.at("operator")), plain(r.at("line")), exactly(r.at("elements"), ""),
			exactly(r.at("differ"), ""), exactly(r.at("not_finite"), ""), plain(r.at("max_difference")),
			plain(r.at("relative")))
	}
	shown := all.items
	if len(shown) > 40 { // those that differ most, in the order of the program
		shown = largest(shown, 40, apart)
	}
	for i, r := range shown {
		label := visibleName(r.at("value"))
		if n := r.at("not_finite"); n.float() > 0 {
			label += " (" + n.raw + " not finite)" // a bar has no place for them
		}
		labels = append(labels, label)
		v := r.at("relative").float()
		drawn.rectangle(0, -float64(i)-.36, v, -float64(i)+.36, series(0))
	}
	drawn.y = names(labels)
	drawn.height = 40 + 15*float64(len(labels))
	caption := sentence("between ", modes[0], " and ", modes[1])
	if len(shown) < len(all.items) {
		caption = append(caption, words(": the largest; the table has all"))
	}
	plots := b.plot(nil, drawn, plotted{Title: words("Difference by operator"), Caption: caption},
		fmt.Sprintf("A bar for each of %d results of operators.", len(labels)))
	b.section("Difference by operator", nil, block{Plots: plots}, tableBlock(t))
}
