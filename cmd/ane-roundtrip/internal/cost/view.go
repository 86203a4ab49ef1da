package cost

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

// View lays out an estimate: the totals, the operators, then what is remarkable of them.
func View(d *doc.Doc, v *doc.Value) {
	d.Unproved = "Estimate"
	call, task := v.At("call_ns"), v.At("task_ns")
	subject := doc.Line(v.Code("function"), " of ", v.Code("file"), " on ", v.Text("chip"), " (", v.Text("target"), ")")
	tasks := doc.Counted(v.Plain("tasks"), "task", "tasks")
	d.Summary = doc.Line(subject, ", bound by ", v.Text("bound"))
	d.Key("a call", evident(call))
	d.Key("give or take", v.Percent("error", "value"))
	d.Key("on the engine", evident(task), " in ", tasks)
	d.Terminal(doc.Text(subject, ": ", micro(call, " us"), " a call (", call.Text("evidence"), ", +-",
		v.Percent("error", "value"), "), ", micro(task, " us"), " of it on the engine in ", tasks, "; bound by ",
		v.Text("bound")))
	all, limits := totals(v)
	d.Section("Estimate", nil, all)
	operators(d, v)
	d.Page("Budgets", nil, limits)
}

// evident is a time with its evidence.
func evident(v *doc.Value) []doc.Cell {
	return doc.Line(v.Time("value"), " (", v.Text("evidence"), ")")
}

// micro is an estimated time, in microseconds on a terminal, with their unit or without.
func micro(v *doc.Value, unit string) doc.Cell {
	us := v.At("value").Float() / 1e3
	if us < 100 {
		return v.Time("value").Brief("%.3g%s", us, unit)
	}
	return v.Time("value").Brief("%.0f%s", us, unit)
}

// totals are the figures of the whole program, and the limits of the chip.
func totals(v *doc.Value) (all doc.Remarks, limits *doc.Table) {
	limits = doc.NewTable("Budgets of the chip", "budget", "#used", "#limit", "verdict", "evidence", ">source")
	if clock := v.At("clock_mhz"); clock.At("value").Float() > 0 {
		all.Add("clock", clock.Plain("value").In("MHz").Brief("%.0f MHz", clock.At("value").Float()), " (",
			clock.Text("evidence"), ")")
	}
	all.Add("two engines", v.Text("why"))
	all.Add("memory", v.Bytes("surface_bytes"), " of surfaces, the largest ", v.Bytes("largest_surface_bytes"), "; ",
		v.Bytes("weight_bytes"), " of weights, ", v.Bytes("largest_intermediate_bytes"), " of the largest intermediate")
	for _, b := range v.Items("budgets") {
		verdict := doc.Nothing()
		if b.At("over").Yes() {
			verdict = doc.Words("over").As("status fail")
			all.Add("over budget", b.Plain("used"), " ", b.Text("name"), ", ", b.Plain("limit"), " (", b.Text("evidence"),
				")")
		}
		limits.Row(b.Text("name"), b.Plain("used"), b.Plain("limit"), verdict, b.Text("evidence"), b.Text("source"))
	}
	coreml := v.At("coreml")
	all.Add("Core ML", coreml.Plain("operators_on_engine"), " of ",
		doc.Counted(v.At("operators").Count("", ""), "operator", "operators"), " on the engine in ",
		doc.Counted(coreml.Plain("segments"), "segment", "segments"), "; ", micro(coreml.At("cpu_ns"), " us"),
		" with all on the CPU, ", micro(coreml.At("chosen_ns"), " us"), " as placed (", coreml.Text("cpu_ns", "evidence"), ")")
	if v.At("cpu_quicker").Yes() {
		all.Add("the CPU would be quicker than a call of the engine")
	}
	for _, n := range v.Items("notes") {
		all.Add("note", n.Text())
	}
	return all, limits
}

// operators shows the time of each operator and of the rest of a call.
func operators(d *doc.Doc, v *doc.Value) {
	t := doc.NewTable("Operators", "operator", "name", "~#line", "#time|us", "evidence", "bound by|bound", "#MACs|Mmac",
		"#weights", "#tasks", "~>note", "~>source").Shorten(0, 1)
	parts := doc.NewTable("The rest of a call", "part|part of the call", "#time|us", "evidence", "bound by|bound", "~>source")
	for _, r := range v.Items("operators") {
		macs := r.Plain("macs").Brief("%.4g", r.At("macs").Float()/1e6)
		t.Row(r.Code("operator"), r.Code("name"), r.Plain("line").Unless(0), micro(r.At("time_ns"), ""),
			r.Text("time_ns", "evidence"), r.Text("bound"), macs.Unless(0), r.Size("weight_bytes").Exact().Unless(0),
			r.Plain("tasks").Unless(0), r.Text("note"), r.Text("time_ns", "source"))
	}
	for _, r := range v.Items("parts") {
		parts.Row(r.Text("name"), micro(r.At("time_ns"), ""), r.Text("time_ns", "evidence"), r.Text("bound"),
			r.Text("time_ns", "source"))
	}
	all := slices.Concat(v.Items("operators"), v.Items("parts"))
	shown := doc.Largest(all, 30, func(o *doc.Value) float64 { return o.At("time_ns", "value").Float() })
	var labels, bounds []string
	var times []float64
	var colors []int
	for _, r := range shown {
		bound := r.Text("bound").Number
		if !slices.Contains(bounds, bound) {
			bounds = append(bounds, bound)
		}
		labels, times = append(labels, r.Text("name").Number), append(times, r.At("time_ns", "value").Float())
		colors = append(colors, slices.Index(bounds, bound))
	}
	p := doc.Plot{Title: doc.Words("Time of a call")}
	for i, name := range bounds {
		p.Legend = append(p.Legend, doc.SeriesMark("box ", i, doc.Words("bound by %s", name)))
	}
	if len(shown) < len(all) {
		p.Caption = doc.Line("the longest parts; the table has all")
	}
	plots := d.Figures().Add(doc.Lengths(doc.Axis{Form: doc.DurationOf(1)}, labels, times, colors...), p,
		fmt.Sprintf("A bar for each of %d parts of a call.", len(labels)))
	d.Section("Operators", nil, plots, t, parts)
	d.Terminal(remarks(v.Items("operators")))
}

// remarks are what is remarkable of operators: each once, with the names of its operators.
func remarks(operators []*doc.Value) (all doc.Remarks) {
	for _, r := range operators {
		note, name := r.Text("note"), r.Text("name")
		i := slices.IndexFunc(all, func(f doc.Fact) bool { return f.Name == note.Number })
		switch {
		case note.Number == "":
		case i < 0:
			all.Add(note.Number, name)
		default:
			all[i].What = doc.Line(all[i].What, ", ", name)
		}
	}
	return all
}
