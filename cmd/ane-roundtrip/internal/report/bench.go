package report

import (
	"fmt"
	"slices"

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
	b.sizes(d.at("sizes").items)
	b.evaluations(d.at("evaluate"))
	b.cache(d.at("cache"))
	b.section("Skipped", nil, listed("Steps that could not run", d.at("skipped").items, field{"step", "step", texts},
		field{">reason", "reason", texts}))
}

func (b *builder) operations(d *value) {
	items := d.at("operations").items
	var labels []string
	var ratios []float64
	for _, o := range items {
		labels, ratios = append(labels, visibleName(o.at("operation"))), append(ratios, o.at("ratio").float())
	}
	c := lengths(axis{label: "times the floor"}, labels, ratios)
	c.rectangle(0, .5, 1, .5, line) // the axis begins at 0 and reaches the floor
	c.add(curve{color: ink, dash: true, x: []float64{1, 1}, y: []float64{.5, -float64(len(labels)) + .5}})
	var plots []plotted
	if len(labels) > 0 {
		plots = b.plot(nil, c, plotted{Title: words("Ratio to the floor"),
			Caption: sentence("shorter is better; the dashed line is the floor")},
			"A bar for each operation, as long as its ratio to the floor.")
	}
	b.section("Operations", sentence("Each figure beside its floor, the barest code that does the same work, measured "+
		"in the same rounds. Floors of Blocks: ", texts(d.at("floors")), "."), block{Plots: plots},
		listed("Operations", items, field{"operation", "operation", texts}, field{"#measured", "measured_ns", nanoseconds},
			field{"#throughput", "bytes_per_s", rate}, field{"#floor", "floor_ns", nanoseconds},
			field{"#ratio", "ratio", ratio}, field{"#spread", "ratio_spread", digitsCell},
			field{"#allocs", "allocs_per_op", plain}, field{"target", "target", texts},
			field{"published", "published", texts}, field{"verdict", "missed", missed}))
}

// digitsCell is a number with three digits.
func digitsCell(v *value) cell {
	return figure(v, "1", func(f float64) (string, string) { return digits(f), "" })
}

// sizes draws times and throughput of Blocks over their size, each with its floor.
func (b *builder) sizes(items []*value) {
	var plots []plotted
	for _, m := range []struct{ key, title string }{{"write", "Write"}, {"read", "Read"}, {"open", "Open"},
		{"first_touch", "First touch of 16 KiB"}, {"drop", "Drop"}} {
		measured, floor, form, cells, caption := "/measured_ns", "/floor_ns", durationOf(1), nanoseconds, "less is better"
		timed := m.key != "write" && m.key != "read"
		if !timed {
			measured, floor, form, cells, caption = "/bytes_per_s", "/floor_bytes_per_s", rateOf, rate, "more is better"
		}
		fields := []field{{"size", "bytes", size}, {"#measured", m.key + measured, cells},
			{"#floor", m.key + floor, cells}, {"#ratio", m.key + "/ratio", ratio}}
		if m.key == "open" {
			fields = append(fields, field{"published", "published", texts})
		}
		c := &chart{x: axis{form: sizeOf, log: true, step: 16}, y: axis{form: form, log: timed}}
		c.through(items, "bytes", m.key+floor, curve{color: series(1), dash: true})
		c.through(items, "bytes", m.key+measured, curve{color: series(0), dots: true})
		plots = b.plot(plots, c, plotted{Title: words("%s", m.title), Caption: sentence(caption),
			Legend: []mark{{"c1", words("measured")}, {"dash c2", words("floor")}},
			Data:   &folded{"Figures", listed(m.title, items, fields...).Table}},
			fmt.Sprintf("%s over the size of the Block, measured and floor.", m.title))
	}
	b.section("Blocks by size", nil, block{Plots: plots})
}

