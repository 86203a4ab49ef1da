package generate

import (
	"fmt"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models/decoder"
)

// generateDetails are the fields that generate adds to the report.
type generateDetails struct {
	cli.Generated
	Model        string         `json:"model"`
	Architecture string         `json:"architecture"`
	Form         string         `json:"form"`
	Text         string         `json:"text,omitempty"`
	Stopped      string         `json:"stopped"` // max or eos
	PromptTokens int            `json:"prompt_tokens"`
	Restored     int            `json:"restored_tokens"`
	Context      int            `json:"context"`
	Load         time.Duration  `json:"load_ns"` // from the start to a loaded model and a restored snapshot
	Restore      time.Duration  `json:"restore_ns"`
	Prompt       time.Duration  `json:"prompt_ns"` // all tokens of the prompt but the last one
	Saves        int            `json:"saves"`
	Save         time.Duration  `json:"save_ns"` // all of them
	CopiedEach   int64          `json:"bytes_copied_per_token"`
	Memory       generateMemory `json:"memory"`
	Programs     []programRow   `json:"programs"`
	Compiles     int            `json:"compiles"`
	Loads        int            `json:"loads"`
	Turns        int            `json:"loads_in_turns"` // programs loaded for each run of them, one at a time
	Budgets      []budgetRow    `json:"budgets"`
}

// generateMemory are the bytes of a model and its session.
type generateMemory struct {
	Mapped    int64 `json:"weights_mapped_bytes"`    // read where the files are mapped
	Converted int64 `json:"weights_converted_bytes"` // in memory of their own
	Reserved  int64 `json:"kv_reserved_bytes"`
	Used      int64 `json:"kv_used_bytes"` // of the tokens that the session has taken
	Scratch   int64 `json:"scratch_bytes"`
	Peak      int64 `json:"peak_bytes"` // resident at most, mapped files included; 0 where the system does not say
}

// programRow is a compiled program.
type programRow struct {
	Name       string `json:"name"`
	Layers     int    `json:"layers"`
	Instances  int    `json:"instances"`
	Weights    int64  `json:"weight_bytes"` // of one instance
	Operations int    `json:"operations"`
}

// budgetRow is a limit of the chip beside what the model takes.
type budgetRow struct {
	Name  string `json:"name"`
	Used  int64  `json:"used"`
	Limit *int64 `json:"limit"` // null if not known
}

func (b budgetRow) over() bool { return b.Limit != nil && b.Used > *b.Limit }

// eachSecond is the rate of n in a time; the clocks of some systems do not tell short ones.
func eachSecond(n int, in time.Duration) float64 { return float64(n) / max(in, 1).Seconds() }

// whatIsCopied says where Session.Copied comes from.
const whatIsCopied = "rows of the embedding, rotations and masks, keys and values into the cache"

// plan fills in what the model takes.
func (g *generateDetails) plan(m *decoder.Model, s *decoder.Session) {
	p := m.Plan()
	g.Form, g.Context, g.Compiles, g.Loads = p.Form.String(), s.Cache().Cap(), p.Compiles, p.Loads
	g.Turns = p.Turns
	g.Memory = generateMemory{Mapped: p.WeightsMapped, Converted: p.WeightsConverted, Reserved: p.CacheBytes,
		Scratch: p.ScratchBytes, Peak: procmem.Peak()}
	if g.Context > 0 {
		g.Memory.Used = p.CacheBytes / int64(g.Context) * int64(s.Position())
	}
	g.Programs, g.Budgets = programRows(p), budgetRows(p)
}

func programRows(p decoder.Plan) []programRow {
	rows := []programRow{}
	for _, r := range p.Programs {
		rows = append(rows, programRow{r.Name, r.Layers, r.Instances, r.WeightBytes, r.Operations})
	}
	return rows
}

func budgetRows(p decoder.Plan) []budgetRow {
	rows := []budgetRow{}
	for _, b := range p.Budgets {
		row := budgetRow{Name: b.Name, Used: b.Used}
		if b.Limit.Known() {
			row.Limit = &b.Limit.Value
		}
		rows = append(rows, row)
	}
	return rows
}

// limitTable lists the limits of a chip.
func limitTable(budgets []budgetRow) *page.Table {
	t := page.NewTable("limit", "used", "at most")
	for _, b := range budgets {
		most := "not known"
		if b.Limit != nil {
			most = fmt.Sprint(*b.Limit)
		}
		if b.over() {
			most += ", exceeded"
		}
		t.Row(b.Name, fmt.Sprint(b.Used), most)
	}
	return t
}

// report prints the figures.
func (j *generateJob) report(d *ane.Device) error {
	a, g := j.app, &j.figures
	c := j.folder.Config()
	g.Model, g.Architecture, g.PromptTokens = j.o.model, c.Architecture, len(j.prompt)
	g.CopiedEach = g.Copied / int64(max(1, j.session.Position()-g.Restored))
	g.plan(j.model, j.session)
	receipt := j.model.Receipt()
	a.Notes(append(receipt.Notes, j.notes...))
	r := cli.NewReport(d)
	r.SetEngine(&receipt)
	r.Generated = &g.Generated
	r.Details = g
	a.Deliver(r)
	if a.JSON || j.o.quiet {
		return nil
	}
	size := func(n int64) string { return measure.BytesText(int(n)) }
	w := page.NewTable()
	w.Row("engine", cli.EngineText(&receipt))
	w.Row("numerics", receipt.Numerics)
	w.Row("prompt", fmt.Sprintf("%d tokens, %d of them and of the answer from the snapshot", g.PromptTokens,
		g.Restored))
	w.Row("answer", fmt.Sprintf("%d tokens, %.1f tokens per second, ended by %s", len(g.Tokens), g.Rate, g.Stopped))
	w.Row("time", fmt.Sprintf("load %s, first token %s", cli.Brief(g.Load), cli.Brief(g.First)))
	w.Row("weights", fmt.Sprintf("%s mapped, %s converted", size(g.Memory.Mapped), size(g.Memory.Converted)))
	w.Row("keys, values", fmt.Sprintf("%s reserved for %d tokens, %s used", size(g.Memory.Reserved), g.Context,
		size(g.Memory.Used)))
	w.Row("scratch", size(g.Memory.Scratch))
	w.Row("copied", fmt.Sprintf("%d bytes per token: %s", g.CopiedEach, whatIsCopied))
	if j.o.snapshot != "" {
		w.Row("snapshot", fmt.Sprintf("%s, written %s in %s", cli.Visible(j.o.snapshot), cli.Counted(g.Saves, "time",
			"times"), cli.Brief(g.Save)))
	}
	w.Row("programs", g.programs())
	if err := a.Printf("\n"); err != nil {
		return err
	}
	if err := a.Table(w); err != nil {
		return err
	}
	if len(g.Budgets) == 0 {
		return nil
	}
	if err := a.Printf("\n"); err != nil {
		return err
	}
	return a.Table(limitTable(g.Budgets))
}

// programs is the line on programs.
func (g *generateDetails) programs() string {
	var names []string
	for _, p := range g.Programs {
		names = append(names, fmt.Sprintf("%s x%d", p.Name, p.Instances))
	}
	turns := ""
	if g.Turns > 0 {
		turns = fmt.Sprintf(", %d in turns", g.Turns)
	}
	return fmt.Sprintf("form %s: %d compiled, %d loaded%s (%s)", g.Form, g.Compiles, g.Loads, turns,
		strings.Join(names, ", "))
}
