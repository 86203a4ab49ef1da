package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// visibleName is a name for a plot.
func visibleName(v *value) string { return page.Visible(v.raw) }

// largest returns the n items of the largest size, in their order.
func largest(all []*value, n int, size func(*value) float64) []*value {
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b *value) int {
		return cmp.Compare(size(b), size(a))
	})
	kept := map[*value]bool{}
	for _, v := range ordered[:min(n, len(ordered))] {
		kept[v] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(v *value) bool { return !kept[v] })
}

// estimate is a number of cost with its evidence.
func estimate(v *value) []cell {
	return sentence(nanoseconds(v.at("value")), " (", texts(v.at("evidence")), ")")
}

// cost shows what a program costs on a chip.
func (b *builder) cost(d *value) {
	if d.kind != object {
		return
	}
	b.doc.Summary = sentence(code(d.at("function")), " of ", code(d.at("file")), " on ", texts(d.at("chip")), " (",
		texts(d.at("target")), "), bound by ", texts(d.at("bound")))
	b.doc.Keys = []entry{
		{"a call", []cell{nanoseconds(d.at("call_ns", "value"))}},
		{"give or take", []cell{percent(d.at("error", "value"))}},
		{"on the engine", []cell{nanoseconds(d.at("task_ns", "value"))}},
		{"tasks", []cell{plain(d.at("tasks"))}},
	}
	if clock := d.at("clock_mhz"); clock.at("value").float() > 0 {
		n := plain(clock.at("value"))
		n.Unit = "MHz"
		b.doc.Keys = append(b.doc.Keys, entry{"clock", []cell{n}})
	}
	facts := []entry{
		{"call", estimate(d.at("call_ns"))}, {"engine", estimate(d.at("task_ns"))},
		{"Core ML", sentence(plain(d.at("coreml", "operators_on_engine")), " operators on the engine, ",
			plain(d.at("coreml", "operators_on_cpu")), " on the CPU, in ", plain(d.at("coreml", "segments")),
			" segments; as placed ", nanoseconds(d.at("coreml", "chosen_ns", "value")), ", all on the CPU ",
			nanoseconds(d.at("coreml", "cpu_ns", "value")), " (", texts(d.at("coreml", "cpu_ns", "evidence")), ")")},
	}
	if d.at("why").raw != "" {
		facts = append(facts, entry{"two engines", []cell{texts(d.at("why"))}})
	}
	if d.at("cpu_quicker").yes() {
		facts = append(facts, entry{"placement", []cell{words("The CPU would be quicker than a call of the engine.")}})
	}
	for _, n := range d.at("notes").items {
		facts = append(facts, entry{"note", []cell{texts(n)}})
	}
	b.section("Estimate", nil, block{Entries: facts})
	b.operatorTimes(d)
	var memory []entry
	for _, m := range []struct{ key, name string }{{"surface_bytes", "surfaces of inputs and outputs"},
		{"largest_surface_bytes", "the largest of them"}, {"weight_bytes", "weights"},
		{"largest_intermediate_bytes", "the largest intermediate result"}} {
		memory = append(memory, entry{m.name, []cell{size(d.at(m.key))}})
	}
	limits := &table{Caption: "Budgets of the chip", Columns: columns("budget", "#used", "#limit", "verdict",
		"evidence",
		">source")}
	for _, l := range d.at("budgets").items {
		over := nothing()
		if l.at("over").yes() {
			over = cell{Number: "over", Class: "status fail"}
		}
		limits.add(texts(l.at("name")), exactly(l.at("used"), ""), exactly(l.at("limit"), ""), over,
			texts(l.at("evidence")), texts(l.at("source")))
	}
	b.section("Memory and budgets", nil, block{Entries: memory}, tableBlock(limits))
}

// operatorTimes shows the time of each operator and of the rest of a call.
func (b *builder) operatorTimes(d *value) {
	t := &table{Caption: "Operators and the rest of a call", Columns: columns("operator", "name", "#line", "#time",
		"evidence", "bound by", "#MACs", "#weights", "#tasks", ">note")}
	sources := &table{Caption: "Where the times come from", Columns: columns("part", "evidence", ">source")}
	all := slices.Concat(d.at("operators").items, d.at("parts").items)
	for _, r := range all {
		name, kind := code(r.at("name")), code(r.at("operator"))
		if !r.at("operator").here() {
			kind, name = texts(r.at("name")), nothing()
		}
		line := plain(r.at("line"))
		if line.Raw == "0" {
			line = nothing()
		}
		t.add(kind, name, line, nanoseconds(r.at("time_ns", "value")), texts(r.at("time_ns", "evidence")),
			texts(r.at("bound")), exactly(r.at("macs"), ""), size(r.at("weight_bytes")), plain(r.at("tasks")),
			texts(r.at("note")))
		sources.add(texts(r.at("name")), texts(r.at("time_ns", "evidence")), texts(r.at("time_ns", "source")))
	}
	shown := largest(all, 30, func(o *value) float64 { return o.at("time_ns", "value").float() })
	c := &chart{rows: true, x: axis{form: durationOf(1)}}
	var labels, bounds []string
	for i, r := range shown {
		labels = append(labels, visibleName(r.at("name")))
		bound := r.at("bound").raw
		if !slices.Contains(bounds, bound) {
			bounds = append(bounds, bound)
		}
		c.rectangle(0, -float64(i)-.36, r.at("time_ns", "value").float(), -float64(i)+.36,
			series(slices.Index(bounds, bound)))
	}
	c.y = names(labels)
	c.height = 34 + 15*float64(len(labels))
	p := plotted{Title: words("Time of a call")}
	for i, name := range bounds {
		p.Legend = append(p.Legend, mark{fmt.Sprintf("box c%d", i%6+1), words("bound by %s", page.Visible(name))})
	}
	if len(shown) < len(all) {
		p.Caption = sentence("the longest parts; the table has all")
	}
	plots := b.plot(nil, c, p, fmt.Sprintf("A bar for each of %d parts of a call.", len(labels)))
	b.section("Operators", nil, block{Plots: plots}, tableBlock(t),
		block{Folded: &folded{"Sources", sources.without()}})
}
