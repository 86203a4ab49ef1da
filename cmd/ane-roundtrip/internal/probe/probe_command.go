package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/near"
)

// Command returns the command probe.
func Command(a *cli.App) *cobra.Command {
	var most int64 // MiB
	var o Options
	cmd := &cobra.Command{
		Use:   "probe " + strings.Join(Names(), "|"),
		Short: "Repeat the experiments on which the memory of unimem rests",
		Long: `probe measures on this Mac what the experiments of unimem have published, and
prints both figures.

iosurface: the time to open and close a surface of 4 KiB to 256 MiB, the first
touch of a page, the rates of writing and reading with one thread, the cost of
a lock, the regions of the address space, and, where the driver extension of
unimem/dma/dext is installed, the device's addresses.

hypervisor: the smallest mapping of a virtual machine, the time to map memory,
and whether the mapping changes the host's access to it. The command has to be
signed with the entitlement com.apple.security.hypervisor.

On other systems the status is 3, and the tables list what a Mac would measure.
--equivalent measures the system's own counterparts, labeled so: shared memory
and physical pages, and KVM on Linux. Those figures say nothing about a Mac.
This command has not been run on a Mac yet.`,
		Example: `  ane-roundtrip probe iosurface
  ane-roundtrip probe hypervisor --json
  ane-roundtrip probe iosurface --equivalent --max-mib 16`,
		Args: oneProbe,
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 1 || most > 256 {
				return cli.Badf("--max-mib %d; give 1 to 256", most)
			}
			o.Most = int(most) << 20
			return run(a, cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&most, "max-mib", 256, "`MIB` of the largest memory, 1 to 256")
	f.BoolVar(&o.Equivalent, "equivalent", false, "off a Mac measure what this system has instead")
	a.JSONFlag(cmd)
	return cmd
}

// oneProbe accepts the name of a probe.
func oneProbe(_ *cobra.Command, args []string) error {
	all := strings.Join(Names(), " or ")
	switch {
	case len(args) == 0:
		return cli.Badf("no probe is named; give %s", all)
	case len(args) > 1:
		return cli.Badf("%d probes are named; give one", len(args))
	case slices.Contains(Names(), args[0]):
		return nil
	}
	return cli.Badf("no probe %q; %sgive %s", args[0], near.Hint(args[0], Names()), all)
}

// run measures and prints the figures, or what they would be of.
func run(a *cli.App, ctx context.Context, name string, o Options) error {
	r, failed := Run(ctx, name, o)
	report := cli.NewReport(nil)
	report.Details = r
	a.Deliver(report)
	if a.JSON {
		return failed
	}
	head := "measured: " + r.Measured
	switch {
	case r.Measured == "":
		head = "nothing is measured here; on a Mac it would be:"
	case r.Equivalent:
		head += ", the equivalent of this system; it says nothing about a Mac"
	}
	if err := a.Printf("%s\n", head); err != nil {
		return err
	}
	t := page.NewTable("figure", "size", "here", "published", "unit", "note")
	for _, row := range r.Rows {
		t.Row(row.Name, cli.OrDash(row.Bytes > 0, sizeText(row.Bytes)), figureText(row.Value),
			figureText(row.Published), row.Unit, cli.Visible(row.Note))
	}
	return errors.Join(a.Table(t), failed)
}

// sizeText formats a power of two.
func sizeText(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// figureText formats a figure with three or more digits; a dash for none.
func figureText(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case *v < 1000:
		return fmt.Sprintf("%.3g", *v)
	}
	return fmt.Sprintf("%.0f", *v)
}
