package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

func (a *app) imageCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "image --filter NAME IN.png|jpg OUT.png",
		Short: "Filter a picture with a convolution model",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return badf("operands: %d; give two, IN.png or IN.jpg and OUT.png", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.image(cmd.Context(), name, args[0], args[1]) },
	}
	var list strings.Builder
	for _, f := range models.Filters() {
		fmt.Fprintf(&list, "  %-8s %s\n", f.Name, f.About)
	}
	cmd.Long = "image sends a PNG or JPEG through a 3x3 convolution on fp16 tensors and writes\n" +
		"an 8-bit PNG of the same size. Every channel is filtered by itself, alpha passes\n" +
		"through, edge pixels are repeated outside, results are rounded and clamped.\n" +
		"Samples of 16 bits are reduced to 8 first.\n\nFilters:\n" + list.String()
	cmd.Flags().StringVar(&name, "filter", "", "one of "+models.FilterNames())
	return cmd
}

// image filters the picture at in and writes it to out.
func (a *app) image(ctx context.Context, name, in, out string) (err error) {
	filter, ok := models.FilterByName(name)
	if !ok {
		return badf("--filter %q; choose one of %s", name, models.FilterNames())
	}
	p, err := picture.Open(in)
	if err != nil {
		return bad(err)
	}
	f, err := wholefile.Create(out)
	if err != nil {
		return badf("%w; name a file in a folder that exists and can be written", err)
	}
	defer f.Discard()
	defer context.AfterFunc(ctx, f.Discard)() // an interrupt ends the writing too
	d, err := a.open(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	m, err := filter.Model(p.Channels, p.Height, p.Width)
	if err != nil {
		return err
	}
	rig, err := trial.NewRig(ctx, d, ane.Source{File: m.Name + ".mil", Text: m.Text, Weights: m.Weights})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.Close(context.WithoutCancel(ctx))) }()
	x, y := rig.In["x"], rig.Out["y"]
	if err := rows(x, p.Channels, p.Height+2, func(half []fp16.Bits, ch, row int) { p.FillRow(half, ch, row-1) }); err != nil {
		return err
	}
	res, err := rig.Model.Evaluate(ctx, rig.Request)
	if err != nil {
		return err
	}
	q := p.Like()
	if err := rows(y, p.Channels, p.Height, func(half []fp16.Bits, ch, row int) { q.SetRow(ch, row, half) }); err != nil {
		return err
	}
	if err := q.WritePNG(f); err != nil {
		return badf("%s: %w", out, wholefile.Cause(err))
	}
	if err := f.Commit(); err != nil {
		return badf("%s: %w", out, wholefile.Cause(err))
	}
	return a.filtered(rig, filter, p, out, res.Elapsed)
}

// rows visits every row of a tensor [1, channels, height, width] in place.
func rows(t *ane.Tensor, channels, height int, visit func(half []fp16.Bits, ch, row int)) error {
	for i := range channels * height {
		b, err := t.Row(i)
		if err != nil {
			return err
		}
		half, err := unimem.View[fp16.Bits](b)
		if err != nil {
			return err
		}
		visit(half, i/height, i%height)
	}
	return nil
}

// colours says what the channels are.
func colours(p *picture.Picture) string {
	if p.Channels == 1 {
		return "gray"
	}
	return "colour"
}

// filtered prints what was done.
func (a *app) filtered(rig *trial.Rig, f models.Filter, p *picture.Picture, out string, elapsed time.Duration) error {
	receipt := rig.Model.Receipt()
	if !a.json {
		_, err := fmt.Fprintf(a.out, "%s: %s, %dx%d, %s; engine %s: compile %s, evaluate %s\n",
			out, f.Name, p.Width, p.Height, colours(p), receipt.Engine, brief(rig.Compile), brief(elapsed))
		return err
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	r := newReport("image", nil)
	r.Engine = &receipt
	r.Details = struct {
		Filter   string  `json:"filter"`
		File     string  `json:"file"`
		Bytes    int64   `json:"bytes"`
		Width    int     `json:"width"`
		Height   int     `json:"height"`
		Channels int     `json:"channels"`
		Compile  float64 `json:"compile_s"`
		Evaluate float64 `json:"evaluate_s"`
	}{f.Name, out, info.Size(), p.Width, p.Height, p.Channels, rig.Compile.Seconds(), elapsed.Seconds()}
	return r.write(a.out)
}
