package main

import (
	"github.com/spf13/cobra"

	"github.com/anekit/anekit/internal/membench"
)

func (a *app) benchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "bench",
		Short: "Measure memory, each operation beside the bare work it cannot beat",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.open(nil)
			if err != nil {
				return err
			}
			defer d.Close()
			bar := a.progress(0)
			rep, err := membench.Measure(cmd.Context(), membench.Plan{Progress: bar.now})
			bar.stop()
			if err != nil {
				return err
			}
			if !a.json {
				return rep.Write(a.out)
			}
			r := newReport("bench", d)
			r.Details = rep
			return r.write(a.out)
		},
	}
}
