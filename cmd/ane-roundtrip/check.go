package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// maxIterations bounds --iterations: a day of microseconds.
const maxIterations = 1_000_000

// checkOptions are the flags of check.
type checkOptions struct {
	iterations int
	inject     string
	quiet      bool
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Run every model and prove that no copy was made (the default)",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.check(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.iterations, "iterations", 200, "timed evaluations of each model")
	f.StringVar(&o.inject, "inject", "", "break the engine on purpose, to see the checks fail: "+strings.Join(injections(), ", "))
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print what failed and the verdict, no tables")
	return cmd
}

// injections are the faults that the checks notice.
func injections() []string {
	var names []string
	for _, fault := range faulty.Faults() {
		if !fault.SuiteOnly {
			names = append(names, fault.Name)
		}
	}
	return names
}

// check runs the diagnostic and prints its report.
func (a *app) check(ctx context.Context, o checkOptions) error {
	if o.iterations < 1 || o.iterations > maxIterations {
		return badf("--iterations %d; give 1 to %d", o.iterations, maxIterations)
	}
	var wrap func(ane.Engine) ane.Engine
	if o.inject != "" {
		fault, ok := faulty.ByName(o.inject)
		if !ok || fault.SuiteOnly {
			return badf("there is no fault %q to inject; %schoose one of %s", o.inject, near.Hint(o.inject, injections()), strings.Join(injections(), ", "))
		}
		wrap = func(e ane.Engine) ane.Engine { return faulty.Wrap(e, fault) }
		a.logf("injected fault: %s (%s)", fault.Name, fault.What)
	}
	d, err := a.open(wrap)
	if errors.Is(err, ane.ErrUnavailable) {
		r := newReport("check", nil)
		r.Verdict, r.Error = verdictUnavailable, err.Error()
		return errors.Join(err, a.finish(r, nil, o.quiet))
	}
	if err != nil {
		return err
	}
	r := newReport("check", d)
	var all []trialled
	first, err := a.try(ctx, d, o.iterations)
	if err != nil {
		return err
	}
	all = append(all, first)
	if second, err := a.second(d.Receipt().Engine, wrap); second != nil {
		also, err := a.try(ctx, second, o.iterations)
		if err != nil {
			return err
		}
		all = append(all, also.named(second.Receipt().Engine))
	} else if err != nil {
		r.Checks = append(r.Checks, trial.Check{Name: engine.Broker + "/available", Status: trial.Skip, Detail: oneLine(err.Error())})
	}
	return a.judge(r, all, o.quiet)
}

// trialled is what was found out about one engine.
type trialled struct {
	receipt ane.Receipt
	rows    []trial.Report
	checks  []trial.Check
}

// named marks the checks as those of an engine that is not the first.
func (t trialled) named(engine string) trialled {
	for i := range t.checks {
		t.checks[i].Name = engine + "/" + t.checks[i].Name
	}
	return t
}

// second opens the engine that is checked besides the software engine when none
// was named: the same in a process of its own. Both results are nil when there is
// nothing to open.
func (a *app) second(first string, wrap func(ane.Engine) ane.Engine) (*ane.Device, error) {
	if a.engine != engine.Auto || first != engine.Soft {
		return nil, nil
	}
	return engine.Open(context.Background(), engine.Broker, engine.Wrap(wrap))
}

// try runs every check on an engine and closes it.
func (a *app) try(ctx context.Context, d *ane.Device, iterations int) (t trialled, err error) {
	before := unimem.Live()
	t.receipt = d.Receipt()
	t.rows, t.checks, err = a.measure(ctx, d, iterations)
	err = errors.Join(err, d.Close())
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.checks = append(t.checks, trial.Check{Name: "engine/error", Status: trial.Fail, Detail: oneLine(err.Error())})
	}
	after := unimem.Live()
	leaked := after.Blocks - before.Blocks + after.Mappings - before.Mappings
	t.checks = append(t.checks, trial.Judge("memory/closed", leaked == 0, float64(leaked), "blocks",
		"%d surfaces and mappings are open after everything was closed", leaked))
	return t, nil
}

// judge prints the report of all engines.
func (a *app) judge(r report, all []trialled, quiet bool) error {
	var details []engineDetails
	for _, t := range all {
		r.Checks = append(r.Checks, t.checks...)
		for i := range t.rows {
			t.rows[i].MaxError = finite(t.rows[i].MaxError)
		}
		details = append(details, engineDetails{t.receipt.Engine, t.rows})
		if len(all) > 1 {
			r.Engines = append(r.Engines, t.receipt)
		}
	}
	for _, c := range r.Checks {
		if c.Status == trial.Fail {
			r.Verdict = verdictFail
		}
	}
	r.Details = struct {
		Models  []trial.Report  `json:"models"` // of the first engine
		Engines []engineDetails `json:"engines"`
	}{details[0].Models, details}
	if err := a.finish(r, all, quiet); err != nil {
		return err
	}
	if r.Verdict != verdictPass {
		return errFailed
	}
	return nil
}

// engineDetails are the figures of one engine.
type engineDetails struct {
	Engine string         `json:"engine"`
	Models []trial.Report `json:"models"`
}

// measure checks every model, then collects the evidence.
func (a *app) measure(ctx context.Context, d *ane.Device, iterations int) (rows []trial.Report, checks []trial.Check, err error) {
	all, err := models.All()
	if err != nil {
		return nil, nil, err
	}
	all, checks = withReplay(d, all)
	bar := a.progress(len(all) + 1)
	defer bar.stop()
	copied, strays, changed := 0, 0, 0
	for _, m := range all {
		bar.now(m.Name)
		row, err := trial.Model(ctx, d, m, iterations)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			row.Error = oneLine(err.Error())
			checks = append(checks, trial.Judge(m.Name+"/run", false, 0, "", "%s", row.Error))
		}
		rows = append(rows, row)
		checks = append(checks, row.Checks...)
		copied, strays, changed = copied+row.Copied, strays+row.Strays, changed+row.Changed
		bar.done()
	}
	bar.now("evidence")
	evidence, err := trial.Evidence(ctx, d)
	checks = append(checks, evidence...)
	checks = append(checks,
		trial.Judge("memory/copies", copied == 0, float64(copied), "bytes", "%d tensor bytes of all models were reached through a copy", copied),
		trial.Judge("memory/neighbours", strays == 0, float64(strays), "bytes", "%d bytes changed behind tensors and in the cells around them", strays),
		trial.Judge("memory/inputs", changed == 0, float64(changed), "bytes", "%d bytes of inputs changed during evaluation", changed))
	return rows, checks, err
}
