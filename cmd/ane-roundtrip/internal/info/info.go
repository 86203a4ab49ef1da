package info

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/ops"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
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
	r.Details, r.View = detailsOfMachine(), machineView(a.Engine, r.Host.NoMemory)
	if a.JSON {
		var err error
		if r.Dump, err = dump(a, ctx); err != nil {
			unavailable = errors.Join(unavailable, err)
		}
	}
	a.Deliver(r)
	return unavailable
}
