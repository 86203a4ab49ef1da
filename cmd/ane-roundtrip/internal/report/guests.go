package report

// guests shows what guests of WebAssembly measured, in place beside the path with copies.
func (b *builder) guests(all *value) {
	t := &table{Caption: "Guests on the engine's memory", Columns: columns("path", "engine", "#errors", "#elements",
		"#reached through a copy", "#copied in all runs", "#growth", "#p50", "#a call across")}
	copying := &table{Caption: "The same with copies", Columns: columns("path", "engine", "#errors", "#copied in a run",
		"#growth", "#p50")}
	for _, g := range all.items {
		t.add(texts(g.at("path")), texts(g.at("engine")), plain(g.at("errors")), plain(g.at("elements")),
			size(g.at("unshared_bytes")), size(g.at("bytes_copied")), size(g.at("growth_bytes")),
			nanoseconds(g.at("evaluate_p50_ns")), nanoseconds(g.at("crossing_ns")))
		c := g.at("copying")
		copying.add(texts(g.at("path")), texts(g.at("engine")), plain(c.at("errors")),
			size(c.at("bytes_copied_per_run")), size(c.at("growth_bytes")), nanoseconds(c.at("evaluate_p50_ns")))
	}
	b.section("WebAssembly guests", nil, tableBlock(t), tableBlock(copying))
}
