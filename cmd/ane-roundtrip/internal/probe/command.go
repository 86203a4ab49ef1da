package probe

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
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
			r := cli.NewReport(nil)
			details, err := Run(cmd.Context(), args[0], o)
			r.Details, r.View = details, View
			a.Deliver(r)
			return err
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

// View lays out the figures, or what they would be of.
func View(d *doc.Doc, v *doc.Value) {
	measured := v.Text("measured")
	head := doc.Line("measured: ", measured)
	switch {
	case measured.Number == "":
		head = doc.Line("nothing is measured here; on a Mac it would be:")
	case v.At("equivalent").Yes():
		head = append(head, doc.Words(", the equivalent of this system; it says nothing about a Mac"))
	}
	t := doc.NewTable("Figures", "figure", "#size", "#here", "#published", "unit", ">note")
	for _, r := range v.Items("rows") {
		t.Row(r.Text("name"), r.Size("bytes").Unless(0), r.Digits("value"), r.Digits("published"), r.Text("unit"),
			r.Text("note"))
	}
	d.Section("Figures", nil, doc.Lines{head}, t)
}
