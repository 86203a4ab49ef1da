package generate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/models/decoder"
)

// planDetails are the fields that generate --plan adds to the report.
type planDetails struct {
	Model        string       `json:"model"`
	Architecture string       `json:"architecture"`
	Form         string       `json:"form"`
	Chip         string       `json:"chip"`    // or all: the lowest limit of each kind
	Context      int          `json:"context"` // tokens that a session has room for
	Chunk        int          `json:"chunk"`   // tokens of a pass over a prompt
	Stored       int64        `json:"stored_bytes"`
	Keys         int64        `json:"kv_reserved_bytes"`
	Programs     []programRow `json:"programs"`
	Compiles     int          `json:"compiles"`
	Loads        int          `json:"loads"`
	Turns        int          `json:"loads_in_turns"`
	Budgets      []budgetRow  `json:"budgets"`
}

// checkPlan refuses flags that go with a run alone, and --chip that goes with a plan alone.
func (o *generateOptions) checkPlan(cmd *cobra.Command) error {
	if !o.plan {
		if cmd.Flags().Changed("chip") {
			return cli.Badf("--chip is for --plan; give both, or --emulate for a run within the limits of a chip")
		}
		return nil
	}
	for _, name := range []string{"prompt", "tokens", "max", "temperature", "top-p", "seed", "snapshot", "quiet", "engine",
		"broker", "numerics", "emulate", "require-ane"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return cli.Badf("--%s is for a run, and --plan runs nothing; leave one of them out", name)
		}
	}
	return nil
}

// planModel prints the programs of a model beside the limits of a chip. It opens no engine.
func planModel(a *cli.App, o generateOptions) (err error) {
	form := decoder.Engine
	if err := o.checkForm(); err != nil {
		return err
	}
	if o.form != "" {
		form, _ = decoder.ParseForm(o.form) // checkForm has accepted it
	}
	options := []decoder.Option{decoder.WithForm(form)}
	d := &planDetails{Model: o.model, Form: form.String(), Chip: "all"}
	if o.chip != d.Chip {
		c, err := chip.Parse(o.chip)
		if err != nil {
			return cli.Bad(err)
		}
		d.Chip = c.String()
		options = append(options, decoder.Chip(c))
	}
	switch {
	case o.model == "":
		return cli.Badf("no model; give --model FOLDER")
	case o.context < 0:
		return cli.Badf("--context %d; give a number of tokens", o.context)
	}
	if err := a.ReadsModel(o.model); err != nil {
		return err
	}
	f, err := decoder.Open(o.model)
	if err != nil {
		return badModel(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := checkContext(o.context, f.Config()); err != nil {
		return err
	}
	p, err := decoder.Predict(f, append(options, decoder.Context(o.context))...)
	if err != nil {
		return badModel(err)
	}
	d.Architecture, d.Stored, d.Keys = f.Config().Architecture, f.Bytes(), p.CacheBytes
	d.Context, d.Chunk = p.Context, p.Chunk
	d.Programs, d.Budgets = programRows(p), budgetRows(p)
	d.Compiles, d.Loads, d.Turns = p.Compiles, p.Loads, p.Turns
	r := cli.NewReport(nil)
	r.Details = d
	a.Deliver(r)
	if !a.JSON {
		if err := d.print(a); err != nil {
			return err
		}
	}
	return d.over()
}

// over refuses a model that is beyond a limit.
func (d *planDetails) over() error {
	var names []string
	for _, b := range d.Budgets {
		if b.over() {
			names = append(names, fmt.Sprintf("%s: %d, at most %d", b.Name, b.Used, *b.Limit))
		}
	}
	if names == nil {
		return nil
	}
	return cli.Badf("the model is beyond limits of the chip: %s; choose another --form, --chip or --context",
		strings.Join(names, "; "))
}

// print writes the tables.
func (d *planDetails) print(a *cli.App) error {
	size := func(n int64) string { return measure.BytesText(int(n)) }
	w := page.NewTable()
	w.Row("model", fmt.Sprintf("%s, %s of weights as stored", d.Architecture, size(d.Stored)))
	w.Row("form", fmt.Sprintf("%s, chip %s", d.Form, d.Chip))
	w.Row("keys, values", fmt.Sprintf("%s for %d tokens", size(d.Keys), d.Context))
	w.Row("pass", fmt.Sprintf("%d tokens of a prompt", d.Chunk))
	w.Row("programs", fmt.Sprintf("%d compiled, %d loaded, %d in turns", d.Compiles, d.Loads, d.Turns))
	programs := page.NewTable("program", "layers", "instances", "operations", "bytes of weights", "in all")
	for _, p := range d.Programs {
		programs.Row(p.Name, fmt.Sprint(p.Layers), fmt.Sprint(p.Instances), fmt.Sprint(p.Operations),
			fmt.Sprint(p.Weights), size(p.Weights*int64(p.Instances)))
	}
	tables := []*page.Table{w, programs}
	if len(d.Budgets) > 0 {
		tables = append(tables, limitTable(d.Budgets))
	}
	return a.Tables(tables...)
}
