package report

import (
	"fmt"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// info shows the engines of a machine, the self-check of their frameworks, and the dump.
func (b *builder) info(d *value) {
	engines := &table{Caption: "Engines", Columns: columns("engine", "available", ">what", ">why not")}
	for _, e := range d.at("engines").items {
		yes := cell{Number: "no", Class: "status skip", Path: e.at("available").path}
		if e.at("available").yes() {
			yes = cell{Number: "yes", Class: "status pass", Path: e.at("available").path}
		}
		engines.add(texts(e.at("name")), yes, texts(e.at("what")), texts(e.at("reason")))
	}
	b.section("Engines", nil, tableBlock(engines))
	for _, f := range d.at("frameworks").items {
		facts := []entry{{"framework", []cell{texts(f.at("framework"))}}}
		if f.at("error").raw != "" {
			facts = append(facts, entry{"error", []cell{texts(f.at("error"))}})
		}
		t := &table{Caption: "Methods that anekit calls", Columns: columns("class", ">method", "status", "expected",
			"found", "needed for")}
		for _, c := range f.at("checks").items {
			t.add(texts(c.at("class")), texts(c.at("selector")), texts(c.at("status")), code(c.at("expected")),
				code(c.at("found")), texts(c.at("needed_for")))
		}
		b.section("Framework of "+page.Visible(f.at("engine").raw), nil, block{Entries: facts}, tableBlock(t))
	}
	b.dump(b.root.at("dump"))
	if ops := d.at("operators"); len(ops.items) > 0 {
		b.section("Operators", sentence("The software engine runs ", count(ops, "", ""), " operators."),
			block{Text: []cell{joined(ops, ", ")}})
	}
}

// dump shows the dump of a machine: its round trip as the models of check, the rest as it is nested.
func (b *builder) dump(d *value) {
	if d.kind != object {
		return
	}
	data := d.at("data")
	var facts []entry
	for _, key := range d.keys {
		if key != "data" {
			facts = append(facts, entry{page.Visible(key), []cell{texts(d.at(key))}})
		}
	}
	others := &table{Caption: "Other values", Columns: columns("name", ">value")}
	for _, key := range data.keys {
		v := data.at(key)
		switch key {
		case "round_trip":
			t := modelTable("Round trip of each model")
			for _, m := range v.items {
				t.add(modelRow(m)...)
			}
			b.section("Round trip", nil, tableBlock(t), block{Small: true,
				Plots: b.latencies([]engineModels{{words("round trip"), v}})})
		case "checks", "self_check": // the report and its frameworks have them
		default:
			flatten(others, v, page.Visible(key))
		}
	}
	b.section("Dump", nil, block{Entries: facts}, tableBlock(others))
}

// maxFlat bounds the rows of a nested value, whose text a framework chooses.
const maxFlat = 400

// flatten adds a row for each number and text in v.
func flatten(t *table, v *value, name string) {
	if len(t.Rows) >= maxFlat {
		return
	}
	join := func(part string) string {
		if name == "" {
			return part
		}
		return name + " · " + part
	}
	switch v.kind {
	case object:
		for _, key := range v.keys {
			flatten(t, v.at(key), join(page.Visible(key)))
		}
	case array:
		for i, item := range v.items {
			flatten(t, item, join(fmt.Sprint(i+1)))
		}
	case missing:
	default:
		c := texts(v)
		if v.kind == text && v.raw == "" || v.kind == null {
			return
		}
		t.add(words("%s", name), c)
	}
}
