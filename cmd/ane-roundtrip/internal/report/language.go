package report

import (
	"slices"
	"strings"
)

// benchGenerate fills the head of the page of bench generate, and shows its figures beside the published ones.
func (b *builder) benchGenerate(d *value) {
	b.doc.Summary = sentence("size ", texts(d.at("size")), ", form ", texts(d.at("form")))
	b.doc.Keys = []entry{{"token", []cell{nanoseconds(d.at("step_ns"))}},
		{"weights read once", []cell{nanoseconds(d.at("step_floor_ns"))}},
		{"load", []cell{nanoseconds(d.at("load_ns"))}},
		{"resident at most", []cell{size(d.at("peak_bytes"))}}}
	published := d.at("published")
	speed := &table{Caption: "Times", Columns: columns("step", "#here", "#published")}
	for _, s := range [][2]string{{"load_ns", "load"}, {"prefill_5_ns", "short prompt"},
		{"first_token_ns", "first token"}, {"prompt_ns", "long prompt"},
		{"prompt_floor_ns", "its products, bare"}, {"step_ns", "token"},
		{"step_floor_ns", "weights read once"}} {
		speed.add(words("%s", s[1]), nanoseconds(d.at(s[0])), nanoseconds(published.at(s[0])))
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
	b.section("Memory of the model", nil, tableBlock(weights),
		listed("Keys and values", d.at("kv").items, field{"cache", "mode", texts}, field{"#tokens", "tokens", plain},
			field{"#resident", "bytes", size}, field{"#moved on growth", "copied_bytes", size}))

	restored := d.at("restore").items
	c := &chart{x: axis{label: "tokens"}, y: axis{form: durationOf(1), log: true}}
	for i, key := range []string{"prefill_ns", "save_ns", "restore_ns"} {
		c.through(restored, "tokens", key, curve{color: series(i), dots: true})
	}
	where := func(v *value) cell {
		if strings.HasPrefix(v.path, published.path) {
			return words("published")
		}
		return words("here")
	}
	b.section("Restored conversations", nil, block{Plots: b.plot(nil, c, plotted{Title: words("Restore and prompt"),
		Caption: sentence("less is better"), Legend: []mark{{"c1", words("the prompt again")}, {"c2", words("save")},
			{"c3", words("restore")}}}, "Times over the tokens of a conversation.")},
		listed("Conversations", append(slices.Clip(restored), published.at("restore")), field{"where", "tokens", where},
			field{"#tokens", "tokens", plain}, field{"#snapshot", "bytes", size}, field{"#save", "save_ns", nanoseconds},
			field{"#restore", "restore_ns", nanoseconds}, field{"#prompt", "prefill_ns", nanoseconds},
			field{"same bits", "same", texts}))
}
