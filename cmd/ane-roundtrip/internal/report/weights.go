package report

import "fmt"

// ways of loading, in the order of the tables.
func ways() []string { return []string{"map", "touch", "read", "parallel", "direct", "ring"} }

// weights shows ways to load weights, and what reserved memory of a cache costs.
func (b *builder) weights(d *value) {
	t := &table{Caption: "Time to load a file", Columns: columns("size", "page cache", "#map", "#touch", "#read",
		"#parallel", "#direct", "#ring")}
	var plots []plotted
	for _, cold := range []bool{false, true} {
		state := "warm"
		if cold {
			state = "cold"
		}
		c := &chart{x: axis{form: sizeOf, log: true, step: 2}, y: axis{form: durationOf(1), log: true}}
		lines := make([]curve, len(ways()))
		for _, l := range d.at("load").items {
			if l.at("cold").yes() != cold {
				continue
			}
			cells := []cell{size(l.at("bytes")), {Number: state, Path: l.at("cold").path}}
			cells[1].Path = ""
			for i, way := range ways() {
				s := l.at("times_ns", way)
				cells = append(cells, nanoseconds(s))
				lines[i].x, lines[i].y = append(lines[i].x, l.at("bytes").float()), append(lines[i].y, s.float())
			}
			t.add(cells...)
		}
		p := plotted{Title: words("Time to load, %s", state), Caption: sentence("less is better")}
		for i, way := range ways() {
			lines[i].color, lines[i].dots = series(i), true
			c.add(lines[i])
			p.Legend = append(p.Legend, mark{fmt.Sprintf("c%d", i+1), words("%s", way)})
		}
		plots = b.plot(plots, c, p, "Time over the size of the file, a line for each way to load it.")
	}
	published := d.at("published")
	sizes := &table{Caption: "Published: OptMLX, tables 1 and 2, MLX on an M4 Max", Columns: columns("model", "#size",
		"#standard", "#map", "#speedup")}
	effect := &table{Caption: "Published: OptMLX, table 3, MLX on an M4 Max", Columns: columns("model", "#load",
		"#with map", "#prompt", "#with map", "#generate", "#with map", "#peak", "#with map")}
	for _, v := range published.at("variants").items {
		gb := digitsCell(v.at("gb"))
		gb.Unit = "GB"
		sizes.add(texts(v.at("model")), gb, nanoseconds(v.at("load_ns").item(0)), nanoseconds(v.at("load_ns").item(1)),
			ratio(v.at("speedup")))
		cells := []cell{texts(v.at("model"))}
		for i := range 2 {
			cells = append(cells, nanoseconds(v.at("start_ns").item(i)))
		}
		for _, key := range []string{"prompt_per_s", "generate_per_s"} {
			for i := range 2 {
				cells = append(cells, perSecond(v.at(key).item(i)))
			}
		}
		for i := range 2 {
			peak := digitsCell(v.at("peak_gb").item(i))
			peak.Unit = "GB"
			cells = append(cells, peak)
		}
		effect.add(cells...)
	}
	b.section("Time to load", nil, block{Plots: plots}, tableBlock(t), tableBlock(sizes))
	infer := &table{Caption: "Evaluations with the weights as inputs", Columns: columns("weights", "#size", "#load",
		"#first", "#prompt", "#generate", "#moved", "#own memory", "#of the file")}
	for _, i := range d.at("infer").items {
		infer.add(texts(i.at("way")), size(i.at("bytes")), nanoseconds(i.at("load_ns")), nanoseconds(i.at("first_ns")),
			perSecond(i.at("prompt_per_s")), perSecond(i.at("generate_per_s")), size(i.at("moved_bytes")),
			size(i.at("own_bytes")), size(i.at("file_bytes")))
	}
	b.section("Evaluations", nil, tableBlock(infer), tableBlock(effect))
	b.cache(d.at("reserve"))
	skipped := &table{Caption: "Suites that could not run", Columns: columns("suite", ">reason")}
	for _, s := range d.at("skipped_suites").items {
		skipped.add(texts(s.at("step")), texts(s.at("reason")))
	}
	b.section("Skipped", nil, tableBlock(skipped))
}
