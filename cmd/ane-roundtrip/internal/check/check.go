package check

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/gpu"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models"
)

// checkOptions are the flags of check.
type checkOptions struct {
	repeat       int
	required     []string // claims
	inject, only string
	trace        string
	gpu          string // a device, gpu.Auto, or empty for none
	quiet        bool
	wasm         bool
}

// Command returns the command check.
func Command(a *cli.App) *cobra.Command {
	var o checkOptions
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
				if o.wasm && cmd.Flags().Changed(other) {
					return cli.Badf("--%s goes with the models, which --wasm does not run; leave one of them out", other)
				}
			}
			if !cmd.Flags().Changed("only") {
				return check(a, cmd.Context(), o, nil)
			}
			return check(a, cmd.Context(), o, &o.only)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.repeat, cli.RepeatFlag, 200, "time `N` evaluations of each model")
	f.StringVar(&o.inject, "inject", "", "break the engine: `FAULT`, such as hidden-copy")
	f.StringVar(&o.only, "only", "", "run only the checks whose names match a `PATTERN`")
	f.StringArrayVar(&o.required, "require-shown", nil, "fail unless checks show a `CLAIM`: "+
		strings.Join(ClaimNames(), ", "))
	f.StringVar(&o.gpu, "gpu", "", "check a GPU too: `DEVICE`, $"+gpu.EnvDevice+" or the best")
	f.Lookup("gpu").NoOptDefVal = gpu.Auto
	f.StringVar(&o.trace, "trace", "", "write a trace to `FILE`, as JSON for Perfetto")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the failed checks and the verdict")
	f.BoolVar(&o.wasm, "wasm", false, "run a WebAssembly guest in place of the models")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// blindMeter is the fault of a measurement of memory that sees no copies: what it measures shows nothing.
const blindMeter = "blind-meter"

// GPUCopy is the fault of a GPU that works on a copy of a Block.
const GPUCopy = "gpu-copy"

// CheckRun holds the state of one run of check.
type CheckRun struct {
	App      *cli.App
	Repeat   int
	quiet    bool
	wasm     bool
	required []string
	meter    trial.Meter // of the memory of this process; nil for the usual one
	only     selection
	leftOut  int // checks that --only leaves out
	timeline *timeline.Record
	report   cli.Report
	claims   []Claim
	gpu      gpu.Device // nil without --gpu
	ofGPU    []trial.Check
}

