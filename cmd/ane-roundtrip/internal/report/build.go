package report

import (
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// build fills the document.
func (b *builder) build() {
	b.verdict()
	b.failure()
	details := b.root.at("details")
	switch b.root.at("command").raw {
	case "cost":
		b.cost(details)
	}
	b.unproved(details)
	b.checks()
	b.receipts()
	b.host()
}

// unproved takes the verdict from the head of a page whose command has proved nothing: an estimate.
func (b *builder) unproved(details *value) {
	word := ""
	switch command := b.root.at("command").raw; {
	case !b.root.at("verdict").is("pass"):
	case command == "cost":
		word = "Estimate"
	}
	if word != "" {
		b.doc.Verdict, b.doc.Word, b.doc.Tone = cell{Number: word, Class: "word"}, word, ""
	}
}

// words of a verdict as a heading.
func headline(verdict string) string {
	switch verdict {
	case "pass":
		return "Passed"
	case "fail":
		return "Failed"
	case "unavailable":
		return "Not available"
	}
	return page.Visible(verdict)
}

// verdict fills the head of the page.
func (b *builder) verdict() {
	r, d := b.root, &b.doc
	verdict := r.at("verdict")
	d.Command = page.Visible(r.at("command").raw)
	d.Verdict = texts(verdict)
	d.Word = headline(verdict.raw)
	switch verdict.raw {
	case "pass", "fail", "unavailable":
		d.Tone = verdict.raw
	}
	checks := r.at("checks")
	if len(checks.items) > 0 {
		d.Summary = sentence(count(checks, "status", "pass"), " of ", count(checks, "", ""), " checks passed")
		if n := count(checks, "status", "fail"); n.Raw != "0" {
			d.Summary = append(d.Summary, sentence(", ", n, " failed")...)
		}
		if n := count(checks, "status", "skip"); n.Raw != "0" {
			d.Summary = append(d.Summary, sentence(", ", n, " cannot run here")...)
		}
	}
	if left := r.at("details", "left_out"); left.here() {
		d.Summary = append(d.Summary, sentence(", ", plain(left), " left out by --only ",
			code(r.at("details", "only")))...)
	}
	for _, c := range r.at("claims").items {
		d.Summary = append(d.Summary, sentence("; ", texts(c.at("name")), ": ", texts(c.at("status")))...)
	}
	if e := r.at("engine"); e.kind == object {
		d.About = sentence(texts(e.at("name")), ": ", texts(e.at("chip")), ", ", texts(e.at("os_build")))
	}
	for i, fault := range r.at("injected").items {
		if i == 0 {
			d.Summary = append(d.Summary, words("; injected fault: "))
		} else {
			d.Summary = append(d.Summary, words(", "))
		}
		d.Summary = append(d.Summary, code(fault))
	}
	d.Foot = sentence("anekit ", texts(r.at("host", "version")), ", ", texts(r.at("time")), ". ")
	if args := r.at("args"); len(args.items) > 0 {
		d.Foot = append(d.Foot, words("Command line: "), words("ane-roundtrip"))
		for _, a := range args.items {
			d.Foot = append(d.Foot, words(" "), code(a))
		}
	}
}

// failure shows the error of the command, the faults of a program and the failed checks.
func (b *builder) failure() {
	e, checks := b.root.at("error"), b.root.at("checks")
	if e.kind == object {
		facts := []entry{{"error", []cell{texts(e.at("message"))}}}
		if e.at("hint").raw != "" {
			facts = append(facts, entry{"what to do", []cell{texts(e.at("hint"))}})
		}
		facts = append(facts, entry{"exit status", []cell{plain(e.at("exit_code"))}})
		faults := &table{Caption: "Faults of the program", Columns: columns("file", "#line", "#column", ">fault",
			">what to do")}
		for _, f := range e.at("faults").items {
			faults.add(texts(f.at("file")), plain(f.at("line")), plain(f.at("column")), texts(f.at("message")),
				texts(f.at("hint")))
		}
		b.section("What went wrong", nil, block{Entries: facts}, tableBlock(faults))
	}
	failed := checkTable("Checks that failed")
	for _, c := range checks.items {
		if c.at("status").is("fail") {
			failed.Rows = append(failed.Rows, checkRow(c))
		}
	}
	b.section("Failed checks", nil, tableBlock(failed))
}

func checkTable(caption string) *table {
	return &table{Caption: caption, Columns: columns("check", "status", "#value", "#allowed", ">detail")}
}

// checkRow is the row of a check.
func checkRow(c *value) row {
	v := plain(c.at("value"))
	switch unit := c.at("unit").raw; {
	case unit == "ns":
		v = nanoseconds(c.at("value"))
	case unit == "x":
		v = ratio(c.at("value"))
	case v.Number == dash && unit == "":
		v = nothing()
	default:
		v.Unit = page.Visible(unit)
	}
	bound := c.at("allowed")
	limit := nothing()
	for _, one := range []struct{ key, sign string }{{"max", "≤ "}, {"min", "≥ "}} {
		if m := bound.at(one.key); m.here() && limit.Number == "" {
			limit = plain(m)
			switch c.at("unit").raw {
			case "ns":
				limit = nanoseconds(m)
			case "x":
				limit = ratio(m)
			}
			limit.Number = one.sign + limit.Number
		}
	}
	return row{Cells: []cell{texts(c.at("name")), status(c.at("status")), v, limit,
		texts(c.at("detail"))}}
}

// checks shows every check, those of a broker in a table of their own.
func (b *builder) checks() {
	all := b.root.at("checks")
	var tables []*table
	by := map[string]*table{}
	for _, c := range all.items {
		group, _, found := strings.Cut(c.at("name").raw, "/")
		caption := "Checks"
		switch {
		case found && group == "broker":
			caption = "Checks of the broker"
		case found && group == "gpu":
			caption = "Checks of the GPU"
		}
		if by[caption] == nil {
			by[caption] = checkTable(caption)
			tables = append(tables, by[caption])
		}
		by[caption].Rows = append(by[caption].Rows, checkRow(c))
	}
	var blocks []block
	for _, t := range tables {
		blocks = append(blocks, tableBlock(t))
	}
	b.section("Self-check", nil, blocks...)
}

// receipts shows what the engines say of themselves.
func (b *builder) receipts() {
	all := b.root.at("engines").items
	if len(all) == 0 && b.root.at("engine").kind == object {
		all = []*value{b.root.at("engine")}
	}
	var blocks []block
	for _, e := range all {
		facts := []entry{{"engine", []cell{texts(e.at("name"))}}}
		for _, f := range []struct{ key, name string }{{"chip", "chip"}, {"os_build", "system"},
			{"numerics", "numerics"}, {"sharing", "sharing"}, {"fallback", "because"}} {
			if e.at(f.key).raw != "" {
				facts = append(facts, entry{f.name, []cell{texts(e.at(f.key))}})
			}
		}
		if e.at("cached").here() {
			yes := "compiled in this run"
			if e.at("cached").yes() {
				yes = "taken from the cache"
			}
			facts = append(facts, entry{"programs", []cell{words("%s", yes)}})
		}
		for _, n := range e.at("notes").items {
			facts = append(facts, entry{"note", []cell{texts(n)}})
		}
		blocks = append(blocks, block{Entries: facts})
	}
	heading := "Receipt"
	if len(blocks) > 1 {
		heading = "Receipts"
	}
	b.section(heading, nil, blocks...)
}

// host shows the machine.
func (b *builder) host() {
	h := b.root.at("host")
	if h.kind != object {
		return
	}
	pinned := ", not pinned"
	switch {
	case h.at("pinned").yes():
		pinned = ", pinned"
	case h.at("pinning").is("unknown"):
		pinned = ", not known to be pinned"
	}
	b.section("Machine", nil, block{Entries: []entry{
		{"system", sentence(texts(h.at("os")), "/", texts(h.at("arch")), ", ", exactly(h.at("cpus"), ""),
			" processors, pages of ", size(h.at("page_bytes")))},
		{"memory", sentence(texts(h.at("memory")), pinned)},
		{"fp16", []cell{texts(h.at("fp16"))}},
		{"built with", []cell{texts(h.at("go"))}},
	}})
}