func (b *builder) evaluations(e *value) {
	items, floor := e.at("trips").items, e.at("floor_p50_ns")
	c := &chart{x: axis{form: sizeOf, log: true, step: 16}, y: axis{form: durationOf(1)}}
	k := curve{color: series(1), dash: true}
	for _, r := range items {
		k.x, k.y = append(k.x, r.at("tensor_bytes").float()), append(k.y, floor.float())
	}
	c.add(k)
	c.through(items, "tensor_bytes", "p99_ns", curve{color: series(2), dots: true})
	c.through(items, "tensor_bytes", "p50_ns", curve{color: series(0), dots: true})
	plots := b.plot(nil, c, plotted{Title: words("Time of an evaluation"),
		Caption: sentence("over the size of the tensor"),
		Legend:  []mark{{"c1", words("p50")}, {"c3", words("p99")}, {"dash c2", words("floor")}}},
		"Median and 99th of 100 over the size of the tensor.")
	b.section("Evaluations", sentence("Floor: two processes that wake each other, ", nanoseconds(floor),
		". The largest tensor takes ", ratio(e.at("largest_to_smallest")), " the time of the smallest."),
		block{Plots: plots}, listed("Evaluations that read one row of a tensor, on "+page.Visible(e.at("engine").raw),
			items, field{"tensor", "tensor_bytes", size}, field{"#p50", "p50_ns", nanoseconds},
			field{"#p99", "p99_ns", nanoseconds}, field{"#ratio", "ratio", ratio},
			field{"#spread", "ratio_spread", digitsCell}, field{"#allocs", "allocs_per_op", plain},
			field{"target", "target", texts}, field{"verdict", "missed", missed}))
}

// cache draws the memory of keys and values over the tokens, and shows published figures beside.
func (b *builder) cache(c *value) {
	rows, published := c.at("modes"), c.at("published")
	if rows.kind != array { // bench weights has the rows alone
		rows, published = c, b.root.at("details", "published")
	}
	if len(rows.items) == 0 {
		return
	}
	drawn := &chart{x: axis{label: "tokens"}, y: axis{form: sizeOf}}
	p := plotted{Title: words("Memory of keys and values"),
		Caption: sentence("a reserved cache is a flat line, a growing one a staircase")}
	steps := &table{Caption: "Memory over tokens", Columns: columns("cache", "#tokens", "#memory")}
	high := 0.0
	for i, r := range rows.items {
		for _, s := range r.at("steps").items {
			steps.add(cacheMode(r.at("mode")), exactly(s.at("tokens"), ""), size(s.at("bytes")))
			high = max(high, s.at("bytes").float())
		}
		drawn.through(r.at("steps").items, "tokens", "bytes", curve{color: series(i), step: true})
		p.Legend = append(p.Legend, mark{fmt.Sprintf("c%d", i%6+1), cacheMode(r.at("mode"))})
	}
	drawn.y = binary(drawn.y, high)
	p.Data = &folded{"Figures", steps.without()}
	plots := b.plot(nil, drawn, p, "Memory over the number of tokens, a line for each cache.")
	times := []field{{"#first token", "first_ns", nanoseconds}, {"#prompt", "prompt_per_s", perSecond},
		{"#generate", "generate_per_s", perSecond}}
	b.section("Keys and values", nil, block{Plots: plots},
		listed("Keys and values", rows.items, slices.Concat([]field{{"cache", "mode", cacheMode}}, times,
			[]field{{"#memory", "bytes", size}, {"#beyond dynamic", "delta_bytes", size},
				{"#moved on growth", "copied_bytes", size}})...),
		listed("Published: OptMLX, table 4, MLX on an M4 Max", published.at("reserve").items,
			slices.Concat([]field{{"model", "model", texts}, {"cache", "mode", texts}}, times,
				[]field{{"#peak", "peak_gb", gigabytes}, {"#beyond dynamic", "delta_gb", gigabytes}})...))
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

func gigabytes(v *value) cell {
	return figure(v, "1", func(f float64) (string, string) { return digits(f), "GB" })
}
