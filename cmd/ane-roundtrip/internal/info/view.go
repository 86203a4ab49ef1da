package info

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// machineView is View below the machine and an engine of the command line. noMemory is the reason if no Block opens.
func machineView(selected string, noMemory error) doc.View {
	return func(d *doc.Doc, v *doc.Value) {
		h, e := d.Root.At("host"), d.Root.At("engine")
		memory := doc.Line(h.Text("memory"), ", ", trial.Words(h.At("pinning").Raw))
		if noMemory != nil {
			memory = doc.Line(doc.Words("none: %s", cli.ErrorText(noMemory)))
		}
		engine := doc.Line("not available")
		if e.Object() {
			engine = doc.Line(e.Text("name"), ": ", e.Text("chip"), ", ", e.Text("os_build"))
		}
		d.Terminal(doc.Facts{
			doc.Named("anekit", h.Text("version"), ", ", h.Text("go")),
			doc.Named("host", h.Text("os"), "/", h.Text("arch"), ", ", h.Plain("cpus"), " CPUs, ", h.Plain("page_bytes"),
				"-byte pages"),
			doc.Named("memory", memory),
			doc.Named("fp16", h.Text("fp16")),
			doc.Named(selected, engine)})
		View(d, v)
	}
}

// View lays out the engines of a machine, the self-check of their frameworks, and the dump.
func View(d *doc.Doc, v *doc.Value) {
	engines := doc.NewTable("Engines", "engine", "available", ">what", ">why not")
	for _, e := range v.Items("engines") {
		available := answer(e.At("available")).As("status skip")
		if e.At("available").Yes() {
			available.Class = "status pass"
		}
		engines.Row(e.Text("name"), available, e.Text("what"), e.Text("reason"))
	}
	d.Section("Engines", nil, engines)
	for _, f := range v.Items("frameworks") {
		d.Section("Framework of "+f.Text("engine").Number, nil, facts(f), methods(f))
	}
	if dump := d.Root.At("dump"); dump.Object() {
		showDump(d, dump)
	}
	d.Page("Operators", doc.Line("The software engine runs ", v.At("operators").Count("", ""), " operators."),
		doc.Text(v.Joined(", ", "operators")))
}

// answer is yes or no, or unknown.
func answer(v *doc.Value) doc.Cell {
	c := v.Text()
	switch c.Number {
	case "true":
		c.Number = "yes"
	case "false":
		c.Number = "no"
	default:
		return doc.Words("unknown")
	}
	return c
}

// reported is a value of a framework, which is empty or negative if the framework does not report it.
func reported(c doc.Cell) doc.Cell {
	if c.Number == "" || strings.HasPrefix(c.Raw, "-") {
		return doc.Words("not reported")
	}
	return c
}

// facts are what the framework tells of the machine.
func facts(f *doc.Value) doc.Facts {
	all := doc.Facts{
		doc.Named("framework of "+f.Text("engine").Number, f.Text("framework")),
		doc.Named("bridge", f.Text("library")),
		doc.Named("error", f.Text("error"))}
	if f.At("library").Raw == "" {
		all[1] = doc.Named("bridge", "part of this binary")
	}
	if m := f.At("device"); m.Object() {
		all.Add("hasANE", answer(m.At("has_ane")))
		all.Add("architecture", reported(m.Text("architecture")))
		all.Add("engines, cores", reported(m.Plain("engines")), ", ", reported(m.Plain("cores")))
		all.Add("board", reported(m.Plain("board")))
		all.Add("system", reported(m.Text("product")), ", build ", reported(m.Text("build")))
		all.Add("virtual machine", answer(m.At("virtual_machine")))
	}
	for _, w := range f.Items("warnings") {
		all.Add("warning", w.Text())
	}
	usage, registry := f.At("usage"), f.Items("registry")
	all.Add("compiles", usage.Plain("compiles"), " in this process")
	all.Add("loaded", usage.Plain("loaded"), " of ", usage.Plain("program_limit"), " programs")
	for _, p := range registry {
		all.Add(p.Text("name").Number, p.Text("value"))
	}
	if len(registry) == 0 {
		all.Add("DeviceProperties", "not readable: ", f.Text("registry_error"))
	}
	return all
}

// methods is the table of the framework's methods that anekit calls.
func methods(f *doc.Value) *doc.Table {
	t := doc.NewTable("Methods that anekit calls", "~class", ">method", "status", "expected", "found", "needed for")
	for _, c := range f.Items("checks") {
		class, method, status := c.Text("class"), c.Text("selector"), c.Text("status")
		sign := "-"
		if c.At("class_method").Yes() {
			sign = "+"
		}
		if !c.At("required").Yes() && status.Number != "ok" {
			status = status.Brief("%s (optional)", status.Number)
		}
		t.Row(class, method.Brief("%s[%s %s]", sign, class.Number, method.Number), status, c.Code("expected"),
			c.Code("found"), c.Text("needed_for"))
	}
	return t
}

// showDump shows the dump of a machine: its round trip, and the rest as it is nested.
func showDump(d *doc.Doc, dump *doc.Value) {
	data := dump.At("data")
	plots := d.Figures()
	plots.Small = true
	models := data.Items("round_trip")
	for _, m := range models {
		trial.AddTimes(plots, m.Text("name"), m.At("latency"))
	}
	d.Page("Round trip", nil, check.ModelTable("Round trip of each model", models).Filled(), plots)
	var facts doc.Facts
	for _, key := range []string{"source", "chip", "os", "program", "what", "trust"} {
		facts.Add(key, dump.Text(key))
	}
	others := doc.NewTable("Other values", "name", ">value")
	for _, key := range data.Keys() {
		if !slices.Contains([]string{"round_trip", "checks", "self_check"}, key) { // which are shown by themselves
			flatten(others, data.At(key), key)
		}
	}
	d.Page("Dump", nil, facts, others)
}

// maxFlat bounds the rows of a nested value, whose text a framework chooses.
const maxFlat = 400

// flatten adds a row for each number and text in v.
func flatten(t *doc.Table, v *doc.Value, name string) {
	for _, key := range v.Keys() {
		flatten(t, v.At(key), name+" · "+key)
	}
	for i, item := range v.Items() {
		flatten(t, item, name+" · "+strconv.Itoa(i+1))
	}
	if c := v.Text(); c.Number != "" && len(t.Rows) < maxFlat {
		t.Row(doc.Words("%s", name), c)
	}
}
