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
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/step"
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
	capture         string // file; empty for none
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
memory the engine multiplies matrices, and with --gpu the GPU too. --trace and
--report evaluate every model once more on a timeline; a failed check writes
the report too.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd); err != nil {
				return err
			}
			if err := cli.Conflict(cmd, "quiet", "json", "which prints no tables"); err != nil {
				return err
			}
			for _, other := range []string{"only", "trace", "require-shown"} {
				if c.wasm && cmd.Flags().Changed(other) {
					return cli.Badf("--%s goes with the models, which --wasm does not run; leave one of them out", other)
				}
			}
			chosen := cmd.Flags().Changed("only")
			return step.Run(cmd.Context(), func(t *step.T) { c.run(t, chosen) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.Repeat, cli.RepeatFlag, 200, "time `N` evaluations of each model")
	f.StringVar(&c.inject, "inject", "", "break the engine: `FAULT`, such as hidden-copy")
	f.StringVar(&c.pattern, "only", "", "run only the checks whose names match a `PATTERN`")
	f.StringArrayVar(&c.required, "require-shown", nil, "fail unless checks show a `CLAIM`: "+NoCopy)
	f.StringVar(&c.gpuName, "gpu", "", "check a GPU too: `DEVICE`, $"+gpu.EnvDevice+" or the best")
	f.Lookup("gpu").NoOptDefVal = gpu.Auto
	f.StringVar(&c.capture, "capture", "", "write what a Mac's GPU does to `FILE`.gputrace, for Xcode")
	f.StringVar(&c.trace, "trace", "", "write a trace to `FILE`, as JSON for Perfetto")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "print only the failed checks and the verdict")
	f.BoolVar(&c.wasm, "wasm", false, "run a WebAssembly guest in place of the models")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// run runs the diagnostic and delivers its report. chosen means that --only is given.
func (c *CheckRun) run(t *step.T, chosen bool) {
	a := c.App
	if c.Repeat < 1 || c.Repeat > cli.MaxRepeat {
		step.NoError(cli.Badf("--repeat %d; give 1 to %d", c.Repeat, cli.MaxRepeat))
	}
	if c.inject == GPUCopy && c.gpuName == "" {
		step.NoError(cli.Badf("--inject %s breaks a GPU; give --gpu too", GPUCopy))
	}
	if c.capture != "" && c.gpuName == "" {
		step.NoError(cli.Badf("--capture writes what a GPU does; give --gpu too"))
	}
	step.NoError(claimsKnown(c.required))
	wrap := step.Must(injected(a, c.inject))
	name, opts, err := a.EngineChoice() // wrong usage, also where there is no GPU
	step.NoError(err)
	files := step.Must(tensorfile.Stage(t.Ctx, a, nil, c.trace))
	defer files.Discard()
	if c.gpuName != "" {
		c.available(limited(t.Ctx, c.openGPU))
		t.Later(func(ctx context.Context) error { return limited(ctx, c.gpu.Close) })
	}
	d, err := a.OpenEngine(t.Ctx, wrap)
	c.available(err)
	c.report = cli.NewReport(d)
	soft := d.Receipt().Engine == engine.Soft
	_, _, remote := access.Traffic(d)
	withBroker := a.Engine == engine.Auto && soft
	if err := step.Catch(func() {
		if chosen {
			c.only, c.details.LeftOut, err = only(c.pattern, remote, withBroker, c.gpu != nil)
			c.details.Only = c.pattern
			step.NoError(err)
		}
		if !c.wasm && (files.Trace != nil || a.ReportFile.File != nil) {
			var programs []ane.Source
			for _, m := range step.Must(models.All()) {
				programs = append(programs, trial.Source(m))
			}
			c.details.Timeline = step.Must(timeline.Evaluate(t.Ctx, d, files, nil, programs...))
			step.NoError(files.Commit())
		}
	}); err != nil {
		step.NoError(errors.Join(err, d.Close()))
	}
	c.add(t, d, "")
	opts = append(opts, engine.Wrap(wrap))
	if soft { // also with tensors at an offset of the guest's memory, and all turns with a GPU are on one Block
		opts = append(opts, engine.AllowOffsets())
	}
	if c.wasm && soft {
		c.add(t, step.Must(engine.Open(t.Ctx, engine.Soft, opts...)), "wasm/offset/")
	}
	if withBroker && c.only.has(engineChecks(brokerPrefix, true)...) {
		c.addBroker(t, wrap)
	}
	if c.gpu != nil && (c.wasm || c.only.has(gpu.Names()...)) {
		checks := func() error {
			return limited(t.Ctx, func(ctx context.Context) error {
				return step.Run(ctx, func(t *step.T) { c.checkGPU(t, name, opts) })
			})
		}
		if c.capture == "" {
			step.NoError(checks())
		} else {
			c.available(c.gpu.Capture(c.capture, checks))
		}
	}
	c.judge()
}

// available ends the run, with a verdict, if an engine or a GPU is not there.
func (c *CheckRun) available(err error) {
	if errors.Is(err, ane.ErrUnavailable) {
		c.report = cli.NewReport(nil)
		c.report.View = View(c.quiet)
		c.App.Deliver(c.report)
	}
	step.NoError(err)
}

// add runs the checks on an engine, closes it, and adds the result.
func (c *CheckRun) add(t *step.T, d *ane.Device, prefix string) {
	r, err := c.CheckEngine(t.Ctx, d, prefix)
	c.details.Engines = append(c.details.Engines, r)
	c.details.Guests = append(c.details.Guests, r.guests...)
	c.report.Checks = append(c.report.Checks, r.Checks...)
	step.NoError(err)
}

// brokerPrefix is before the names of the checks of a private broker.
const brokerPrefix = engine.Broker + "/"

// addBroker runs the checks on the software engine in a private broker, a process of its own.
// Where no broker can start it adds one skipped check with the reason.
func (c *CheckRun) addBroker(t *step.T, wrap func(ane.Engine) ane.Engine) {
	opts := append(step.Must(c.App.Arithmetic(engine.Broker)), engine.BrokerPath(""), engine.Wrap(wrap))
	d, err := engine.Open(t.Ctx, engine.Broker, opts...)
	step.NoError(t.Ctx.Err())
	switch {
	case err == nil:
		c.add(t, d, brokerPrefix)
	case c.only.has(brokerAvailable):
		c.report.Checks = append(c.report.Checks, trial.Skipped(brokerAvailable, "%s", cli.ErrorText(err)))
	}
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
func (c *CheckRun) checkGPU(t *step.T, name string, opts []engine.Option) {
	e := step.Must(engine.Open(t.Ctx, name, opts...))
	t.Closing(e.Close)
	var made []trial.Check
	var err error
	if c.wasm {
		made, err = trial.GuestGPU(t.Ctx, e, c.gpu.Kernels())
	} else {
		made, err = gpu.Checks(t.Ctx, c.gpu, e, c.only.has)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("the GPU did not answer in time"), err)
	}
	step.NoError(err)
	c.report.Checks = append(c.report.Checks, c.only.filter(made)...)
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

// judge delivers the report of all engines. The run ends with cli.Failed if a check failed.
func (c *CheckRun) judge() {
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
	step.NoError(failed)
}
