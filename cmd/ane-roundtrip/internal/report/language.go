package report

// benchGenerate fills the head of the page of bench generate, and shows its figures beside the published ones.
func (b *builder) benchGenerate(d *value) {
	b.doc.Summary = sentence("size ", texts(d.at("size")), ", form ", texts(d.at("form")))
	b.doc.Keys = []entry{{"token", []cell{nanoseconds(d.at("step_ns"))}},
		{"weights read once", []cell{nanoseconds(d.at("step_floor_ns"))}},
		{"load", []cell{nanoseconds(d.at("load_ns"))}},
		{"resident at most", []cell{size(d.at("peak_bytes"))}}}
	p := d.at("published")
	speed := &table{Caption: "Times", Columns: columns("step", "#here", "#published")}
	for _, s := range [][2]string{{"load_ns", "load"}, {"prefill_5_ns", "short prompt"},
		{"first_token_ns", "first token"}, {"prompt_ns", "long prompt"},
		{"prompt_floor_ns", "its products, bare"}, {"step_ns", "token"},
		{"step_floor_ns", "weights read once"}} {
		speed.add(words("%s", s[1]), nanoseconds(d.at(s[0])), nanoseconds(p.at(s[0])))
	}
	b.section("Language model", sentence("The long prompt has ", plain(d.at("prompt_tokens")), " tokens, at ",
		perSecond(d.at("prompt_products_per_s")), " products. Published: the GPU of an M1, with MLX."),
		tableBlock(speed))

	weights := &table{Caption: "Memory of the weights", Columns: columns("part", "#size")}
	for _, w := range [][2]string{{"stored_bytes", "stored"}, {"mapped_bytes", "mapped"},
		{"converted_bytes", "converted"}, {"own_bytes", "own memory"}, {"read_bytes", "own memory if read"},
		{"kv_bytes", "keys and values of it"}} {
		weights.add(words("%s", w[1]), size(d.at("weights", w[0])))
	}
	keys := &table{Caption: "Keys and values", Columns: columns("cache", "#tokens", "#resident", "#moved on growth")}
	for _, k := range d.at("kv").items {
		keys.add(texts(k.at("mode")), plain(k.at("tokens")), size(k.at("bytes")), size(k.at("copied_bytes")))
	}
	b.section("Memory of the model", nil, tableBlock(weights), tableBlock(keys))

	t := &table{Caption: "Conversations", Columns: columns("where", "#tokens", "#snapshot", "#save", "#restore",
		"#prompt", "same bits")}
	c := &chart{x: axis{label: "tokens"}, y: axis{form: durationOf(1), log: true}}
	lines := []curve{{color: series(0), dots: true}, {color: series(1), dots: true}, {color: series(2), dots: true}}
	row := func(where string, r *value) {
		t.add(words("%s", where), plain(r.at("tokens")), size(r.at("bytes")), nanoseconds(r.at("save_ns")),
			nanoseconds(r.at("restore_ns")), nanoseconds(r.at("prefill_ns")), texts(r.at("same")))
	}
	for _, r := range d.at("restore").items {
		row("here", r)
		for i, key := range []string{"prefill_ns", "save_ns", "restore_ns"} {
			lines[i].x, lines[i].y = append(lines[i].x, r.at("tokens").float()), append(lines[i].y, r.at(key).float())
		}
	}
	row("published", p.at("restore"))
	for _, l := range lines {
		c.add(l)
	}
	b.section("Restored conversations", nil, block{Plots: b.plot(nil, c, plotted{Title: words("Restore and prompt"),
		Caption: sentence("less is better"), Legend: []mark{{"c1", words("the prompt again")}, {"c2", words("save")},
			{"c3", words("restore")}}}, "Times over the tokens of a conversation.")}, tableBlock(t))
}
