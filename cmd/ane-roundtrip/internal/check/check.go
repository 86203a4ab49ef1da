package check

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/gpu"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/models"
)

// CheckRun is a run of check: its flags, and what it has found.
type CheckRun struct {
	App    *cli.App
	Repeat int // evaluations of each model that are timed

	required        []string // claims
	inject, pattern string
	trace           string
	gpuName         string // a device, gpu.Auto, or empty for none
	quiet, wasm     bool

	only    selection
	gpu     gpu.Device // nil without --gpu
	report  cli.Report
	details details
}

// Command returns the command check.
func Command(a *cli.App) *cobra.Command {
	c := &CheckRun{App: a}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Run every model and prove that no copy was made (the default)",
		Long: `check opens memory, runs every model on the engine, compares the results with
independent references and proves that no copy was made. Without --engine it
runs on the best engine of this machine. If that is the software engine, check
runs on it a second time, in a private broker, a process of its own.

The verdict says of the claim no-copy whether checks showed it, refuted it, or
could not show it on this machine. --require-shown no-copy has the latter fail.

--only PATTERN takes * for any text and ? for one character: 'identity/*'.
--gpu also proves that a GPU computes on a Block's own pages; without a GPU the
status is 3. --wasm runs a WebAssembly guest in place of the models, in whose
memory the engine multiplies matrices. --trace and --report evaluate every model
once more on a timeline; a failed check writes the report too.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd); err != nil {
				return err
			}
			if err := cli.Conflict(cmd, "quiet", "json", "which prints no tables"); err != nil {
				return err
			}
			for _, other := range []string{"only", "trace", "gpu", "require-shown"} {
				if c.wasm && cmd.Flags().Changed(other) {
					return cli.Badf("--%s goes with the models, which --wasm does not run; leave one of them out", other)
				}
			}
			return c.run(cmd.Context(), cmd.Flags().Changed("only"))
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.Repeat, cli.RepeatFlag, 200, "time `N` evaluations of each model")
	f.StringVar(&c.inject, "inject", "", "break the engine: `FAULT`, such as hidden-copy")
	f.StringVar(&c.pattern, "only", "", "run only the checks whose names match a `PATTERN`")
	f.StringArrayVar(&c.required, "require-shown", nil, "fail unless checks show a `CLAIM`: "+NoCopy)
	f.StringVar(&c.gpuName, "gpu", "", "check a GPU too: `DEVICE`, $"+gpu.EnvDevice+" or the best")
	f.Lookup("gpu").NoOptDefVal = gpu.Auto
	f.StringVar(&c.trace, "trace", "", "write a trace to `FILE`, as JSON for Perfetto")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "print only the failed checks and the verdict")
	f.BoolVar(&c.wasm, "wasm", false, "run a WebAssembly guest in place of the models")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// run runs the diagnostic and prints its report. chosen means that --only is given.
func (c *CheckRun) run(ctx context.Context, chosen bool) (err error) {
	a := c.App
	if c.Repeat < 1 || c.Repeat > cli.MaxRepeat {
		return cli.Badf("--repeat %d; give 1 to %d", c.Repeat, cli.MaxRepeat)
	}
	if c.inject == GPUCopy && c.gpuName == "" {
		return cli.Badf("--inject %s breaks a GPU; give --gpu too", GPUCopy)
	}
	if err := claimsKnown(c.required); err != nil {
		return err
	}
	wrap, err := injected(a, c.inject)
	if err != nil {
		return err
	}
	name, opts, err := a.EngineChoice() // wrong usage, also where there is no GPU
	if err != nil {
		return err
	}
	files, err := tensorfile.Stage(ctx, a, nil, c.trace)
	if err != nil {
		return err
	}
	defer files.Discard()
	if c.gpuName != "" {
		if err := limited(ctx, c.openGPU); err != nil {
			return c.unavailable(err)
		}
		defer func() { err = errors.Join(err, limited(context.WithoutCancel(ctx), c.gpu.Close)) }()
	}
	d, err := a.OpenEngine(ctx, wrap)
	if err != nil {
		return c.unavailable(err)
	}
	c.report = cli.NewReport(d)
	soft := d.Receipt().Engine == engine.Soft
	_, _, remote := d.Traffic()
	withBroker := a.Engine == engine.Auto && soft
	if chosen {
		c.only, c.details.LeftOut, err = only(c.pattern, remote, withBroker, c.gpu != nil)
		c.details.Only = c.pattern
	}
	if err == nil {
		err = c.draw(ctx, d, files)
	}
	if err != nil {
		return errors.Join(err, d.Close())
	}
	if err := c.add(ctx, d, ""); err != nil {
		return err
	}
	opts = append(opts, engine.Wrap(wrap))
	if soft { // also with tensors at an offset of the guest's memory, and all turns with a GPU are on one Block
		opts = append(opts, engine.AllowOffsets())
	}
	if c.wasm && soft {
		d, err := engine.Open(ctx, engine.Soft, opts...)
		if err == nil {
			err = c.add(ctx, d, "wasm/offset/")
		}
		if err != nil {
			return err
		}
	}
	if withBroker {
		if err := c.addBroker(ctx, wrap); err != nil {
			return err
		}
	}
	if c.gpu != nil && c.only.has(gpu.Names()...) {
		if err := limited(ctx, func(ctx context.Context) error { return c.checkGPU(ctx, name, opts) }); err != nil {
			return err
		}
	}
	return c.judge()
}

// unavailable delivers the verdict of an engine or a GPU that is not there, and returns err.
func (c *CheckRun) unavailable(err error) error {
	if errors.Is(err, ane.ErrUnavailable) {
		c.report = cli.NewReport(nil)
		c.report.View = View(c.quiet)
		c.App.Deliver(c.report)
	}
	return err
}

// draw evaluates every model on a timeline for --trace and --report.
func (c *CheckRun) draw(ctx context.Context, d *ane.Device, files *tensorfile.Files) error {
	if c.wasm || files.Trace == nil && c.App.ReportFile.File == nil {
		return nil
	}
	all, err := models.All()
	if err != nil {
		return err
	}
	var programs []ane.Source
	for _, m := range all {
		programs = append(programs, trial.Source(m))
	}
	if c.details.Timeline, err = timeline.Evaluate(ctx, d, files, nil, programs...); err != nil {
		return err
	}
	return files.Commit()
}

// add runs the checks on an engine, closes it, and adds the result.
func (c *CheckRun) add(ctx context.Context, d *ane.Device, prefix string) error {
	t, err := c.CheckEngine(ctx, d, prefix)
	c.details.Engines = append(c.details.Engines, t)
	c.details.Guests = append(c.details.Guests, t.guests...)
	c.report.Checks = append(c.report.Checks, t.Checks...)
	return err
}

// brokerPrefix is before the names of the checks of a private broker.
const brokerPrefix = engine.Broker + "/"

// addBroker runs the checks on the software engine in a private broker, a process of its own.
// Where no broker can start it adds one skipped check with the reason.
func (c *CheckRun) addBroker(ctx context.Context, wrap func(ane.Engine) ane.Engine) error {
	if !c.only.has(engineChecks(brokerPrefix, true)...) {
		return nil
	}
	opts, err := c.App.Arithmetic(engine.Broker)
	if err != nil {
		return err
	}
	d, err := engine.Open(ctx, engine.Broker, append(opts, engine.BrokerPath(""), engine.Wrap(wrap))...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if c.only.has(brokerAvailable) {
			c.report.Checks = append(c.report.Checks, trial.Skipped(brokerAvailable, "%s", cli.ErrorText(err)))
		}
		return nil
	}
	return c.add(ctx, d, brokerPrefix)
}

// gpuTime bounds the start and the end of a driver, and all checks of a GPU: drivers can hang.
const gpuTime = time.Minute

func limited(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, gpuTime)
	defer cancel()
	return f(ctx)
}

// openGPU opens the GPU of --gpu.
func (c *CheckRun) openGPU(ctx context.Context) (err error) {
	if c.gpu, err = gpu.Open(ctx, c.gpuName); err != nil {
		return err
	}
	about := c.gpu.Report()
	c.details.GPU = &about
	if c.inject == GPUCopy {
		c.gpu = gpu.Copying(c.gpu)
	}
	return nil
}

// checkGPU makes the checks of the GPU, which takes turns with an engine.
func (c *CheckRun) checkGPU(ctx context.Context, name string, opts []engine.Option) (err error) {
	e, err := engine.Open(ctx, name, opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	made, err := gpu.Checks(ctx, c.gpu, e, c.only.has)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(errors.New("the GPU did not answer in time"), err)
	}
	c.report.Checks = append(c.report.Checks, c.only.filter(made)...)
	return err
}

// details are the fields that check adds to the report.
type details struct {
	Models  []trial.Report `json:"models"` // of the first engine
	Engines []EngineResult `json:"engines"`
	Only    string         `json:"only,omitempty"`     // the pattern
	LeftOut int            `json:"left_out,omitempty"` // checks that do not match it
	GPU     *gpu.Report    `json:"gpu,omitempty"`      // of --gpu

	Guests   []trial.GuestReport `json:"guests,omitempty"`   // of --wasm
	Timeline *timeline.Record    `json:"timeline,omitempty"` // of the first engine, with --report or --trace
}

// judge delivers the report of all engines and returns cli.Failed if a check failed.
func (c *CheckRun) judge() error {
	r, engines := &c.report, c.details.Engines
	c.details.Models = engines[0].Rows
	for _, t := range engines {
		if len(engines) > 1 {
			r.Engines = append(r.Engines, t.Receipt)
		}
	}
	r.Details, r.View = c.details, View(c.quiet)
	failed := r.Judge()
	if !c.wasm {
		claim := claimOf(engines)
		r.Claims = []Claim{claim}
		if failed == nil {
			failed = requireShown(r, claim, c.required)
		}
	}
	c.App.Deliver(*r)
	return failed
}
