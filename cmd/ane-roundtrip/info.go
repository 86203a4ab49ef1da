package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/ops"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Tell which engines this machine has, and why the others are not available",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.info() },
	}
}

// info prints the machine and its engines.
func (a *app) info() error {
	d, err := a.open(nil)
	if err != nil {
		return err
	}
	defer d.Close()
	r := newReport("info", d)
	status := engine.Probe()
	r.Details = struct {
		Engines   []engine.Status `json:"engines"`
		Operators []string        `json:"operators"`
	}{status, ops.Names()}
	if a.json {
		return r.write(a.out)
	}
	h := r.Host
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "anekit\t%s, %s\n", h.Version, h.Go)
	fmt.Fprintf(w, "host\t%s/%s, %d CPUs, %d-byte pages\n", h.OS, h.Arch, h.CPUs, h.Page)
	pinned := "pinned"
	if !h.Pinned {
		pinned = "not pinned"
	}
	fmt.Fprintf(w, "memory\t%s, %s\n", h.Memory, pinned)
	fmt.Fprintf(w, "fp16\t%s\n", h.FP16)
	fmt.Fprintf(w, "auto\t%s: %s, %s\n\n", r.Engine.Engine, r.Engine.Chip, r.Engine.OSBuild)
	fmt.Fprintln(w, "engine\tavailable\twhat\twhy not")
	for _, s := range status {
		yes := "yes"
		if !s.Available {
			yes = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, yes, s.What, s.Reason)
	}
	return w.Flush()
}
