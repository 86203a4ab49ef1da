package bench

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
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
	return printAll(a, "\nMemory of keys and values, 36 layers of 8 heads of 128 in fp16: a reserved cache\n"+
		"is a flat line, a growing one a staircase.\n\n"+memoryPlot(c.Modes)+"\n", keptTable(c.Modes), "\n",
		paperTable(c.Published.Reserve), "paper: table 4 of OptMLX, with MLX on an M4 Max.\n\n")
}

// printAll prints texts and tables.
func printAll(a *cli.App, parts ...any) (err error) {
	for _, p := range parts {
		if t, ok := p.(*page.Table); ok {
			err = a.Table(t)
		} else {
			err = a.Printf("%s", p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// figure writes v with three significant digits, or with all those before its point, and without an exponent.
func figure(v float64) string {
	if math.Abs(v) >= 999.5 {
		return fmt.Sprintf("%.0f", v)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // a number that this package has written
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// keptTable is a table of caches.
func keptTable(all []weightbench.Kept) *page.Table {
	w := page.NewTable("cache", "first ms", "prompt t/s", "gen t/s", "MiB", "beyond dynamic", "copied MiB")
	for _, k := range all {
		w.Row(k.Mode, figure(1000*k.First.Seconds()), figure(k.Prompt), figure(k.Generate), fmt.Sprint(k.Bytes>>20),
			fmt.Sprintf("%+d", k.Delta>>20), fmt.Sprint(k.Copied>>20))
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

// memoryPlot draws the memory of caches over their tokens with a character for each: d for dynamic, r for a reserved
// one, * where both are.
func memoryPlot(all []weightbench.Kept) string {
	const columns, rows = 60, 8
	tokens, high := 1, 1
	for _, k := range all {
		for _, p := range k.Steps {
			tokens, high = max(tokens, p.Tokens), max(high, p.Bytes)
		}
	}
	cells, legend := make([][]byte, rows), ""
	for i := range cells {
		cells[i] = bytes.Repeat([]byte{' '}, columns)
	}
	for _, k := range all {
		mark, what := byte('r'), k.Mode+" tokens reserved"
		if k.Mode == "dynamic" {
			mark, what = 'd', "grows by 256 tokens"
		}
		legend += fmt.Sprintf("%9s  %c: %s\n", "", mark, what)
		for x := range columns {
			size := 1
			for _, p := range k.Steps {
				if p.Tokens <= max((x+1)*tokens/columns, 1) {
					size = p.Bytes
				}
			}
			cell := &cells[rows-int(math.Ceil(float64(size)/float64(high)*rows))][x]
			if *cell != ' ' && *cell != mark {
				*cell = '*'
			} else {
				*cell = mark
			}
		}
	}
	var s strings.Builder
	label := fmt.Sprintf("%d MiB", high>>20)
	for _, line := range cells {
		fmt.Fprintf(&s, "%9s |%s\n", label, bytes.TrimRight(line, " "))
		label = ""
	}
	fmt.Fprintf(&s, "%9s +%s\n", "0", strings.Repeat("-", columns))
	fmt.Fprintf(&s, "%9s  %-*s%4d tokens\n%s", "", columns-len("0000 tokens"), "1", tokens, legend)
	return s.String()
}
