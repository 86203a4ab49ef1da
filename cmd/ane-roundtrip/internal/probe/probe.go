// Package probe repeats on this machine the two experiments on which the design of unimem rests. They show what
// surfaces cost, and what a mapping for a virtual machine changes. Each figure stands beside the published one.
package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/step"
)

// The probes.
const (
	IOSurface  = "iosurface"
	Hypervisor = "hypervisor"
)

// Names lists the probes.
func Names() []string { return []string{IOSurface, Hypervisor} }

// Command returns the command probe.
func Command(a *cli.App) *cobra.Command {
	var most int64 // MiB
	var equivalent bool
	cmd := &cobra.Command{
		Use:   "probe " + strings.Join(Names(), "|"),
		Short: "Repeat the experiments on which the memory of unimem rests",
		Long: `probe measures on this Mac what the experiments of unimem have published, and
prints both figures.

iosurface: the time to open and close a surface of 4 KiB to 256 MiB, the first
touch of a page, the rates of writing and reading with one thread, the cost of
a lock, and the regions of the address space. Where the driver extension of
unimem/dma/dext is installed, also every segment of device addresses: of
surfaces of 256 MiB and 1 GiB, in a process that has only looked the surface
up, and of a buffer that the extension allocates.

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
			if most < 1 || most > mostMiB {
				return cli.Badf("--max-mib %d; give 1 to %d", most, mostMiB)
			}
			r := cli.NewReport(nil)
			details, err := Run(cmd.Context(), args[0], int(most)<<20, equivalent)
			r.Details, r.View = details, View
			a.Deliver(r)
			return err
		},
	}
	f := cmd.Flags()
	f.Int64Var(&most, "max-mib", 1024, fmt.Sprintf("`MIB` of the largest memory, 1 to %d", mostMiB))
	f.BoolVar(&equivalent, "equivalent", false, "off a Mac measure what this system has instead")
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

// Row is a figure.
type Row struct {
	Name  string   `json:"name"`
	Bytes int      `json:"bytes"` // of the memory; 0 if the figure is not of a size
	Value *float64 `json:"value"` // null: not measured
	Unit  string   `json:"unit"`  // ns, GB/s, bytes, regions or segments
	// Published is the figure of the experiments of unimem, on Apple silicon; null where they have none.
	Published *float64 `json:"published"`
	Note      string   `json:"note,omitempty"`
}

// Result is what a probe has measured, or would measure.
type Result struct {
	Probe string `json:"probe"`
	// Measured is what was measured: "IOSurface", "Hypervisor.framework", or something of another system; empty for
	// nothing.
	Measured   string `json:"measured"`
	Equivalent bool   `json:"equivalent"` // another system's, not Apple's
	Rows       []Row  `json:"rows"`
	// Segments are those that rows of the unit "segments" count, in the order of the bytes.
	Segments []Segment `json:"segments,omitempty"`
}

// mostMiB is less than the 4 GiB that no IOSurface has.
const mostMiB = 4095

// Run runs a probe with memory of at most most bytes, 1 MiB to mostMiB. Off a Mac it measures what the system has
// instead if equivalent is set. If the system has not what it measures, the error matches ane.ErrUnavailable, and the
// Result has the rows without values.
func Run(ctx context.Context, name string, most int, equivalent bool) (*Result, error) {
	r := &Result{Probe: name, Equivalent: !host.Mac && equivalent}
	run, original, counterpart := r.surfaces, "IOSurface", "shared memory"
	if name == Hypervisor {
		run, original, counterpart = r.hypervisor, "Hypervisor.framework", "hypervisor"
	}
	here := host.Mac || equivalent
	if !here {
		most = 1 << 30
	}
	if err := step.Run(ctx, func(t *step.T) { run(t, most, here) }); err != nil || here {
		return r, err
	}
	return r, &unavailable{"only macOS has " + original,
		"run it on a Mac; --equivalent measures the " + counterpart + " of this system"}
}

// unavailable is the error of a system that has not what a probe measures.
type unavailable struct{ Detail, Hint string }

func (u *unavailable) Error() string { return u.Detail + "; " + u.Hint }

func (u *unavailable) Unwrap() error { return ane.ErrUnavailable }

// figure is a row with what measures it, nil for nothing. measure returns the value, 0 for none, and what takes the
// place of the note, such as the reason; or nil.
type figure struct {
	Row
	measure func() (value float64, remark error)
}

// add adds the rows of figures. It measures them in their order if the system has what they are of.
func (r *Result) add(t *step.T, here bool, figures ...figure) {
	for _, f := range figures {
		if here && f.measure != nil {
			value, remark := f.measure()
			step.NoError(t.Ctx.Err())
			if f.Value = known(value); remark != nil {
				f.Note = remark.Error()
			}
		}
		r.Rows = append(r.Rows, f.Row)
	}
}

// known is a figure, or nil for 0.
func known(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
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
	if len(v.Items("segments")) == 0 {
		return
	}
	all := doc.NewTable("Segments", "of", "#size", "#address", "#length")
	for _, s := range v.Items("segments") {
		all.Row(s.Text("of"), s.Size("bytes"), s.Text("address"), s.Size("length"))
	}
	d.Section("Segments", nil, all)
}
