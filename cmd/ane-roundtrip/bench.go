package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/tripbench"
)

func (a *app) benchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "bench",
		Short: "Measure memory and evaluations in another process, each beside the bare work it cannot beat",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.bench(cmd.Context()) },
	}
}

// benchDetails are what bench measured.
type benchDetails struct {
	membench.Report
	Evaluate *tripbench.Report `json:"evaluate,omitempty"` // of the engine in another process
	Without  string            `json:"without_evaluate,omitempty"`
}

// bench measures and prints.
func (a *app) bench(ctx context.Context) error {
	d, err := a.open(nil)
	if err != nil {
		return err
	}
	defer d.Close()
	bar := a.progress(0)
	var found benchDetails
	found.Report, err = membench.Measure(ctx, membench.Plan{Progress: bar.now})
	if err == nil {
		found.Evaluate, err = trips(ctx, bar.now)
	}
	bar.stop()
	if errors.Is(err, ane.ErrUnavailable) {
		found.Without, err = oneLine(err.Error()), nil
	}
	if err != nil {
		return err
	}
	if a.json {
		r := newReport("bench", d)
		r.Details = found
		return r.write(a.out)
	}
	if err := found.Write(a.out); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	if found.Evaluate == nil {
		_, err := fmt.Fprintln(a.out, "Evaluate in another process: not measured:", found.Without)
		return err
	}
	return found.Evaluate.Write(a.out)
}

// trips measures evaluations in another process.
func trips(ctx context.Context, progress func(string)) (_ *tripbench.Report, err error) {
	d, err := engine.Open(ctx, engine.Broker)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	r, err := tripbench.Measure(ctx, d, progress)
	return &r, err
}
