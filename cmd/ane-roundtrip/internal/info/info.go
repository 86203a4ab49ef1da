package info

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/ops"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/observe"
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
			if cmd.Flags().Changed("attributes") {
				for _, idle := range []string{"engine", "broker", "require-ane"} {
					if err := cli.Conflict(cmd, idle, "attributes", "which opens no engine"); err != nil {
						return err
					}
				}
			}
			switch {
			case attributes != "" && cmd.Flags().Changed("report"):
				return cli.Badf("--attributes and --report exclude each other; give one of them")
			case cmd.Flags().Changed("attributes"):
				return printAttributes(a, attributes)
			case cmd.Flags().Changed("report"):
				if err := a.ReportFile.Check(); err != nil {
					return err
				}
				if a.ReportFile.Kind() == cli.AsObject {
					return report(a, cmd.Context(), a.ReportFile.Path)
				}
				if err := a.BeginReport(cmd); err != nil {
					return err
				}
				return savePage(a, cmd.Context())
			}
			return info(a, cmd.Context())
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

// infoDetails are the fields that info adds to the report.
type infoDetails struct {
	Engines    []engine.Status `json:"engines"`
	Frameworks []framework     `json:"frameworks"`
	Operators  []string        `json:"operators"`
}

// framework is the self-check of a loaded framework.
type framework struct {
	Engine string `json:"engine"`
	Error  string `json:"error,omitempty"`
	objcbridge.Report
	Warnings []string `json:"warnings,omitempty"` // what is dangerous on this machine
}

// detailsOfMachine looks at the engines, and inspects the frameworks that can be loaded here.
func detailsOfMachine() infoDetails {
	found := []framework{}
	for _, name := range []string{engine.Apple, engine.StandIn} {
		r, err := observe.Inspect(name)
		if r.Framework == "" {
			continue // no bridge, or another system: the table of engines gives the reason
		}
		f := framework{Engine: name, Report: r, Warnings: warnings(r)}
		if err != nil {
			f.Error = cli.ErrorText(err)
		}
		found = append(found, f)
	}
	return infoDetails{engine.Probe(), found, ops.Names()}
}

// info prints the host and its engines.
func info(a *cli.App, ctx context.Context) error {
	d, unavailable := a.OpenEngine(ctx, nil)
	if unavailable != nil && !errors.Is(unavailable, ane.ErrUnavailable) {
		return unavailable
	}
	defer d.Close()
	r := cli.NewReport(d)
	details := detailsOfMachine()
	r.Details = details
	if a.JSON {
		var err error
		r.Dump, err = dump(a, ctx)
		a.Deliver(r)
		return errors.Join(unavailable, err)
	}
	h := r.Host
	answer := "not available"
	if r.Engine != nil {
		answer = cli.EngineText(r.Engine)
	}
	machine := page.NewTable()
	machine.Row("anekit", h.Version+", "+h.Go)
	machine.Row("host", fmt.Sprintf("%s/%s, %d CPUs, %d-byte pages", h.OS, h.Arch, h.CPUs, h.Page))
	if h.NoMemory != nil {
		machine.Row("memory", "none: "+cli.ErrorText(h.NoMemory))
	} else {
		machine.Row("memory", h.Memory+", "+trial.Words(h.Pinning))
	}
	machine.Row("fp16", h.FP16)
	machine.Row(a.Engine, answer)
	engines := page.NewTable("engine", "available", "what", "why not")
	for _, s := range details.Engines {
		yes := "yes"
		if !s.Available {
			yes = "no"
		}
		engines.Row(s.Name, yes, s.What, s.Reason)
	}
	all := []*page.Table{machine, engines}
	for _, f := range details.Frameworks {
		all = append(all, f.facts(), f.methods())
	}
	return errors.Join(a.Tables(all...), unavailable)
}

// facts is the table of what the framework tells of the machine.
func (f framework) facts() *page.Table {
	w := page.NewTable()
	w.Row("framework of "+f.Engine, f.Framework)
	w.Row("bridge", cmp.Or(f.Library, "part of this binary"))
	if f.Error != "" {
		w.Row("error", f.Error)
	}
	if d := f.Device; d != nil {
		w.Row("hasANE", d.HasANE.String())
		w.Row("architecture", cmp.Or(d.Architecture, "not reported"))
		w.Row("engines, cores", count(int64(d.Engines))+", "+count(int64(d.Cores)))
		w.Row("board", count(d.Board))
		w.Row("system", fmt.Sprintf("%s, build %s", cmp.Or(d.Product, "not reported"), cmp.Or(d.Build, "not reported")))
		w.Row("virtual machine", d.VirtualMachine.String())
	}
	for _, text := range f.Warnings {
		w.Row("warning", text)
	}
	w.Row("compiles", fmt.Sprintf("%d in this process", f.Usage.Compiles))
	w.Row("loaded", fmt.Sprintf("%d of %d programs", f.Usage.Loaded, f.Usage.ProgramLimit))
	for _, p := range f.Registry {
		w.Row(p.Name, p.Value)
	}
	if len(f.Registry) == 0 {
		w.Row("DeviceProperties", "not readable: "+f.Unread)
	}
	return w
}

// methods is the table of the framework's methods that anekit calls.
func (f framework) methods() *page.Table {
	w := page.NewTable("method", "status", "expected", "found", "needed for")
	for _, c := range f.Checks {
		sign := "-"
		if c.ClassMethod {
			sign = "+"
		}
		status := c.Status.String()
		if !c.Required && c.Status != objcbridge.CheckOK {
			status += " (optional)"
		}
		w.Row(fmt.Sprintf("%s[%s %s]", sign, c.Class, c.Selector), status, c.Expected, cmp.Or(c.Found, "-"),
			c.NeededFor)
	}
	return w
}

// count formats a number, which is negative if the framework does not report it.
func count(n int64) string {
	if n < 0 {
		return "not reported"
	}
	return fmt.Sprint(n)
}
