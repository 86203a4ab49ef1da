package generate

import (
	"slices"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/measure"
)

// View lays out what generate, its plan, or actor reports.
func View(d *doc.Doc, v *doc.Value) {
	switch {
	case v.At("chip").Here():
		d.Unproved, d.Summary = "Plan", doc.Line(v.Code("model"))
		d.Section("Model", nil, doc.Facts{
			doc.Named("model", v.Text("architecture"), ", ", size(v, "stored_bytes"), " of weights as stored"),
			doc.Named("form", v.Text("form"), ", chip ", v.Text("chip")),
			doc.Named("keys, values", size(v, "kv_reserved_bytes"), " for ", v.Plain("context"), " tokens"),
			doc.Named("pass", v.Plain("chunk"), " tokens of a prompt"), doc.Named("programs", counts(v))})
		programs(d, v)
	case v.At("rendered").Here():
		d.Unproved, d.Summary = "Conversation", doc.Line(v.Code("model"))
		d.Section("Text", nil, doc.Facts{doc.Named("text", v.Text("rendered"))})
	case v.At("pieces").Here():
		d.Unproved, d.Summary = "Tokens", doc.Line(v.Code("model"))
		t := doc.NewTable("Tokens", "#id", "piece")
		ids := v.Items("tokens")
		for i, piece := range v.Items("pieces") {
			t.Row(ids[i].Plain(), piece.Text())
		}
		d.Section("Tokens", nil, t)
	case v.At("guest").Here():
		d.Section("Actor", nil, append(talk(d, v), actorFacts(v)...))
		bars(d, "Times", "#time", v, (*doc.Value).Time, "load_ns", "load", "thaw_ns", "thaw", "time_to_first_token_ns",
			"first token", "freeze_ns", "freeze")
	case v.Object():
		d.Section("Answer", nil, append(talk(d, v), generateFacts(v)...))
		bars(d, "Times", "#time", v, (*doc.Value).Time, "load_ns", "load", "restore_ns", "restore", "prompt_ns",
			"prompt", "time_to_first_token_ns", "first token", "save_ns", "snapshots")
		bars(d, "Memory", "#size", v.At("memory"), (*doc.Value).Size, "weights_mapped_bytes", "weights, mapped",
			"weights_read_bytes", "weights, read",
			"weights_converted_bytes", "weights, converted", "kv_reserved_bytes", "keys and values, reserved",
			"kv_used_bytes", "keys and values, used", "scratch_bytes", "scratch", "peak_bytes", "resident at most")
		programs(d, v)
	}
}

// talk fills the head of the page of a conversation, and returns its first facts.
func talk(d *doc.Doc, v *doc.Value) doc.Facts {
	d.Summary = doc.Line(v.At("tokens").Count("", ""), " tokens, ended by ", v.Text("stopped"), ", of ",
		v.Code("model"))
	d.Key("rate", v.Digits("tokens_per_second").In("tokens/s"))
	d.Key("first token", v.Time("time_to_first_token_ns"))
	d.Key("load", v.Time("load_ns"))
	d.Key("copied in this run", v.Size("bytes_copied"))
	d.Terminal(doc.Facts{doc.Named("engine", d.Engine()), doc.Named("numerics", d.Root.Text("numerics"))})
	return doc.Facts{doc.Named("~text", v.Text("text")), doc.Named("~tokens", v.Shape("tokens")),
		doc.Named("~room for tokens", v.Plain("context"))}
}

// whatIsCopied says what Session.Copied counts.
const whatIsCopied = "rows of the embedding, rotations and masks, keys and values into the cache"

// generateFacts are what a language model has said, and what it took.
func generateFacts(v *doc.Value) doc.Facts {
	m := v.At("memory")
	all := doc.Facts{
		doc.Named("prompt", v.Plain("prompt_tokens"), " tokens, ", v.Plain("restored_tokens"),
			" of them and of the answer from the snapshot"),
		doc.Named("answer", v.At("tokens").Count("", ""), " tokens, ", v.Digits("tokens_per_second"),
			" tokens per second, ended by ", v.Text("stopped")),
		doc.Named("time", times(v)),
		doc.Named("weights", size(m, "weights_mapped_bytes"), " mapped, ", size(m, "weights_read_bytes"), " read, ",
			size(m, "weights_converted_bytes"), " converted"),
		doc.Named("way to memory", v.Text("access"), ": ", v.Text("why")),
		doc.Named("keys, values", size(m, "kv_reserved_bytes"), " reserved for ", v.Plain("context"), " tokens, ",
			size(m, "kv_used_bytes"), " used"),
		doc.Named("scratch", size(m, "scratch_bytes")),
		doc.Named("copied for a token|copied", v.Bytes("bytes_copied_per_token"), " per token: ", whatIsCopied),
	}
	if v.At("snapshot").Here() {
		all.Add("snapshot", v.Text("snapshot"), ", written ", doc.Counted(v.Plain("saves"), "time", "times"), " in ",
			v.Time("save_ns"))
	}
	return append(all, doc.Named("~architecture", v.Text("architecture")),
		doc.Named("programs", "form ", v.Text("form"), ": ", counts(v)))
}

