package doc

import "strings"

// head fills the head and the foot of a page.
func (d *Doc) head() {
	r := d.Root
	d.Verdict = r.Text("verdict")
	switch d.Tone = r.At("verdict").Raw; d.Tone {
	case "pass":
		d.Word = "Passed"
	case "fail":
		d.Word = "Failed"
	case "unavailable":
		d.Word = "Not available"
	default:
		d.Word, d.Tone = d.Verdict.Number, ""
	}
	add := func(parts ...any) { d.Summary = append(d.Summary, Line(parts...)...) }
	if checks := r.At("checks"); len(checks.Items()) > 0 {
		add(checks.Count("status", "pass"), " of ", checks.Count("", ""), " checks passed")
		if n := checks.Count("status", "fail"); n.Raw != "0" {
			add(", ", n, " failed")
		}
		if n := checks.Count("status", "skip"); n.Raw != "0" {
			add(", ", n, " cannot run here")
		}
	}
	if left := r.At("details", "left_out"); left.Here() {
		add(", ", left.Plain(), " left out by --only ", r.At("details").Code("only"))
	}
	for _, c := range r.Items("claims") {
		add("; ", c.Text("name"), ": ", c.Text("status"))
	}
	sign := "; injected fault: "
	for _, fault := range r.Items("injected") {
		add(sign, fault.Code())
		sign = ", "
	}
	if r.At("engine").Object() {
		d.About = d.Engine()
	}
	d.Foot = Line("anekit ", r.Text("host", "version"), ", ", r.Text("time"), ". ")
	if args := r.Items("args"); len(args) > 0 {
		d.Foot = append(d.Foot, Words("Command line: "), Words("ane-roundtrip"))
		for _, a := range args {
			d.Foot = append(d.Foot, Words(" "), a.Code())
		}
	}
}

// Engine is the name of the engine, its chip and its system.
func (d *Doc) Engine() []Cell {
	e := d.Root.At("engine")
	return Line(e.Text("name"), ": ", e.Text("chip"), ", ", e.Text("os_build"))
}

// unproved takes a verdict that has passed from the head of a page whose command has proved nothing.
func (d *Doc) unproved() {
	if d.Unproved != "" && d.Root.At("verdict").Is("pass") {
		d.Verdict, d.Word, d.Tone = Words("%s", d.Unproved).As("word"), d.Unproved, ""
	}
}

// failure shows the error of the command, the faults of a program and the failed checks.
func (d *Doc) failure() {
	if e := d.Root.At("error"); e.Object() {
		facts := Facts{{"error", Line(e.Text("message"))}, {"what to do", Line(e.Text("hint"))},
			{"exit status", Line(e.Plain("exit_code"))}}
		faults := NewTable("Faults of the program", "file", "#line", "#column", ">fault", ">what to do")
		for _, f := range e.Items("faults") {
			faults.Row(f.Text("file"), f.Plain("line"), f.Plain("column"), f.Text("message"), f.Text("hint"))
		}
		d.Page("What went wrong", nil, facts, faults)
	}
	failed := Checks("Checks that failed")
	for _, c := range d.Root.Items("checks") {
		if c.At("status").Is("fail") {
			failed.Row(checkRow(c)...)
		}
	}
	d.Page("Failed checks", nil, failed)
}

// Checks has a row for each check.
func Checks(caption string, checks ...*Value) *Table {
	t := NewTable(caption, "check", "status", "#value", "~#allowed", ">detail")
	for _, c := range checks {
		t.Row(checkRow(c)...)
	}
	return t
}

// checkRow is the row of a check.
func checkRow(c *Value) []Cell {
	unit := c.At("unit")
	value := func(v *Value) Cell {
		switch unit.Raw {
		case "ns":
			return v.Time()
		case "x":
			return v.Ratio()
		}
		return v.Plain()
	}
	v := value(c.At("value"))
	switch {
	case v.Number == dash && unit.Raw == "":
		v = Nothing()
	case v.Unit == "":
		v.Unit = unit.Text().Number
		if v.Number == "1" {
			v.Unit = strings.TrimSuffix(v.Unit, "s")
		}
	}
	limit := Nothing()
	for _, one := range []struct{ key, sign string }{{"max", "≤ "}, {"min", "≥ "}} {
		if m := c.At("allowed", one.key); m.Here() && limit.Number == "" {
			limit = value(m)
			limit.Number = one.sign + limit.Number
		}
	}
	return []Cell{c.Text("name"), c.Status("status"), v, limit, c.Text("detail")}
}

// tail shows every check, what the engines say of themselves, and the machine.
func (d *Doc) tail() {
	own := map[string]*Table{"broker": Checks("Checks of the broker"), "gpu": Checks("Checks of the GPU")}
	others := Checks("Checks")
	for _, c := range d.Root.Items("checks") {
		t := others
		if group, _, found := strings.Cut(c.At("name").Raw, "/"); found && own[group] != nil {
			t = own[group]
		}
		t.Row(checkRow(c)...)
	}
	d.Page("Self-check", nil, others, own["broker"], own["gpu"])
	var receipts []Block
	for _, e := range d.Receipts() {
		receipts = append(receipts, receipt(e))
	}
	heading := "Receipt"
	if len(receipts) > 1 {
		heading = "Receipts"
	}
	d.Page(heading, nil, receipts...)
	d.machine(d.Root.At("host"))
}

// Receipts are what the engines of the command say of themselves.
func (d *Doc) Receipts() []*Value {
	if e := d.Root.At("engine"); len(d.Root.Items("engines")) == 0 && e.Object() {
		return []*Value{e}
	}
	return d.Root.Items("engines")
}

// receipt shows what an engine says of itself.
func receipt(e *Value) Facts {
	f := Facts{{"engine", Line(e.Text("name"))}, {"chip", Line(e.Text("chip"))}, {"system", Line(e.Text("os_build"))},
		{"numerics", Line(e.Text("numerics"))}, {"sharing", Line(e.Text("sharing"))},
		{"because", Line(e.Text("fallback"))}}
	switch cached := e.At("cached"); {
	case cached.Yes():
		f.Add("programs", "taken from the cache")
	case cached.Here():
		f.Add("programs", "compiled in this run")
	}
	for _, n := range e.Items("notes") {
		f.Add("note", n.Text())
	}
	return f
}

func (d *Doc) machine(h *Value) {
	if !h.Object() {
		return
	}
	pinned := ", not pinned"
	switch {
	case h.At("pinned").Yes():
		pinned = ", pinned"
	case h.At("pinning").Is("unknown"):
		pinned = ", not known to be pinned"
	}
	d.Page("Machine", nil, Facts{
		{"system", Line(h.Text("os"), "/", h.Text("arch"), ", ", h.Plain("cpus"), " processors, pages of ",
			h.Size("page_bytes"))},
		{"memory", Line(h.Text("memory"), pinned)}, {"fp16", Line(h.Text("fp16"))}, {"built with", Line(h.Text("go"))},
	})
}
