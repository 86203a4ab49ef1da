package report

import "fmt"

// weights shows ways to load weights, and what reserved memory of a cache costs.
func (b *builder) weights(d *value) {
	items, published := d.at("load").items, d.at("published", "variants").items
	fields := []field{{"size", "bytes", size}, {"page cache", "cold", func(v *value) cell {
		if v.yes() {
			return words("cold")
		}
		return words("warm")
	}}}
	of := map[bool][]*value{}
	for _, l := range items {
		of[l.at("cold").yes()] = append(of[l.at("cold").yes()], l)
	}
	var plots []plotted
	for _, state := range []string{"warm", "cold"} {
		c := &chart{x: axis{form: sizeOf, log: true, step: 2}, y: axis{form: durationOf(1), log: true}}
		p := plotted{Title: words("Time to load, %s", state), Caption: sentence("less is better")}
		for i, way := range []string{"map", "touch", "read", "parallel", "direct", "ring"} { // as the tables
			if state == "warm" {
				fields = append(fields, field{"#" + way, "times_ns/" + way, nanoseconds})
			}
			c.through(of[state == "cold"], "bytes", "times_ns/"+way, curve{color: series(i), dots: true})
			p.Legend = append(p.Legend, mark{fmt.Sprintf("c%d", i+1), words("%s", way)})
		}
		plots = b.plot(plots, c, p, "Time over the size of the file, a line for each way to load it.")
	}
	model := field{"model", "model", texts}
	b.section("Time to load", nil, block{Plots: plots},
		listed("Time to load a file", append(of[false], of[true]...), fields...),
		listed("Published: OptMLX, tables 1 and 2, MLX on an M4 Max", published, model, field{"#size", "gb", gigabytes},
			field{"#standard", "load_ns", item(0, nanoseconds)}, field{"#map", "load_ns", item(1, nanoseconds)},
			field{"#speedup", "speedup", ratio}))
	b.section("Evaluations", nil,
		listed("Evaluations with the weights as inputs", d.at("infer").items, field{"weights", "way", texts},
			field{"#size", "bytes", size}, field{"#load", "load_ns", nanoseconds}, field{"#first", "first_ns", nanoseconds},
			field{"#prompt", "prompt_per_s", perSecond}, field{"#generate", "generate_per_s", perSecond},
			field{"#moved", "moved_bytes", size}, field{"#own memory", "own_bytes", size},
			field{"#of the file", "file_bytes", size}),
		listed("Published: OptMLX, table 3, MLX on an M4 Max", published, model,
			field{"#load", "start_ns", item(0, nanoseconds)}, field{"#with map", "start_ns", item(1, nanoseconds)},
			field{"#prompt", "prompt_per_s", item(0, perSecond)}, field{"#with map", "prompt_per_s", item(1, perSecond)},
			field{"#generate", "generate_per_s", item(0, perSecond)},
			field{"#with map", "generate_per_s", item(1, perSecond)},
			field{"#peak", "peak_gb", item(0, gigabytes)}, field{"#with map", "peak_gb", item(1, gigabytes)}))
	b.cache(d.at("reserve"))
	b.section("Skipped", nil, listed("Suites that could not run", d.at("skipped_suites").items,
		field{"suite", "step", texts}, field{">reason", "reason", texts}))
}

// item is the form of an entry of an array.
func item(i int, form func(*value) cell) func(*value) cell {
	return func(v *value) cell { return form(v.item(i)) }
}
