package bench

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

// showCaches draws the memory of keys and values over the tokens. what they are of, and tables stand beside.
func showCaches(d *doc.Doc, modes []*doc.Value, what string, tables ...doc.Block) {
	if len(modes) == 0 {
		return
	}
	steps := doc.NewTable("Memory over tokens", "cache", "#tokens", "#memory")
	t := doc.NewTable("Keys and values", "cache", "#memory", "#beyond dynamic", "#moved on growth|copied")
	c, high := &doc.Chart{X: doc.Axis{Label: "tokens"}}, 0.0
	p := doc.Plot{Title: doc.Words("Memory of keys and values"),
		Caption: doc.Line("a reserved cache is a flat line, a growing one a staircase"),
		Data:    &doc.Folded{Summary: "Figures", Table: steps}}
	for i, m := range modes {
		name := m.Text("mode")
		if name.Number != "dynamic" {
			name = name.In("tokens reserved").Brief("%s", name)
		}
		t.Row(name, m.Size("bytes"), m.Size("delta_bytes"), m.Size("copied_bytes"))
		for _, s := range m.Items("steps") {
			steps.Row(name, s.Plain("tokens"), s.Size("bytes"))
			high = max(high, s.At("bytes").Float())
		}
		c.Add(through(m.Items("steps"), "tokens", "bytes", doc.Curve{Color: doc.Series(i), Step: true}))
		p.Legend = append(p.Legend, doc.SeriesMark("", i, name))
	}
	c.Y = doc.Bytes(high)
	d.Terminal(append(doc.Lines{doc.Line("Memory of " + what + ":"),
		doc.Line("a reserved cache is a flat line, a growing one a staircase."), nil}, memoryPlot(modes)...))
	d.Section("Keys and values", nil, append([]doc.Block{d.Figures().Add(c, p,
		"Memory over the number of tokens, a line for each cache."), t}, tables...)...)
	d.Terminal(doc.Text("paper: OptMLX, with MLX on an M4 Max."))
}

// publishedCaches are the memory of reserved caches by the paper.
func publishedCaches(published []*doc.Value) *doc.Table {
	paper := doc.NewTable("Published: OptMLX, table 4, MLX on an M4 Max", "model|paper: model", "cache", "#peak",
		"#beyond dynamic")
	for _, r := range published {
		paper.Row(r.Text("model"), r.Text("mode"), r.Digits("peak_gb").In("GB"), r.Digits("delta_gb").In("GB"))
	}
	return paper
}

// memoryPlot draws the memory of caches over their tokens with a character for each: d for dynamic, r for a reserved
// one, * where both are.
func memoryPlot(modes []*doc.Value) (all doc.Lines) {
	const columns, rows = 60, 8
	tokens, high := 1.0, 1.0
	for _, m := range modes {
		for _, s := range m.Items("steps") {
			tokens, high = max(tokens, s.At("tokens").Float()), max(high, s.At("bytes").Float())
		}
	}
	var cells [rows][columns]byte
	var legend doc.Lines
	for _, m := range modes {
		mark, what := byte('r'), m.Text("mode").Number+" tokens reserved"
		if m.At("mode").Is("dynamic") {
			mark, what = 'd', "grows by 256 tokens"
		}
		legend = append(legend, doc.Line(fmt.Sprintf("%9s  %c: %s", "", mark, what)))
		for x := range columns {
			size := 1.0
			for _, s := range m.Items("steps") {
				if s.At("tokens").Float() <= max(float64(x+1)*tokens/columns, 1) {
					size = max(s.At("bytes").Float(), 1)
				}
			}
			cell := &cells[rows-int(math.Ceil(size/high*rows))][x]
			if *cell == 0 || *cell == mark {
				*cell = mark
			} else {
				*cell = '*'
			}
		}
	}
	label := fmt.Sprintf("%.0f MiB", high/(1<<20))
	for _, row := range cells {
		text := bytes.TrimRight(bytes.ReplaceAll(row[:], []byte{0}, []byte{' '}), " ")
		all = append(all, doc.Line(fmt.Sprintf("%9s |%s", label, text)))
		label = ""
	}
	all = append(all, doc.Line(fmt.Sprintf("%9s +%s", "0", strings.Repeat("-", columns))),
		doc.Line(fmt.Sprintf("%9s  %-*s%4.0f tokens", "", columns-len("0000 tokens"), "1", tokens)))
	return append(all, legend...)
}