// check runs the diagnostic and prints its report. pattern is nil for all checks.
func check(a *cli.App, ctx context.Context, o checkOptions, pattern *string) (err error) {
	if o.repeat < 1 || o.repeat > cli.MaxRepeat {
		return cli.Badf("--repeat %d; give 1 to %d", o.repeat, cli.MaxRepeat)
	}
	if o.inject == GPUCopy && o.gpu == "" {
		return cli.Badf("--inject %s breaks a GPU; give --gpu too", GPUCopy)
	}
	if err := claimsKnown(o.required); err != nil {
		return err
	}
	wrap, err := inject(a, o.inject)
	if err != nil {
		return err
	}
	if _, _, err := a.EngineChoice(); err != nil { // wrong usage, also where there is no GPU
		return err
	}
	traced, err := tensorfile.StageTrace(a, o.trace, nil)
	if err != nil {
		return err
	}
	if traced != nil {
		defer traced.Discard()
		defer context.AfterFunc(ctx, traced.Discard)() // an interrupt removes a half-written file
	}
	c := &CheckRun{App: a, Repeat: o.repeat, quiet: o.quiet, wasm: o.wasm, required: o.required}
	if o.inject == blindMeter {
		c.meter = trial.BlindMeter
	}
	if c.gpu, err = openGPU(a, ctx, o); err != nil {
		return unavailable(a, err)
	}
	defer func() { err = errors.Join(err, c.closeGPU(ctx)) }()
	d, err := a.OpenEngine(ctx, wrap)
	if err != nil {
		return unavailable(a, err)
	}
	c.report = cli.NewReport(d)
	withBroker := a.Engine == engine.Auto && d.Receipt().Engine == engine.Soft
	if pattern != nil {
		_, _, remote := d.Traffic()
		engines := map[string]bool{"": remote}
		if withBroker {
			engines[engine.Broker+"/"] = true
		}
		if c.only, c.leftOut, err = only(*pattern, engines, c.gpu != nil); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	if !o.wasm && (traced != nil || a.ReportFile.File != nil) {
		if c.timeline, err = traceModels(ctx, d, o.trace, traced); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	first, err := c.CheckEngine(ctx, d)
	if err != nil {
		return err
	}
	all := []EngineResult{first}
	if o.wasm && first.Receipt.Engine == engine.Soft {
		second, err := c.checkOffsets(ctx, wrap)
		if err != nil {
			return err
		}
		all = append(all, second)
	}
	if withBroker {
		second, err := c.checkBroker(ctx, wrap)
		if err != nil {
			return err
		}
		all = append(all, second...)
	}
	if err := c.checkGPU(ctx, wrap); err != nil {
		return err
	}
	return c.judge(all)
}

// unavailable prints the verdict of an engine or a GPU that is not there, and returns err.
func unavailable(a *cli.App, err error) error {
	if errors.Is(err, ane.ErrUnavailable) && !a.JSON {
		return errors.Join(err, a.Printf("verdict: %s\n", cli.Paint(a.Out, cli.VerdictUnavailable)))
	}
	return err
}

// traceModels returns the record of one evaluation of every model, and writes it to traced, the file of path, unless
// that is nil.
// Without a file an engine that cannot run a model has no record: the checks say why.
func traceModels(ctx context.Context, d *ane.Device, path string, traced *wholefile.File) (*timeline.Record, error) {
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	var programs []timeline.Program
	for _, m := range all {
		programs = append(programs, timeline.Program{Source: ane.Source{File: m.Name + ".mil", Program: m.Program,
			Weights: m.Weights}})
	}
	if traced == nil {
		record, _ := timeline.RecordTrace(ctx, d, "", io.Discard, programs)
		return record, ctx.Err()
	}
	record, err := timeline.RecordTrace(ctx, d, path, traced, programs)
	if err != nil {
		return nil, err
	}
	return record, cli.WriteError(path, traced.Commit())
}

// checkBroker runs the checks on the software engine in a private broker, a process of its own.
// Where no broker can start it adds one skipped check with the reason.
func (c *CheckRun) checkBroker(ctx context.Context, wrap func(ane.Engine) ane.Engine) ([]EngineResult, error) {
	const prefix, available = engine.Broker + "/", engine.Broker + "/available"
	part := *c
	part.only.prefix = prefix
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	if !part.only.has(CheckNames(all, true)...) {
		return nil, nil
	}
	opts, err := c.App.Arithmetic(engine.Broker)
	if err != nil {
		return nil, err
	}
	d, err := engine.Open(ctx, engine.Broker, append(opts, engine.BrokerPath(""), engine.Wrap(wrap))...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		if c.only.has(available) {
			c.report.Checks = append(c.report.Checks, trial.Skipped(available, "%s", cli.ErrorText(err)))
		}
		return nil, nil
	}
	t, err := part.CheckEngine(ctx, d)
	if err != nil {
		return nil, err
	}
	return []EngineResult{t.withPrefix(prefix)}, nil
}

// checkOffsets runs the guest on the software engine with tensors at an offset of the guest's memory.
func (c *CheckRun) checkOffsets(ctx context.Context, wrap func(ane.Engine) ane.Engine) (t EngineResult, err error) {
	_, opts, err := c.App.EngineChoice()
	if err != nil {
		return t, err
	}
	d, err := engine.Open(ctx, engine.Soft, append(opts, engine.Wrap(wrap), engine.AllowOffsets())...)
	if err != nil {
		return t, err
	}
	t, err = c.CheckEngine(ctx, d)
	for i := range t.Checks {
		if n := &t.Checks[i].Name; *n == memoryClosed || *n == engineError {
			*n = "wasm/offset/" + *n
		}
	}
	return t, err
}

// checkDetails are the fields that check adds to the report.
type checkDetails struct {
	Models  []trial.Report  `json:"models"` // of the first engine
	Engines []engineDetails `json:"engines"`
	Only    string          `json:"only,omitempty"`     // the pattern
	LeftOut int             `json:"left_out,omitempty"` // checks that do not match it
	GPU     *gpu.Report     `json:"gpu,omitempty"`      // of --gpu

	Guests   []trial.GuestReport `json:"guests,omitempty"`   // of --wasm
	Timeline *timeline.Record    `json:"timeline,omitempty"` // of the first engine, with --report or --trace
}

// engineDetails are the figures of one engine.
type engineDetails struct {
	Engine string         `json:"engine"`
	Models []trial.Report `json:"models"`
	Memory []memoryPoint  `json:"memory"`
}

// judge prints the report of all engines and returns errFailed if a check failed.
func (c *CheckRun) judge(all []EngineResult) error {
	r := &c.report
	details := checkDetails{Only: c.only.pattern, LeftOut: c.leftOut, Timeline: c.timeline}
	for _, t := range all {
		r.Checks = append(r.Checks, t.Checks...)
		details.Engines = append(details.Engines, engineDetails{t.Receipt.Engine, t.Rows, t.memory})
		details.Guests = append(details.Guests, t.guests...)
		if len(all) > 1 {
			r.Engines = append(r.Engines, t.Receipt)
		}
	}
	details.Models = details.Engines[0].Models
	r.Checks = append(r.Checks, c.ofGPU...)
	if c.gpu != nil {
		about := c.gpu.Report()
		details.GPU = &about
	}
	r.Details = details
	if !c.wasm {
		c.claims = claimsOf(all)
		r.Claims = c.claims
	}
	failed := r.Judge()
	if failed == nil {
		failed = requireShown(r, c.claims, c.required)
	}
	c.App.Deliver(*r)
	if c.App.JSON {
		return failed
	}
	if err := c.print(all); err != nil {
		return err
	}
	return failed
}
