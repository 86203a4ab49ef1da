package image

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
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/run"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models"
)

// Command returns the command image.
func Command(a *cli.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "image --filter NAME IN.png|jpg OUT.png",
		Short: "Filter a picture with a convolution model",
		Example: `  ane-roundtrip image --filter blur in.jpg out.png
  ane-roundtrip image --filter sobel - - <in.png >out.png`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Badf("operands: %d; give two, IN.png or IN.jpg and OUT.png", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return filterImage(a, cmd.Context(), name, args[0], args[1])
		},
	}
	var list strings.Builder
	for _, f := range models.Filters() {
		fmt.Fprintf(&list, "    %-8s %s\n", f.Name, f.About)
	}
	cmd.Long = `image filters a PNG or JPEG with a 3x3 convolution on fp16 tensors and writes a
PNG of the same size. It filters each channel separately, repeats the edge
pixels outside of the picture, and rounds and clamps the results. It reads gray,
palettes and colors of 8 bits per channel; it refuses 16 bits and inks (CMYK).

image applies the Exif orientation. It multiplies colors by opacity before the
filter and divides them afterwards; blur, emboss and sharpen filter the opacity
too, edge and sobel keep it. A note names a color profile or an animation, which
image ignores.

IN and OUT may be - for standard input and output; the report then goes to
standard error. image rejects an output that is the input file, also through a
link, and a name with the extension of another type than PNG.

Filters:

` + list.String()
	cmd.Flags().StringVar(&name, "filter", "", "`NAME` of the filter: "+models.FilterNames())
	a.JSONFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// filterImage filters the picture at in and writes it to out.
func filterImage(a *cli.App, ctx context.Context, name, in, out string) (err error) {
	if name == "" {
		return cli.Badf("no filter; give --filter with one of %s", strings.Join(Filters(), ", "))
	}
	filter, ok := models.FilterByName(name)
	if !ok {
		return cli.Badf("--filter %q; %s", name, near.Choices(name, "choose one of", Filters()))
	}
	if err := checkOutputName(out); err != nil {
		return err
	}
	bar := a.Progress(0)
	defer bar.Stop()
	bar.Now("read")
	p, err := decode(a, ctx, in)
	if err != nil {
		return err
	}
	dst, err := openDestination(a, out)
	if err != nil {
		return err
	}
	defer dst.file.Discard()
	defer context.AfterFunc(ctx, dst.file.Discard)() // an interrupt removes the half-written file
	bar.Now("compile")
	d, err := a.OpenEngineOrHint(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	b, opacity := bandsOf(p, filter)
	m, err := filter.Model(b.channels, b.rows, p.Width)
	if err != nil {
		return err
	}
	rig, err := trial.NewRig(ctx, d, ane.Source{File: m.Name + ".mil", Program: m.Program, Weights: m.Weights})
	if err != nil {
		return run.ProgramFault(in, err)
	}
	defer func() { err = errors.Join(err, rig.Close(context.WithoutCancel(ctx))) }()
	var elapsed time.Duration
	for top := 0; top < p.Height; top += b.rows {
		bar.Now(fmt.Sprintf("filter %d of %d rows", top, p.Height))
		if err := b.fill(rig.In["x"], top); err != nil {
			return err
		}
		res, err := rig.Model.Evaluate(ctx, rig.Request)
		if err != nil {
			return err
		}
		elapsed += res.Elapsed
		if err := b.take(rig.Out["y"], top); err != nil {
			return err
		}
	}
	bar.Now("write")
	err = p.WritePNG(dst)
	if err == nil {
		err = dst.commit()
	}
	if err != nil {
		return cli.WriteError(out, err)
	}
	bar.Stop()
	return reportImage(a, rig, imageDetails{Filter: filter.Name, File: out, Bytes: dst.bytes,
		Width: p.Width, Height: p.Height, Channels: p.Channels, Depth: 8, Orientation: max(p.Orientation, 1),
		Opacity: opacity, Notes: p.Notes, Compile: rig.Compile, Evaluate: elapsed})
}

// decode reads the picture at path, which may be - for standard input.
func decode(a *cli.App, ctx context.Context, path string) (*picture.Picture, error) {
	f, err := a.OpenInput(ctx, "image", path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if path == cli.Stdio {
		path = "standard input"
	}
	p, err := picture.Read(f, path, picture.MaxPixels)
	return p, cli.Bad(err)
}

// destination is where image writes the picture. It counts the bytes.
type destination struct {
	to    io.Writer
	file  *wholefile.File // nil for standard output
	bytes int64
}

// openDestination starts writing the output.
func openDestination(a *cli.App, path string) (d *destination, err error) {
	d = new(destination)
	if path == cli.Stdio {
		d.to, err = a.TakeOutput("the output")
		return d, err
	}
	d.file, err = a.CreateOutput("the output", path)
	d.to = d.file
	return d, err
}

func (d *destination) Write(b []byte) (int, error) {
	n, err := d.to.Write(b)
	d.bytes += int64(n)
	return n, err
}

// commit gives a written file its name.
func (d *destination) commit() error {
	if d.file == nil {
		return nil
	}
	return d.file.Commit()
}

// checkOutputName rejects a name with the extension of another type than PNG.
func checkOutputName(out string) error {
	others := []string{".jpg", ".jpeg", ".jfif", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif",
		".jxl", ".ico", ".svg",
		".ppm", ".pgm", ".pdf", ".npy", ".npz", ".mil", ".txt", ".json", ".mp4", ".mov", ".raw", ".dng"}
	ext := filepath.Ext(out)
	if !slices.Contains(others, strings.ToLower(ext)) {
		return nil
	}
	return cli.Badf("%s has the extension of another type, but image writes PNG; name it %s.png", out,
		strings.TrimSuffix(out, ext))
}

// Filters lists the filters by name.
func Filters() []string { return strings.Split(models.FilterNames(), ", ") }
