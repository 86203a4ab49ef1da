package info

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// View lays out this machine with the engine that the command line selects, all engines, the self-check of their
// frameworks, and the dump. noMemory is the reason if no Block opens.
func View(selected string, noMemory error) doc.View {
	return func(d *doc.Doc, v *doc.Value) {
		h, e := d.Root.At("host"), d.Root.At("engine")
		memory := doc.Line(h.Text("memory"), ", ", trial.Words(h.At("pinning").Raw))
		if noMemory != nil {
			memory = doc.Line(doc.Words("none: %s", cli.ErrorText(noMemory)))
		}
		opened := doc.Line("not available")
		if e.Object() {
			opened = doc.Line(e.Text("name"), ": ", e.Text("chip"), ", ", e.Text("os_build"))
		}
		d.Terminal(doc.Facts{
			doc.Named("anekit", h.Text("version"), ", ", h.Text("go")),
			doc.Named("host", h.Text("os"), "/", h.Text("arch"), ", ", h.Plain("cpus"), " CPUs, ", h.Plain("page_bytes"),
				"-byte pages"),
			doc.Named("memory", memory),
			doc.Named("fp16", h.Text("fp16")),
			doc.Named(selected, opened)})
		engines := doc.NewTable("Engines", "engine", "available", ">what", ">why not")
		for _, e := range v.Items("engines") {
			class := map[bool]string{true: "status pass", false: "status skip"}[e.At("available").Yes()]
			engines.Row(e.Text("name"), answer(e.At("available")).As(class), e.Text("what"), e.Text("reason"))
		}
		d.Section("Engines", nil, engines)
		for _, f := range v.Items("frameworks") {
			d.Section("Framework of "+f.Text("engine").Number, nil, facts(f), methods(f))
		}
		showDump(d, d.Root.At("dump"))
		d.Page("Operators", doc.Line("The software engine runs ", v.At("operators").Count("", ""), " operators."),
			doc.Text(v.Joined(", ", "operators")))
	}
}

// answer is yes or no, or unknown.
func answer(v *doc.Value) doc.Cell {
	c := v.Text()
	c.Number = cmp.Or(map[string]string{"true": "yes", "false": "no"}[c.Number], "unknown")
	return c
}

// or is the cell, or words for an empty text or a negative number.
func or(words string, c doc.Cell) doc.Cell {
	if c.Number == "" || strings.HasPrefix(c.Raw, "-") {
		return doc.Words("%s", words)
	}
	return c
}

// facts are what the framework tells of the machine.
func facts(f *doc.Value) doc.Facts {
	const unreported = "not reported"
	all := doc.Facts{
		doc.Named("framework of "+f.Text("engine").Number, f.Text("framework")),
		doc.Named("bridge", or("part of this binary", f.Text("library"))),
		doc.Named("error", f.Text("error"))}
	if m := f.At("device"); m.Object() {
		all.Add("hasANE", answer(m.At("has_ane")))
		all.Add("architecture", or(unreported, m.Text("architecture")))
		all.Add("engines, cores", or(unreported, m.Plain("engines")), ", ", or(unreported, m.Plain("cores")))
		all.Add("board", or(unreported, m.Plain("board")))
		all.Add("system", or(unreported, m.Text("product")), ", build ", or(unreported, m.Text("build")))
		all.Add("virtual machine", answer(m.At("virtual_machine")))
	}
	for _, w := range f.Items("warnings") {
		all.Add("warning", w.Text())
	}
	all.Add("compiles", f.Plain("usage", "compiles"), " in this process")
	all.Add("loaded", f.Plain("usage", "loaded"), " of ", f.Plain("usage", "program_limit"), " programs")
	for _, p := range f.Items("registry") {
		all.Add(p.Text("name").Number, p.Text("value"))
	}
	if len(f.Items("registry")) == 0 {
		all.Add("DeviceProperties", "not readable: ", f.Text("registry_error"))
	}
	return all
}

// methods is the table of the framework's methods that anekit calls.
func methods(f *doc.Value) *doc.Table {
	t := doc.NewTable("Methods that anekit calls", "~class", ">method", "status", "expected", "found", "needed for")
	for _, c := range f.Items("checks") {
		class, method, status := c.Text("class"), c.Text("selector"), c.Text("status")
		sign := map[bool]string{true: "+", false: "-"}[c.At("class_method").Yes()]
		if !c.At("required").Yes() && status.Number != "ok" {
			status = status.Brief("%s (optional)", status.Number)
		}
		t.Row(class, method.Brief("%s[%s %s]", sign, class.Number, method.Number), status, c.Code("expected"),
			c.Code("found"), c.Text("needed_for"))
	}
	return t
}

// showDump shows the round trip of a dump, and its other values as they are nested.
func showDump(d *doc.Doc, dump *doc.Value) {
	models := dump.Items("data", "round_trip")
	plots := d.Figures()
	plots.Small = true
	for _, m := range models {
		trial.AddTimes(plots, m.Text("name"), m.At("latency"))
	}
	d.Page("Round trip", nil, check.ModelTable("Round trip of each model", models).Filled(), plots)
	values := doc.NewTable("Values", "name", ">value")
	flatten(values, dump, "")
	d.Page("Dump", nil, values)
}

// maxFlat bounds the rows of a nested value, whose text a framework chooses.
const maxFlat = 400

// flatten adds a row for each number and text in v that the page does not show elsewhere.
func flatten(t *doc.Table, v *doc.Value, name string) {
	for _, key := range v.Keys() {
		if !slices.Contains([]string{"round_trip", "checks", "self_check"}, key) {
			flatten(t, v.At(key), strings.TrimPrefix(name+" · "+key, " · "))
		}
	}
	for i, item := range v.Items() {
		flatten(t, item, name+" · "+strconv.Itoa(i+1))
	}
	c := v.Text()
	if strings.HasSuffix(name, "program_limit") { // 0 where it is not known
		c = c.Unless(0)
	}
	if c.Number != "" && len(t.Rows) < maxFlat {
		t.Row(doc.Words("%s", name), c)
	}
}
