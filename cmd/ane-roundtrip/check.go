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

// maxIterations bounds --iterations and --repeat.
const maxIterations = 1_000_000

// checkOptions are the flags of check.
type checkOptions struct {
	iterations   int
	inject, only string
	quiet        bool
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Run every model and prove that no copy was made (the default)",
		Long: `check opens memory, runs every model on the engine, compares the results with
independent references and proves that no copy was made. Without --engine it
takes the best engine of this machine and, where that is the software engine,
the same in a process of its own too.

--only PATTERN makes the checks whose names match, for instance 'identity/*',
'*/copies' or 'broker/memory/*'; * stands for any text, ? for one character.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.quiet && a.json {
				return badf("--quiet has no effect beside --json, which prints no tables; leave one of them out")
			}
			if !cmd.Flags().Changed("only") {
				return a.check(cmd.Context(), o, nil)
			}
			return a.check(cmd.Context(), o, &o.only)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.iterations, "iterations", 200, "timed evaluations of each model")
	f.StringVar(&o.inject, "inject", "", "break the engine on purpose, to see the checks fail: "+
		strings.Join(injections(), ", "))
	f.StringVar(&o.only, "only", "", "make only the checks whose names match this `pattern`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print what failed and the verdict, no tables")
	a.reportFlag(cmd)
	a.engineFlags(cmd)
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

// inject reads the value of --inject; nil for none.
func (a *app) inject(name string) (wrap func(ane.Engine) ane.Engine, err error) {
	if name == "" {
		return nil, nil
	}
	fault, ok := faulty.ByName(name)
	if !ok || fault.SuiteOnly {
		return nil, badf("there is no fault %q to inject; %s", name, near.Choices(name, "choose one of", injections()))
	}
	a.injected = fault.Name
	a.logf("injected fault: %s (%s)", fault.Name, fault.What)
	return func(e ane.Engine) ane.Engine { return faulty.Wrap(e, fault) }, nil
}

// checkRun is a run of check with its flags read.
type checkRun struct {
	app        *app
	iterations int
	quiet      bool
	only       selection
	left       int // checks that --only leaves out
	report     report
}

// check runs the diagnostic and prints its report. pattern is nil for all checks.
func (a *app) check(ctx context.Context, o checkOptions, pattern *string) error {
	if o.iterations < 1 || o.iterations > maxIterations {
		return badf("--iterations %d; give 1 to %d", o.iterations, maxIterations)
	}
	wrap, err := a.inject(o.inject)
	if err != nil {
		return err
	}
	d, err := a.open(ctx, wrap)
	if errors.Is(err, ane.ErrUnavailable) && !a.json {
		return errors.Join(err, a.printf("verdict: %s\n", paint(a.out, verdictUnavailable)))
	}
	if err != nil {
		return err
	}
	c := &checkRun{app: a, iterations: o.iterations, quiet: o.quiet, report: newReport(d)}
	twice := a.engine == engine.Auto && d.Receipt().Engine == engine.Soft
	if pattern != nil {
		_, _, apart := d.Traffic()
		engines := map[string]bool{"": apart}
		if twice {
			engines[engine.Broker+"/"] = true
		}
		if c.only, c.left, err = only(*pattern, engines); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	first, err := c.try(ctx, d)
	if err != nil {
		return err
	}
	all := []trialled{first}
	if twice {
		second, err := c.second(ctx, wrap)
		if err != nil {
			return err
		}
		all = append(all, second...)
	}
	return c.judge(all)
}

// second tries the software engine in a process of its own, a private one. Where there is
// none a check that was left out says so.
func (c *checkRun) second(ctx context.Context, wrap func(ane.Engine) ane.Engine) ([]trialled, error) {
	const prefix, available = engine.Broker + "/", engine.Broker + "/available"
	part := *c
	part.only.prefix = prefix
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	if !part.only.has(checkNames(all, true)...) {
		return nil, nil
	}
	d, err := engine.Open(ctx, engine.Broker, engine.BrokerPath(""), engine.Wrap(wrap))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		if c.only.has(available) {
			c.report.Checks = append(c.report.Checks, trial.Skipped(available, "%s", oneLine(err.Error())))
		}
		return nil, nil
	}
	t, err := part.try(ctx, d)
	if err != nil {
		return nil, err
	}
	return []trialled{t.named(prefix)}, nil
}

// trialled is what was found out about one engine.
type trialled struct {
	receipt ane.Receipt
	rows    []trial.Report
	checks  []trial.Check
}

// named marks the checks as those of an engine that is not the first.
func (t trialled) named(prefix string) trialled {
	for i := range t.checks {
		t.checks[i].Name = prefix + t.checks[i].Name
	}
	return t
}

// try runs the checks on an engine and closes it.
func (c *checkRun) try(ctx context.Context, d *ane.Device) (t trialled, err error) {
	before := unimem.Live()
	t.receipt = d.Receipt()
	t.rows, t.checks, err = c.measure(ctx, d)
	err = errors.Join(err, d.Close())
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.checks = append(t.checks, trial.Judge(engineError, false, 0, "", "%s", oneLine(err.Error())))
	}
	after := unimem.Live()
	leaked := after.Blocks - before.Blocks + after.Mappings - before.Mappings
	t.checks = append(t.checks, trial.Judge(memoryClosed, leaked == 0, float64(leaked), "blocks",
		"%d surfaces and mappings are open after everything was closed", leaked).Against(trial.Within(0, 0)))
	t.checks = c.only.filter(t.checks)
	return t, nil
}

// checkDetails are the figures of check.
type checkDetails struct {
	Models  []trial.Report  `json:"models"` // of the first engine
	Engines []engineDetails `json:"engines"`
	Only    string          `json:"only,omitempty"`     // the pattern
	LeftOut int             `json:"left_out,omitempty"` // checks that do not match it
}

// engineDetails are the figures of one engine.
type engineDetails struct {
	Engine string         `json:"engine"`
	Models []trial.Report `json:"models"`
}

// judge prints the report of all engines.
func (c *checkRun) judge(all []trialled) error {
	r := &c.report
	details := checkDetails{Only: c.only.pattern, LeftOut: c.left}
	for _, t := range all {
		r.Checks = append(r.Checks, t.checks...)
		details.Engines = append(details.Engines, engineDetails{t.receipt.Engine, t.rows})
		if len(all) > 1 {
			r.Engines = append(r.Engines, t.receipt)
		}
	}
	details.Models = details.Engines[0].Models
	r.Details = details
	failed := r.judge()
	c.app.deliver(*r)
	if c.app.json {
		return failed
	}
	if err := c.print(all); err != nil {
		return err
	}
	return failed
}

// measure checks every model, then collects the evidence.
func (c *checkRun) measure(ctx context.Context, d *ane.Device) (rows []trial.Report, checks []trial.Check, err error) {
	rows = []trial.Report{}
	all, err := models.All()
	if err != nil {
		return rows, nil, err
	}
	all, checks = withReplay(d, all)
	bar := c.app.progress(len(all) + 1)
	defer bar.stop()
	copied, strays, changed, ran := 0, 0, 0, 0
	sums := c.only.has(memoryCopies, memoryNeighbor, memoryInputs)
	for _, m := range all {
		bar.now(m.Name)
		if !sums && !c.only.has(trial.ModelChecks(m.Name)...) {
			continue
		}
		row, err := trial.Model(ctx, d, m, c.iterations)
		if ctx.Err() != nil {
			return rows, nil, ctx.Err()
		}
		if err != nil {
			row.Error = oneLine(err.Error())
			checks = append(checks, trial.Judge(m.Name+runSuffix, false, 0, "", "%s", row.Error))
		} else {
			ran++
		}
		rows = append(rows, row)
		checks = append(checks, row.Checks...)
		copied, strays, changed = copied+row.Copied, strays+row.Strays, changed+row.Changed
		bar.done()
	}
	bar.now("evidence")
	evidence, err := trial.Evidence(ctx, d, c.only.has)
	checks = append(checks, evidence...)
	for _, sum := range []struct {
		name  string
		bytes int
		what  string
	}{
		{memoryCopies, copied, "tensor bytes were reached through a copy"},
		{memoryNeighbor, strays, "bytes changed behind tensors and in the cells around them"},
		{memoryInputs, changed, "bytes of inputs changed during evaluation"},
	} {
		if ran == 0 {
			checks = append(checks, trial.Skipped(sum.name, "no model ran"))
			continue
		}
		checks = append(checks, trial.Judge(sum.name, sum.bytes == 0, float64(sum.bytes), "bytes",
			"%d %s, in %s", sum.bytes, sum.what, counted(ran, "model", "models")).Against(trial.AtMost(0)))
	}
	return rows, checks, err
}
