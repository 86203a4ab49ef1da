package report

// talk fills the head of the page of a conversation: what generate and actor have in common.
func (b *builder) talk(d *value) {
	b.doc.Summary = sentence(count(d.at("tokens"), "", ""), " tokens, ended by ", texts(d.at("stopped")), ", of ",
		code(d.at("model")))
	rate := perSecond(d.at("tokens_per_second"))
	rate.Unit = "tokens/s"
	b.doc.Keys = []entry{{"rate", []cell{rate}}, {"first token", []cell{nanoseconds(d.at("time_to_first_token_ns"))}},
		{"load", []cell{nanoseconds(d.at("load_ns"))}}, {"copied in this run", []cell{size(d.at("bytes_copied"))}}}
}

// ids shows the tokens of an answer as one list.
func ids(d *value) []entry {
	if len(d.at("tokens").items) == 0 {
		return nil
	}
	return []entry{{"tokens", []cell{shape(d.at("tokens"))}}}
}

// took draws times as bars, beside their table.
func (b *builder) took(heading string, d *value, steps [][2]string) {
	t := &table{Caption: heading, Columns: columns("step", "#time")}
	var labels []string
	var times []float64
	for _, s := range steps {
		v := d.at(s[0])
		if v.float() <= 0 {
			continue
		}
		t.add(words("%s", s[1]), nanoseconds(v))
		labels, times = append(labels, s[1]), append(times, v.float())
	}
	if len(labels) == 0 {
		return
	}
	c := lengths(axis{form: durationOf(1)}, labels, times)
	b.section(heading, nil, block{Plots: b.plot(nil, c, plotted{Title: words("%s", heading),
		Caption: sentence("shorter is better")}, "A bar for each step, as long as its time.")}, tableBlock(t))
}

// facts lists values that are there, each with its name and its form.
func facts(d *value, of ...fact) (all []entry) {
	for _, f := range of {
		if v := d.at(f.key); v.here() && v.raw != "" {
			all = append(all, entry{f.name, []cell{f.form(v)}})
		}
	}
	return all
}

type fact struct {
	key, name string
	form      func(*value) cell
}

// generate shows what a language model has said, and what it took.
func (b *builder) generate(d *value) {
	if d.kind != object {
		return
	}
	b.talk(d)
	b.section("Answer", nil, block{Entries: append(facts(d, fact{"text", "text", texts},
		fact{"architecture", "architecture", texts}, fact{"form", "form of the programs", texts},
		fact{"prompt_tokens", "tokens of the prompt", plain}, fact{"restored_tokens", "tokens restored", plain},
		fact{"context", "room for tokens", plain}, fact{"bytes_copied_per_token", "copied for each token", size},
		fact{"saves", "snapshots written", plain}), ids(d)...)})
	b.took("Times", d, [][2]string{{"load_ns", "load"}, {"restore_ns", "restore"}, {"prompt_ns", "prompt"},
		{"time_to_first_token_ns", "first token"}, {"save_ns", "snapshots"}})
	memory := &table{Caption: "Memory of the model and its session", Columns: columns("part", "#size")}
	var labels []string
	var sizes []float64
	for _, p := range [][2]string{{"weights_mapped_bytes", "weights, mapped"},
		{"weights_converted_bytes", "weights, converted"}, {"kv_reserved_bytes", "keys and values, reserved"},
		{"kv_used_bytes", "keys and values, used"}, {"scratch_bytes", "scratch"}, {"peak_bytes", "resident at most"}} {
		v := d.at("memory", p[0])
		memory.add(words("%s", p[1]), size(v))
		labels, sizes = append(labels, p[1]), append(sizes, v.float())
	}
	c := lengths(axis{form: sizeOf}, labels, sizes)
	c.x = binary(c.x, c.x1)
	b.section("Memory", nil, block{Plots: b.plot(nil, c, plotted{Title: words("Memory")},
		"A bar for each part of the memory, as long as its size.")}, tableBlock(memory))
	b.programs(d)
}

// plan shows what a language model would take of a chip.
func (b *builder) plan(d *value) {
	b.section("Model", nil, block{Entries: facts(d, fact{"model", "model", code},
		fact{"architecture", "architecture", texts}, fact{"form", "form of the programs", texts},
		fact{"chip", "chip", texts}, fact{"context", "room for tokens", plain},
		fact{"chunk", "tokens of a pass over a prompt", plain}, fact{"stored_bytes", "weights as stored", size},
		fact{"kv_reserved_bytes", "keys and values", size})})
	b.programs(d)
}

// programs shows the programs of a language model beside the limits of a chip.
func (b *builder) programs(d *value) {
	programs := &table{Caption: "Programs", Columns: columns("program", "#layers", "#instances", "#weights",
		"#operations")}
	for _, p := range d.at("programs").items {
		programs.add(texts(p.at("name")), plain(p.at("layers")), plain(p.at("instances")), size(p.at("weight_bytes")),
			plain(p.at("operations")))
	}
	limits := &table{Caption: "Limits of the chip", Columns: columns("limit", "#used", "#at most")}
	for _, l := range d.at("budgets").items {
		limits.add(texts(l.at("name")), plain(l.at("used")), plain(l.at("limit")))
	}
	b.section("Programs", sentence(plain(d.at("compiles")), " compiled, ", plain(d.at("loads")), " loaded."),
		tableBlock(programs), tableBlock(limits))
}

// actor shows what a guest has said with a language model.
func (b *builder) actor(d *value) {
	if d.kind != object {
		return
	}
	b.talk(d)
	b.section("Actor", nil, block{Entries: append(facts(d, fact{"guest", "guest", code},
		fact{"guest_sha256", "hash of the guest", code}, fact{"guest_memory_bytes", "memory of the guest", size},
		fact{"prompt_tokens", "tokens of the prompt", plain}, fact{"said_tokens", "said in its life", plain},
		fact{"position", "taken by the model", plain}, fact{"restored_tokens", "tokens restored", plain},
		fact{"moved_tokens", "taken again by another model", plain}, fact{"context", "room for tokens", plain},
		fact{"snapshot_bytes", "snapshot", size}), ids(d)...)})
	b.took("Times", d, [][2]string{{"load_ns", "load"}, {"thaw_ns", "thaw"}, {"time_to_first_token_ns", "first token"},
		{"freeze_ns", "freeze"}})
}
