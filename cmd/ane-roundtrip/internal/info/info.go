package info

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/observe"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/objcbridge"
)

// Command returns the command info.
func Command(a *cli.App) *cobra.Command {
	var attributes string
	cmd := &cobra.Command{
		Use:   "info [--attributes FILE | --report FILE]",
		Short: "Print the engines of this machine, and why others are missing",
		Long: `info prints the engines of this machine, and why others are not available. For
an engine that uses a framework it also prints the device as the framework
reports it, and every method that anekit calls, with the expected and the found
type encoding. With --json the field "dump" holds the answers of the framework
in a form that the stand-in engine replays.

--report FILE.json writes such a dump to a file, with the round trip of every
model and the reason of every failure. Attach that file to an issue if anekit
fails on a Mac. It contains no user name, no host name, no serial number, and
only paths of temporary and system files. info writes the file even if the round
trip fails; the exit status is that of the round trip. --report FILE.html writes
a page of the same, for reading: it may contain paths of this machine.

--attributes FILE reads the modelAttributes of a compiled program, as JSON or as
the XML property list that macOS prints, alone or within a dump. It prints how
anekit places each tensor, or why it cannot (exit status 2).`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("attributes") {
				a.ReportFile.DumpAlone = true
				if err := a.BeginReport(cmd); err != nil {
					return err
				}
				return step.Run(cmd.Context(), func(t *step.T) { inspect(t, a) })
			}
			for _, idle := range []string{"engine", "broker", "require-ane"} {
				if err := cli.Conflict(cmd, idle, "attributes", "which opens no engine"); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("report") {
				return cli.Badf("--attributes and --report exclude each other; give one of them")
			}
			return printAttributes(a, attributes)
		},
	}
	f := cmd.Flags()
	f.StringVar(&attributes, "attributes", "", "print how anekit places the tensors of the compiled program in `FILE`")
	f.StringVar(&a.ReportFile.Path, "report", "",
		"write a dump of this machine, with a round trip, to `FILE`.json, or a page to FILE.html")
	a.JSONFlag(cmd)
	a.EngineFlags(cmd)
	return cmd
}

// reportIterations is how often a report evaluates each model for its timings.
const reportIterations = 200

// inspect delivers the engines of this machine and its dump, for --report with a round trip. On a Mac without --engine
// the dump is of Apple's engine, also where the command falls back to another one.
func inspect(t *step.T, a *cli.App) {
	name, _, err := a.EngineChoice()
	step.NoError(err)
	if name == engine.Auto && host.Apple {
		name = engine.Apple
	}
	var d *ane.Device
	o := &observe.Observation{} // empty for an engine without a framework
	if name == engine.Apple || name == engine.StandIn && !a.RequireApple {
		d, o, err = observe.Open(t.Ctx, name)
	} else {
		d, err = a.OpenEngine(t.Ctx, nil)
	}
	t.Closing(d.Close)
	unavailable, checks := err, a.ReportFile.File != nil
	if !errors.Is(err, ane.ErrUnavailable) || t.Ctx.Err() != nil {
		step.NoError(cmp.Or(t.Ctx.Err(), err))
	} else if !checks { // auto falls back to another one, and the error has a hint
		d, err = a.OpenEngine(t.Ctx, nil)
		t.Closing(d.Close)
	}
	r := cli.NewReport(d)
	var trip check.EngineResult
	if d != nil && checks {
		trip = step.Must((&check.CheckRun{App: a, Repeat: reportIterations}).CheckEngine(t.Ctx, d, ""))
		r.Checks = append(r.Checks, trip.Checks...)
		err = r.Judge()
	}
	for _, c := range r.Checks {
		if c.Status == trial.Fail {
			a.Logf("%s failed: %s", c.Name, c.Detail)
		}
	}
	r.Dump = step.Must(dump(name, o, unavailable, trip, r.Verdict))
	if a.ReportFile.Kind() == cli.AsObject {
		a.ReportFile.Notice = "is written; attach it to an issue, it does not contain your name"
		r.Details = map[string]any{"file": a.ReportFile.Path}
	} else {
		a.ReportFile.Notice = "has paths of this machine; attach the dump of --report FILE.json to an issue instead"
		r.Details = map[string]any{"engines": engine.Probe(), "frameworks": frameworks(), "operators": ops.Names()}
		r.View = View(a.Engine, r.Host.NoMemory)
	}
	a.Deliver(r)
	step.NoError(err)
}

// framework is the self-check of a loaded framework.
type framework struct {
	Engine string `json:"engine"`
	Error  string `json:"error,omitempty"`
	objcbridge.Report
	Warnings []string `json:"warnings,omitempty"` // what is dangerous on this machine
}

// frameworks inspects the frameworks that can be loaded here. The engines say why others cannot.
func frameworks() []framework {
	found := []framework{}
	for _, name := range []string{engine.Apple, engine.StandIn} {
		if r, err := observe.Inspect(name); r.Framework != "" {
			found = append(found, framework{name, cli.ErrorText(err), r, warnings(r)})
		}
	}
	return found
}

// twoEngines warns of what the dump m3ultra-power-transition records of an M3 Ultra. Build 25F84 of macOS 26.5.2 and
// earlier ones admit a request while the engine powers up or down; macOS 27 refuses it.
const twoEngines = "this machine has two Neural Engines, and its macOS is older than 27: an evaluation or a load " +
	"while an engine powers up or down may panic the machine, as on an M3 Ultra up to macOS 26.5.2; macOS 27 refuses " +
	"such a run, and anekit tries it again"

// warnings returns what is dangerous on the machine that a framework describes.
func warnings(r objcbridge.Report) []string {
	if r.Device == nil {
		return nil
	}
	engines := r.Device.Engines
	for _, p := range r.Registry {
		if n, err := strconv.Atoi(p.Value); err == nil && p.Name == "ANEDevicePropertyNumANEs" {
			engines = max(engines, n)
		}
	}
	if build := r.Device.Build; engines < 2 || build < "1" || build >= "26" { // 26A434 is of macOS 27
		return nil
	}
	return []string{twoEngines}
}
