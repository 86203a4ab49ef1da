package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models"
)

func (a *app) imageCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "image --filter NAME IN.png|jpg OUT.png",
		Short: "Filter a picture with a convolution model",
		Example: `  ane-roundtrip image --filter blur in.jpg out.png
  ane-roundtrip image --filter sobel - - <in.png >out.png`,
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
		fmt.Fprintf(&list, "    %-8s %s\n", f.Name, f.About)
	}
	cmd.Long = `image sends a PNG or JPEG through a 3x3 convolution on fp16 tensors and writes
a PNG of the same size and depth. Every channel is filtered by itself, edge
pixels are repeated outside, results are rounded and clamped. Of samples of 16
bits fp16 keeps 11.

The orientation that a camera noted (Exif) is applied. Colours count as much
as their opacity; filters that keep flat parts (blur, emboss, sharpen) take
opacity through the same kernel, the others pass it on. Colour profiles and
animations are told, not applied.

IN and OUT may be - for standard input and output; the report then goes to
standard error. An output that is the picture read, by whatever name or link,
is refused, and so is a name of another type than PNG.

Filters:

` + list.String()
	cmd.Flags().StringVar(&name, "filter", "", "one of "+models.FilterNames())
	a.reportFlag(cmd)
	a.engineFlags(cmd)
	return cmd
}

// image filters the picture at in and writes it to out.
func (a *app) image(ctx context.Context, name, in, out string) (err error) {
	filter, ok := models.FilterByName(name)
	if !ok {
		return badf("--filter %q; %s", name, near.Choices(name, "choose one of", filters()))
	}
	if err := honest(out); err != nil {
		return err
	}
	bar := a.progress(0)
	defer bar.stop()
	bar.now("read")
	files := &traffic{app: a}
	p, err := files.picture(in)
	if err != nil {
		return err
	}
	dst, commit, err := files.destination(out)
	if err != nil {
		return err
	}
	defer dst.Discard()
	defer context.AfterFunc(ctx, dst.Discard)() // an interrupt ends the writing too
	bar.now("compile")
	d, err := a.engineOrHint(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	way := wayOf(p, filter)
	rows := way.bandRows(p)
	m, err := filter.Model(way.channels(p), rows, p.Width)
	if err != nil {
		return err
	}
	rig, err := trial.NewRig(ctx, d, ane.Source{File: m.Name + ".mil", Text: m.Text, Weights: m.Weights})
	if err != nil {
		return programFault(in, err)
	}
	defer func() { err = errors.Join(err, rig.Close(context.WithoutCancel(ctx))) }()
	var elapsed time.Duration
	for top := 0; top < p.Height; top += rows {
		bar.now(fmt.Sprintf("filter %d of %d rows", top, p.Height))
		if err := way.fill(rig.In["x"], p, top, rows); err != nil {
			return err
		}
		res, err := rig.Model.Evaluate(ctx, rig.Request)
		if err != nil {
			return err
		}
		elapsed += res.Elapsed
		if err := way.take(rig.Out["y"], p, top, rows); err != nil {
			return err
		}
	}
	bar.now("write")
	count := &counter{w: commit.writer}
	if err := p.WritePNG(count); err != nil {
		return badf("%s: %w", out, wholefile.Cause(err))
	}
	if err := commit.done(); err != nil {
		return badf("%s: %w", out, wholefile.Cause(err))
	}
	bar.stop()
	return a.filtered(rig, imageDetails{Filter: filter.Name, File: out, Bytes: count.n,
		Width: p.Width, Height: p.Height, Channels: p.Channels, Depth: p.Depth, Orientation: max(p.Orientation, 1),
		Opacity: way.String(), Notes: p.Notes, Compile: rig.Compile, Evaluate: elapsed})
}

// picture reads a picture, or standard input.
func (t *traffic) picture(path string) (*picture.Picture, error) {
	f, err := t.open("image", path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if path == stdio {
		path = "standard input"
	}
	p, err := picture.ReadOpen(f, path)
	return p, bad(err)
}

// ending is where a picture goes, and how that ends.
type ending struct {
	writer io.Writer
	done   func() error
}

// destination begins the output; the File is nil for standard output.
func (t *traffic) destination(path string) (*wholefile.File, ending, error) {
	if path == stdio {
		w, err := t.output("the output", "standard output")
		return nil, ending{w, func() error { return nil }}, err
	}
	f, err := t.create("the output", path)
	if err != nil {
		return nil, ending{}, err
	}
	return f, ending{f, f.Commit}, nil
}

// counter counts the bytes of the output.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// honest refuses a name that says that the file is something else than a PNG.
func honest(out string) error {
	others := []string{".jpg", ".jpeg", ".jfif", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif",
		".jxl", ".ico", ".svg",
		".ppm", ".pgm", ".pdf", ".npy", ".npz", ".mil", ".txt", ".json", ".mp4", ".mov", ".raw", ".dng"}
	ext := filepath.Ext(out)
	if !slices.Contains(others, strings.ToLower(ext)) {
		return nil
	}
	return badf("%s says another type than PNG, which is what is written; name it %s.png", out,
		strings.TrimSuffix(out, ext))
}
