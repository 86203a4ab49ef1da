// Package image is the command image: a picture filtered by a convolution model.
package image

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/run"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// Command returns the command image.
func Command(a *cli.App) *cobra.Command {
	var name string
	var m model
	cmd := &cobra.Command{
		Use:   "image (--filter NAME | MODEL) IN.png|jpg OUT.png",
		Short: "Filter a picture with a convolution, or with a model",
		Example: `  ane-roundtrip image --filter blur in.jpg out.png
  ane-roundtrip image model.mlpackage - - <in.png >out.png`,
		Args: cli.Operands(2, 3, "two, IN.png or IN.jpg and OUT.png, or a model before them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			do := func(t *trial.T) { filter(t, a, name, args[0], args[1]) }
			switch given := cmd.Flags().Changed("filter"); {
			case len(args) == 3 && given:
				return cli.Badf("--filter %s and the model %s; leave one of them out", name, args[0])
			case len(args) == 3:
				m.path = args[0]
				do = func(t *trial.T) { m.filter(t, a, args[1], args[2]) }
			case !given:
				return cli.Badf("no filter; give --filter with one of %s, or a model: image MODEL %s %s",
					strings.Join(models.FilterNames(), ", "), args[0], args[1])
			case a.Part != "" || m.folder != "" || m.fill != "":
				return cli.Badf("--part, --model-path and --fill-weights are of a model; leave them out with --filter")
			}
			_, err := trial.Step{Run: do}.Make(cmd.Context())
			return err
		},
	}
	var list strings.Builder
	for _, f := range models.Filters() {
		fmt.Fprintf(&list, "    %-8s %s\n", f.Name, f.About)
	}
	cmd.Long = `image filters a PNG or JPEG and writes a PNG. It reads gray, palettes and colors
of 8 bits per channel; it refuses 16 bits and inks (CMYK). A filter is a 3x3
convolution of each channel, with edge pixels repeated. MODEL is MIL text or a
Core ML model from picture to picture: tensors [1, 3, H, W] or [1, 1, H, W] of
values 0 to 255, as Core ML gives a picture to a program; scale and bias are its
operators. The picture gives open H and W. image rounds and clamps results.

image applies the Exif orientation. It multiplies colors by opacity, and divides
them after a filter; all but edge and sobel filter the opacity too. A note names
a color profile or an animation, which image ignores.

IN and OUT may be - for standard input and output; the report then goes to
standard error. image rejects an output that is its input or has another type.

Filters:

` + list.String()
	cmd.Flags().StringVar(&name, "filter", "", "`NAME` of the filter: "+strings.Join(models.FilterNames(), ", "))
	a.PartFlag(cmd)
	cmd.Flags().StringVar(&m.folder, "model-path", "", "`FOLDER` of weights (default: that of the program)")
	cmd.Flags().StringVar(&m.fill, "fill-weights", "", "weights not there are `VALUES`: random:SEED")
	a.JSONFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// details are the fields that image adds to the report.
type details struct {
	Filter      string        `json:"filter,omitempty"` // either this or Model
	Model       string        `json:"model,omitempty"`
	File        string        `json:"file"`
	Bytes       int64         `json:"bytes"`
	Width       int           `json:"width"`
	Height      int           `json:"height"`
	Channels    int           `json:"channels"`
	Depth       int           `json:"depth"`       // bits per sample: 8
	Orientation int           `json:"orientation"` // of the file, 1 to 8 as in Exif; image applied it
	Opacity     string        `json:"opacity"`     // none, kept, filtered or multiplied
	Compile     time.Duration `json:"compile_ns"`
	Evaluate    time.Duration `json:"evaluate_ns"`
	Notes       []string      `json:"notes,omitempty"`
}

// notPNG are the extensions of other types.
const notPNG = ".jpg .jpeg .jfif .gif .webp .bmp .tif .tiff .heic .heif .avif .jxl .ico .svg .ppm .pgm .pdf .npy .npz " +
	".mil .txt .json .mp4 .mov .raw .dng"

// filter filters the picture at in and writes it to out.
func filter(t *trial.T, a *cli.App, name, in, out string) {
	f, ok := models.FilterByName(name)
	if !ok {
		trial.NoError(cli.Badf("--filter %q; %s", name, near.Choices(name, "choose one of", models.FilterNames())))
	}
	job{app: a, in: in, out: out}.run(t, func(p *picture.Picture, now func(string)) (details, *picture.Picture, *trial.Rig) {
		b, opacity := bandsOf(p, f)
		m := trial.Must(f.Model(b.channels, b.rows, p.Width))
		_, rig := run.Load(t, a, ane.Source{File: in, Program: m.Program, Weights: m.Weights})
		d := details{Filter: f.Name, Opacity: opacity, Notes: p.Notes, Compile: rig.Compile}
		x, y := rowsOf(rig.In["x"]), rowsOf(rig.Out["y"])
		for top := 0; top < p.Height; top += b.rows {
			now(fmt.Sprintf("filter %d of %d rows", top, p.Height))
			b.fill(x, top)
			d.Evaluate += trial.Must(rig.Request.Evaluate(t.Ctx)).Elapsed
			b.take(y, top)
		}
		return d, p, rig
	})
}

// filter evaluates the model on the picture at in and writes the result to out.
func (m *model) filter(t *trial.T, a *cli.App, in, out string) {
	if m.path == cli.Stdio && in == cli.Stdio {
		trial.NoError(cli.TwoReaders("MODEL", "IN"))
	}
	m.read(t, a)
	job{app: a, in: in, out: out}.run(t, func(p *picture.Picture, now func(string)) (details, *picture.Picture, *trial.Rig) {
		return m.apply(t, a, p, in)
	})
}

// job is a picture to filter, and where to.
type job struct {
	app     *cli.App
	in, out string
}

// run reads the picture, filters it and writes what filtered returns. now shows progress.
func (j job) run(t *trial.T, filtered func(p *picture.Picture, now func(string)) (details, *picture.Picture, *trial.Rig)) {
	if ext := filepath.Ext(j.out); slices.Contains(strings.Fields(notPNG), strings.ToLower(ext)) {
		trial.NoError(cli.Badf("%s has the extension of another type, but image writes PNG; name it %s.png", j.out,
			strings.TrimSuffix(j.out, ext)))
	}
	bar := j.app.Progress(0)
	defer bar.Stop()
	bar.Now("read")
	p := decode(t, j.app, j.in)
	var to io.Writer
	var file *wholefile.File // nil for standard output
	if j.out == cli.Stdio {
		to = trial.Must(j.app.TakeOutput("the output"))
	} else {
		file = trial.Must(j.app.CreateOutput("the output", j.out))
		to = file
	}
	defer file.Discard()
	defer context.AfterFunc(t.Ctx, file.Discard)() // an interrupt removes the half-written file
	bar.Now("compile")
	orientation := max(p.Orientation, 1)
	d, p, rig := filtered(p, bar.Now)
	d.File, d.Width, d.Height, d.Channels, d.Depth, d.Orientation = j.out, p.Width, p.Height, p.Channels, 8, orientation
	bar.Now("write")
	err := p.WritePNG(io.MultiWriter(to, (*count)(&d.Bytes)))
	if err == nil && file != nil {
		err = file.Commit()
	}
	trial.NoError(cli.WriteError(j.out, err))
	bar.Stop()
	j.app.Notes(d.Notes)
	receipt := rig.Model.Receipt()
	r := cli.NewReport(nil)
	r.SetEngine(&receipt)
	r.Details, r.View = d, View
	j.app.Deliver(r)
}

// View lays out what image has done.
func View(d *doc.Doc, v *doc.Value) {
	form := "color"
	if v.At("channels").Float() == 1 {
		form = "gray"
	}
	if v.At("orientation").Float() > 1 {
		form += ", turned upright"
	}
	by := v.Text("filter")
	if !v.At("filter").Here() {
		by = v.Text("model")
	}
	d.Section("Picture", nil, doc.Text(v.Text("file"), ": ", by, ", ", v.Plain("width"), "x",
		v.Plain("height"), ", ", form, "; engine ", d.Root.Text("engine", "name"), ": compile ", v.Time("compile_ns"),
		", evaluate ", v.Time("evaluate_ns")))
}

// decode reads the picture at path, which may be - for standard input.
func decode(t *trial.T, a *cli.App, path string) *picture.Picture {
	f := trial.Must(a.OpenInput(t.Ctx, "image", path))
	defer f.Close()
	if path == cli.Stdio {
		path = "standard input"
	}
	return trial.Must(picture.Read(f, path, picture.MaxPixels))
}

// count counts the bytes that are written to it.
type count int64

func (n *count) Write(b []byte) (int, error) {
	*n += count(len(b))
	return len(b), nil
}

// bands filters a picture in bands of rows, since tensors of the whole picture would take several times its own memory.
type bands struct {
	p        *picture.Picture
	rows     int // of a band
	channels int // of the model: those of the picture, then its opacity if the filter changes it
}

// bandBytes is the approximate size of the input of one evaluation.
const bandBytes = 8 << 20

// bandsOf returns the bands of a picture, and what the filter does to its opacity, as the report names it. A filter that
// does not average would make a picture transparent where its opacity is even, so such filters keep the opacity.
func bandsOf(p *picture.Picture, f models.Filter) (b bands, opacity string) {
	b, opacity = bands{p: p, channels: p.Channels}, "none"
	if p.Translucent {
		opacity = "kept"
		if f.Averages() {
			b.channels, opacity = p.Channels+1, "filtered"
		}
	}
	const half, least = 2, 16 // bytes of an fp16 sample, rows
	b.rows = min(max(bandBytes/(half*b.channels*(p.Width+2)), least), p.Height)
	return b, opacity
}

// fill writes rows of the picture into those of a tensor [1, channels, rows+2, width+2], from the row above top to the
// row below the band. Outside of the picture it repeats the first or last row.
func (b bands) fill(x [][]fp16.Bits, top int) {
	eachRow(b.rows+2, func(i int) {
		for ch := range b.channels {
			b.p.FillRow(x[ch*(b.rows+2)+i], ch, top+i-1)
		}
	})
}

// take overwrites the rows of the picture from top on with those of a tensor [1, channels, rows, width]. It keeps a copy
// of the last row, which the next band reads.
func (b bands) take(y [][]fp16.Bits, top int) {
	end := min(top+b.rows, b.p.Height)
	b.p.Keep(end - 1)
	eachRow(end-top, func(i int) {
		var opacity []fp16.Bits // nil for that of the picture
		for ch := b.channels - 1; ch >= 0; ch-- {
			row := y[ch*b.rows+i]
			b.p.SetRow(ch, top+i, row, opacity)
			if ch == b.p.Channels {
				opacity = row
			}
		}
	})
}

// eachRow calls f for the rows 0 to n-1, on all processors.
func eachRow(n int, f func(row int)) {
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for row := w; row < n; row += workers {
				f(row)
			}
		})
	}
	wait.Wait()
}

// rowsOf returns the rows of a tensor in place.
func rowsOf(t *ane.Tensor) (all [][]fp16.Bits) {
	for row := range t.Rows() {
		all = append(all, trial.Must(unimem.View[fp16.Bits](row)))
	}
	return all
}
