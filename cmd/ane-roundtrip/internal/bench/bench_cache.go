package bench

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/weightbench"
)

// cacheMemory is the memory of a cache of keys and values that grows, and of one that is reserved.
type cacheMemory struct {
	Modes     []weightbench.Kept `json:"modes"`
	Published weightbench.Paper  `json:"published"`
}

// print plots the memory over the tokens and prints the published costs of reserving beside ours.
func (c *cacheMemory) print(a *cli.App) error {
	if err := a.Printf("\nMemory of keys and values, 36 layers of 8 heads of 128 in fp16: a reserved cache\n"+
		"is a flat line, a growing one a staircase.\n\n%s\n", memoryPlot(c.Modes)); err != nil {
		return err
	}
	if err := a.Table(keptTable(c.Modes)); err != nil {
		return err
	}
	if err := a.Printf("\n"); err != nil {
		return err
	}
	if err := a.Table(paperTable(c.Published.Reserve)); err != nil {
		return err
	}
	return a.Printf("paper: table 4 of OptMLX, with MLX on an M4 Max.\n\n")
}

// keptTable is a table of caches.
func keptTable(all []weightbench.Kept) *page.Table {
	w := page.NewTable("cache", "first ms", "prompt t/s", "gen t/s", "MiB", "beyond dynamic", "copied MiB")
	for _, k := range all {
		w.Row(k.Mode, weightbench.Figure(1000*k.First.Seconds()), weightbench.Figure(k.Prompt),
			weightbench.Figure(k.Generate), fmt.Sprint(k.Bytes>>20), fmt.Sprintf("%+d", k.Delta>>20),
			fmt.Sprint(k.Copied>>20))
	}
	return w
}

// paperTable is table 4 of the paper.
func paperTable(all []weightbench.Reserved) *page.Table {
	w := page.NewTable("paper: model", "cache", "first ms", "prompt t/s", "gen t/s", "peak GB", "beyond dynamic")
	for _, r := range all {
		w.Row(r.Model, r.Mode, fmt.Sprintf("%.1f", 1000*r.First.Seconds()), fmt.Sprint(r.Prompt), fmt.Sprint(r.Generate),
			fmt.Sprint(r.Peak), fmt.Sprintf("%+.3f", r.Delta))
	}
	return w
}

// Size of a plot of characters.
const (
	plotColumns = 60
	plotRows    = 8
)

// memoryPlot draws the memory of caches over their tokens with a character for each: d for dynamic, r for a reserved
// one, * where both are.
func memoryPlot(all []weightbench.Kept) string {
	tokens, high := 1, 1
	for _, k := range all {
		for _, p := range k.Steps {
			tokens, high = max(tokens, p.Tokens), max(high, p.Bytes)
		}
	}
	cells := make([][]byte, plotRows)
	for i := range cells {
		cells[i] = bytes.Repeat([]byte{' '}, plotColumns)
	}
	for _, k := range all {
		mark := byte('r')
		if k.Mode == "dynamic" {
			mark = 'd'
		}
		for x := range plotColumns {
			size := 1
			for _, p := range k.Steps {
				if p.Tokens <= max((x+1)*tokens/plotColumns, 1) {
					size = p.Bytes
				}
			}
			cell := &cells[plotRows-int(math.Ceil(float64(size)/float64(high)*plotRows))][x]
			if *cell != ' ' && *cell != mark {
				*cell = '*'
			} else {
				*cell = mark
			}
		}
	}
	var s strings.Builder
	for i, line := range cells {
		label := ""
		if i == 0 {
			label = fmt.Sprintf("%d MiB", high>>20)
		}
		fmt.Fprintf(&s, "%9s |%s\n", label, bytes.TrimRight(line, " "))
	}
	fmt.Fprintf(&s, "%9s +%s\n", "0", strings.Repeat("-", plotColumns))
	fmt.Fprintf(&s, "%9s  %-*s%s\n", "", plotColumns-len("0000 tokens"), "1", fmt.Sprintf("%4d tokens", tokens))
	for _, k := range all {
		if k.Mode == "dynamic" {
			fmt.Fprintf(&s, "%9s  d: grows by %d tokens\n", "", 256)
		} else {
			fmt.Fprintf(&s, "%9s  r: %s tokens reserved\n", "", k.Mode)
		}
	}
	return s.String()
}