// actorFacts are what a guest has said with a language model.
func actorFacts(v *doc.Value) doc.Facts {
	sum := v.Code("guest_sha256")
	all := doc.Facts{
		doc.Named("guest", v.Code("guest"), ", ", size(v, "guest_memory_bytes"), " of memory",
			doc.Nothing().Brief(", SHA-256 %.16s...", sum.Number)),
		doc.Named("~hash of the guest", sum),
		doc.Named("talk", v.Plain("prompt_tokens"), " tokens of the prompt, ", v.Plain("said_tokens"), " said, ",
			v.At("tokens").Count("", ""), " of them now, ended by ", v.Text("stopped")),
		doc.Named("~taken by the model", v.Plain("position")),
		doc.Named("time", times(v), ", ", v.Digits("tokens_per_second"), " tokens per second"),
	}
	if v.At("thaw_ns").Float() > 0 {
		all.Add("thawed", v.Plain("restored_tokens"), " tokens restored, ", v.Plain("moved_tokens"),
			" taken again, in ", v.Time("thaw_ns"))
	}
	if v.At("freeze_ns").Float() > 0 {
		all.Add("frozen", v.Text("snapshot"), ", ", size(v, "snapshot_bytes"), " in ", v.Time("freeze_ns"))
	}
	return append(all, doc.Named("copied in this run|copied", v.Bytes("bytes_copied"),
		" in this run: tokens from and to the guest, ", whatIsCopied))
}

func times(v *doc.Value) []doc.Cell {
	return doc.Line("load ", v.Time("load_ns"), ", first token ", v.Time("time_to_first_token_ns"))
}

// size is a number of bytes, whole kilobytes or megabytes on a terminal.
func size(v *doc.Value, key string) doc.Cell {
	return v.Size(key).Brief("%s", measure.BytesText(int(v.At(key).Float())))
}

// counts are the numbers of programs.
func counts(v *doc.Value) []doc.Cell {
	return doc.Line(v.Plain("compiles"), " compiled, ", v.Plain("loads"), " loaded, ", v.Plain("loads_in_turns"),
		" in turns")
}

// programs shows the programs of a model, and what they take beside the limits of a chip.
func programs(d *doc.Doc, v *doc.Value) {
	all := doc.NewTable("Programs", "program", "#layers", "#instances", "#operations", "#weights|bytes of weights",
		"#in all")
	for _, p := range v.Items("programs") {
		bytes := p.At("weight_bytes").Float() * p.At("instances").Float()
		all.Row(p.Text("name"), p.Plain("layers"), p.Plain("instances"), p.Plain("operations"),
			p.Size("weight_bytes").Exact(), doc.Nothing().Brief("%s", measure.BytesText(int(bytes))))
	}
	limits := doc.NewTable("Limits of the chip", "limit", "#used", "#at most")
	for _, l := range v.Items("budgets") {
		used, limit := l.At("used"), l.At("limit")
		most := limit.Plain()
		switch {
		case !limit.Here():
			most = most.Brief("not known")
		case used.Float() > limit.Float():
			most = most.Brief("%s, exceeded", limit.Raw)
		}
		limits.Row(l.Text("name"), used.Plain(), most)
	}
	d.Section("Programs", nil, all, limits)
}

// bars draws figures above 0 as bars, beside their table. Each has its key and its name.
func bars(d *doc.Doc, heading, column string, v *doc.Value, form func(*doc.Value, ...string) doc.Cell,
	keys ...string,
) {
	t := doc.NewTable(heading, "part", column)
	var names []string
	var lengths []float64
	for pair := range slices.Chunk(keys, 2) {
		if one := v.At(pair[0]); one.Float() > 0 {
			t.Row(doc.Words("%s", pair[1]), form(one))
			names, lengths = append(names, pair[1]), append(lengths, one.Float())
		}
	}
	if names == nil {
		return
	}
	axis := doc.Axis{Form: doc.DurationOf(1)}
	if heading == "Memory" {
		axis = doc.Bytes(slices.Max(lengths))
	}
	plots := d.Figures().Add(doc.Lengths(axis, names, lengths), doc.Plot{Title: doc.Words("%s", heading)},
		"A bar for each row of the table, as long as its figure.")
	d.Page(heading, nil, plots, t)
}
