package report

import (
	"fmt"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// missed is the verdict of a target that a figure exceeds.
func missed(v *value) cell {
	c := texts(v)
	if v.raw == "missed" {
		c.Class = "status fail"
	}
	return c
}

// bench shows operations, sizes and evaluations beside their floors.
func (b *builder) bench(d *value) {
	if d.kind != object {
		return
	}
	b.operations(d)
	b.sizes(d)
	b.evaluations(d.at("evaluate"))
	b.cache(d.at("cache"))
	skipped := &table{Caption: "Steps that could not run", Columns: columns("step", ">reason")}
	for _, s := range d.at("skipped").items {
		skipped.add(texts(s.at("step")), texts(s.at("reason")))
	}
	b.section("Skipped", nil, tableBlock(skipped))
}

func (b *builder) operations(d *value) {
	t := &table{Caption: "Operations", Columns: columns("operation", "#measured", "#throughput", "#floor", "#ratio",
		"#spread", "#allocs", "target", "published", "verdict")}
	c := &chart{rows: true, x: axis{label: "times the floor"}}
	c.rectangle(0, .5, 1, .5, line) // the axis begins at 0 and reaches the floor
	var labels []string
	for i, o := range d.at("operations").items {
		t.add(texts(o.at("operation")), nanoseconds(o.at("measured_ns")), rate(o.at("bytes_per_s")),
			nanoseconds(o.at("floor_ns")), ratio(o.at("ratio")), digitsCell(o.at("ratio_spread")),
			plain(o.at("allocs_per_op")), texts(o.at("target")), texts(o.at("published")), missed(o.at("missed")))
		labels = append(labels, visibleName(o.at("operation")))
		c.rectangle(0, -float64(i)-.34, o.at("ratio").float(), -float64(i)+.34, series(0))
	}
	c.add(curve{color: ink, dash: true, x: []float64{1, 1}, y: []float64{.5, -float64(len(labels)) + .5}})
	c.y, c.height = names(labels), 46+15*float64(len(labels))
	var plots []plotted
	if len(labels) > 0 {
		plots = b.plot(nil, c, plotted{Title: words("Ratio to the floor"),
			Caption: sentence("shorter is better; the dashed line is the floor")},
			"A bar for each operation, as long as its ratio to the floor.")
	}
	b.section("Operations", sentence("Each figure beside its floor, the barest code that does the same work, measured "+
		"in the same rounds. Floors of Blocks: ", texts(d.at("floors")), "."), block{Plots: plots}, tableBlock(t))
}

// digitsCell is a number with three digits.
func digitsCell(v *value) cell {
	return figure(v, "1", func(f float64) (string, string) { return digits(f), "" })
}

// sizes draws times and throughput of Blocks over their size, each with its floor.
func (b *builder) sizes(d *value) {
	var plots []plotted
	for _, m := range []struct {
		key, title, measured, floor string
		form                        func(float64) (string, string)
		cell                        func(*value) cell
	}{
		{"write", "Write", "bytes_per_s", "floor_bytes_per_s", rateOf, rate},
		{"read", "Read", "bytes_per_s", "floor_bytes_per_s", rateOf, rate},
		{"open", "Open", "measured_ns", "floor_ns", durationOf(1), nanoseconds},
		{"first_touch", "First touch of 16 KiB", "measured_ns", "floor_ns", durationOf(1), nanoseconds},
		{"drop", "Drop", "measured_ns", "floor_ns", durationOf(1), nanoseconds},
	} {
		timed := m.measured == "measured_ns"
		c := &chart{x: axis{form: sizeOf, log: true, step: 16}, y: axis{form: m.form, log: timed}}
		t := &table{Caption: m.title, Columns: columns("size", "#measured", "#floor", "#ratio", "published")}
		measured := curve{color: series(0), dots: true}
		floor := curve{color: series(1), dash: true}
		for _, s := range d.at("sizes").items {
			x, f := s.at("bytes"), s.at(m.key)
			published := nothing()
			if m.key == "open" {
				published = texts(s.at("published"))
			}
			t.add(size(x), m.cell(f.at(m.measured)), m.cell(f.at(m.floor)), ratio(f.at("ratio")), published)
			measured.x, measured.y = append(measured.x, x.float()), append(measured.y, f.at(m.measured).float())
			floor.x, floor.y = append(floor.x, x.float()), append(floor.y, f.at(m.floor).float())
		}
		c.add(floor)
		c.add(measured)
		caption := "more is better"
		if timed {
			caption = "less is better"
		}
		plots = b.plot(plots, c, plotted{Title: words("%s", m.title), Caption: sentence(caption),
			Legend: []mark{{"c1", words("measured")}, {"dash c2", words("floor")}},
			Data:   &folded{"Figures", t.without()}},
			fmt.Sprintf("%s over the size of the Block, measured and floor.", m.title))
	}
	b.section("Blocks by size", nil, block{Plots: plots})
}

func (b *builder) evaluations(e *value) {
	t := &table{Caption: "Evaluations that read one row of a tensor, on " + page.Visible(e.at("engine").raw),
		Columns: columns("tensor", "#p50", "#p99", "#ratio", "#spread", "#allocs", "target", "verdict")}
	c := &chart{x: axis{form: sizeOf, log: true, step: 16}, y: axis{form: durationOf(1)}}
	p50, p99 := curve{color: series(0), dots: true}, curve{color: series(2), dots: true}
	floor := curve{color: series(1), dash: true}
	for _, r := range e.at("trips").items {
		x := r.at("tensor_bytes")
		t.add(size(x), nanoseconds(r.at("p50_ns")), nanoseconds(r.at("p99_ns")), ratio(r.at("ratio")),
			digitsCell(r.at("ratio_spread")), plain(r.at("allocs_per_op")), texts(r.at("target")),
			missed(r.at("missed")))
		p50.x, p50.y = append(p50.x, x.float()), append(p50.y, r.at("p50_ns").float())
		p99.x, p99.y = append(p99.x, x.float()), append(p99.y, r.at("p99_ns").float())
		floor.x, floor.y = append(floor.x, x.float()), append(floor.y, e.at("floor_p50_ns").float())
	}
	c.add(floor)
	c.add(p99)
	c.add(p50)
	plots := b.plot(nil, c, plotted{Title: words("Time of an evaluation"),
		Caption: sentence("over the size of the tensor"),
		Legend:  []mark{{"c1", words("p50")}, {"c3", words("p99")}, {"dash c2", words("floor")}}},
		"Median and 99th of 100 over the size of the tensor.")
	b.section("Evaluations", sentence("Floor: two processes that wake each other, ", nanoseconds(e.at("floor_p50_ns")),
		". The largest tensor takes ", ratio(e.at("largest_to_smallest")), " the time of the smallest."),
		block{Plots: plots}, tableBlock(t))
}

// cache draws the memory of keys and values over the tokens, and shows published figures beside.
func (b *builder) cache(c *value) {
	rows, published := c.at("modes"), c.at("published")
	if rows.kind != array { // bench weights has the rows alone
		rows, published = c, b.root.at("details", "published")
	}
	t := &table{Caption: "Keys and values", Columns: columns("cache", "#first token", "#prompt", "#generate", "#memory",
		"#beyond dynamic", "#moved on growth")}
	drawn := &chart{x: axis{label: "tokens"}, y: axis{form: sizeOf}}
	p := plotted{Title: words("Memory of keys and values"),
		Caption: sentence("a reserved cache is a flat line, a growing one a staircase")}
	steps := &table{Caption: "Memory over tokens", Columns: columns("cache", "#tokens", "#memory")}
	high := 0.0
	for i, r := range rows.items {
		t.add(cacheMode(r.at("mode")), nanoseconds(r.at("first_ns")), perSecond(r.at("prompt_per_s")),
			perSecond(r.at("generate_per_s")), size(r.at("bytes")), size(r.at("delta_bytes")),
			size(r.at("copied_bytes")))
		k := curve{color: series(i), step: true}
		for _, s := range r.at("steps").items {
			k.x, k.y = append(k.x, s.at("tokens").float()), append(k.y, s.at("bytes").float())
			steps.add(cacheMode(r.at("mode")), exactly(s.at("tokens"), ""), size(s.at("bytes")))
		}
		high = max(high, most(k.y))
		drawn.add(k)
		p.Legend = append(p.Legend, mark{fmt.Sprintf("c%d", i%6+1), cacheMode(r.at("mode"))})
	}
	if len(rows.items) == 0 {
		return
	}
	drawn.y = binary(drawn.y, high)
	p.Data = &folded{"Figures", steps.without()}
	plots := b.plot(nil, drawn, p, "Memory over the number of tokens, a line for each cache.")
	b.section("Keys and values", nil, block{Plots: plots}, tableBlock(t),
		tableBlock(reservations(published)))
}

// cacheMode names a cache: dynamic, or the number of tokens that it reserves.
func cacheMode(v *value) cell {
	c := texts(v)
	if v.raw != "dynamic" && c.Number != "" {
		c.Unit = "tokens reserved"
	}
	return c
}

func perSecond(v *value) cell {
	return figure(v, "1", func(f float64) (string, string) { return digits(f), "/s" })
}

// reservations is table 4 of the OptMLX paper.
func reservations(published *value) *table {
	t := &table{Caption: "Published: OptMLX, table 4, MLX on an M4 Max", Columns: columns("model", "cache",
		"#first token", "#prompt", "#generate", "#peak", "#beyond dynamic")}
	for _, r := range published.at("reserve").items {
		peak, more := digitsCell(r.at("peak_gb")), digitsCell(r.at("delta_gb"))
		peak.Unit, more.Unit = "GB", "GB"
		t.add(texts(r.at("model")), texts(r.at("mode")), nanoseconds(r.at("first_ns")),
			perSecond(r.at("prompt_per_s")),
			perSecond(r.at("generate_per_s")), peak, more)
	}
	return t
}
