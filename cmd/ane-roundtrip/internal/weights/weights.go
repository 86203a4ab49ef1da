package weights

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Command returns the command weights.
func Command(a *cli.App) *cobra.Command {
	d := &details{Action: "list"}
	cmd := &cobra.Command{
		Use:   "weights FILE|FOLDER",
		Short: "List the tensors of a safetensors file and their alignment",
		Long: `weights lists the tensors of a .safetensors file, of an index
*.safetensors.index.json, or of a folder of either: type, shape, bytes, place
and alignment. It reads headers only, and refuses a file of another format.
--load auto prints whether a program would map or read it now, and why.

Tensors of a type that a program takes are usable without a copy if they start
at a multiple of their element's size; weights prints their share, and that of
F32 and BF16, which generate and weights.Of convert to fp16. Below it are the
shares that an engine can bind: at multiples of 64 bytes if it takes offsets,
and of 16384 bytes, where a tensor begins a surface of its own. weights repack
aligns a file; weights check reads all of it.`,
		Example: `  ane-roundtrip weights model.safetensors
  ane-roundtrip weights --json folder
  ane-roundtrip weights repack --align 16384 m.safetensors aligned.safetensors`,
		Args: operands(1, "FILE|FOLDER"),
		RunE: d.of(a),
	}
	d.Flag(cmd, safetensors.MapMode)
	a.JSONFlag(cmd)
	cmd.AddCommand(repackCommand(a), checkCommand(a))
	return cmd
}

func repackCommand(a *cli.App) *cobra.Command {
	d := &details{Action: "repack"}
	cmd := &cobra.Command{
		Use:   "repack [--align N] IN OUT",
		Short: "Write a safetensors file whose tensors are aligned",
		Long: `repack writes the tensors of IN, a file, an index or a folder, to one file OUT,
each at a multiple of --align bytes, so that all of them are usable without a
copy. Any reader accepts the file: if a tensor's length is not a multiple, a
tensor of zeros follows, whose name begins with __padding__; other readers list
it, this program does not.

OUT appears when it is complete and on the disk. OUT may be IN, but not an
index, one of several files, or a further file of the folder IN, which would
then have every tensor twice. If OUT is a symbolic link, repack replaces its
target and keeps the link. A file that is replaced keeps its permissions.`,
		Example: `  ane-roundtrip weights repack model.safetensors aligned.safetensors
  ane-roundtrip weights repack --align 16384 folder model.safetensors`,
		Args: operands(2, "IN and OUT"),
		RunE: d.of(a),
	}
	cmd.Flags().IntVar(&d.Align, "align", ane.RowAlign, "`BYTES`, a power of two, 67108864 at most")
	d.Flag(cmd, safetensors.AutoMode)
	a.JSONFlag(cmd)
	return cmd
}

func checkCommand(a *cli.App) *cobra.Command {
	d := &details{Action: "check"}
	cmd := &cobra.Command{
		Use:   "check FILE|FOLDER",
		Short: "Read a safetensors file wholly and verify it",
		Long: `check verifies the headers of a file, an index or a folder, and that index and
files agree. It reads every byte of every tensor, which finds errors of the disk
and files that become shorter during the check. The format has no checksums.`,
		Example: `  ane-roundtrip weights check model.safetensors`,
		Args:    operands(1, "FILE|FOLDER"),
		RunE:    d.of(a),
	}
	d.Flag(cmd, safetensors.AutoMode)
	a.JSONFlag(cmd)
	return cmd
}

// of runs on the operands.
func (d *details) of(a *cli.App) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		d.File, d.Out = args[0], append(args, "")[1]
		return d.run(cmd.Context(), a)
	}
}

// operands accepts exactly n operands, which are files that the command maps.
func operands(n int, names string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, cli.Stdio) {
			return cli.Badf("-: weights are mapped, which standard input and output cannot be; name a file")
		}
		if len(args) == n {
			return nil
		}
		meant := near.Hint(append(args, "")[0], cli.CommandNames(cmd))
		return cli.Badf("operands: %d; %sgive %s", len(args), meant, names)
	}
}

// details are the fields that weights adds to the report.
type details struct {
	File   string `json:"file"`
	Action string `json:"action"` // list, repack or check
	cli.Loaded
	Out      string            `json:"out,omitempty"`
	Align    int               `json:"align,omitempty"`
	Moved    int64             `json:"moved_bytes,omitempty"`   // of repack
	Checked  int64             `json:"checked_bytes,omitempty"` // of check
	Elapsed  time.Duration     `json:"elapsed_ns"`
	Files    int               `json:"files"`
	Bytes    int64             `json:"bytes"` // of all tensors
	Usable   int64             `json:"usable_bytes"`
	Convert  int64             `json:"converted_bytes"`
	Rows     int64             `json:"bytes_at_64"`
	Pages    int64             `json:"bytes_at_16384"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Tensors  []tensor          `json:"tensors"`

	count int // of tensors, which are in Tensors where they are printed
}

type tensor struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Shape   []int  `json:"shape"`
	Bytes   int64  `json:"bytes"`
	File    string `json:"file"`
	Offset  int64  `json:"offset"`
	Aligned int64  `json:"alignment"` // the largest power of two that divides the offset, 16384 at most
	Usable  bool   `json:"usable"`
	Convert bool   `json:"converted"`
}

// open opens a file as --load says, and calls it bad input if it is not of the format.
func (d *details) open(ctx context.Context, path string) (*safetensors.File, error) {
	const give = "give a .safetensors file, its index, or a folder of either"
	mode, err := d.Choice()
	if err != nil {
		return nil, err
	}
	f, err := safetensors.OpenAs(ctx, path, mode)
	var fault *safetensors.Error
	switch found := sniff.Path(path); {
	case err == nil:
		d.Set(f)
		return f, nil
	case found.Kind == sniff.Folder, found.Kind == sniff.Stream:
		return nil, cli.Badf("%s is %s; "+give, path, found.What)
	case found.Foreign(sniff.Safetensors) && found.Kind != sniff.Index && found.Kind != sniff.ModelFolder:
		return nil, cli.Badf("%s is %s; %s", path, found.What, found.Next)
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Badf("%w; "+give, err)
	case errors.As(err, &fault) && !errors.Is(err, safetensors.ErrChanged) && !errors.Is(err, unimem.ErrExhausted):
		return nil, cli.Bad(err)
	}
	return nil, err // of the system
}

// run does the work of the command, and reports the tensors of the file that it reads or writes.
func (d *details) run(ctx context.Context, a *cli.App) error {
	start := time.Now()
	if d.Action == "repack" {
		if err := d.repack(ctx, a); err != nil {
			return err
		}
	}
	of := &details{Loaded: cli.Loaded{Mode: safetensors.MapMode.String()}} // repack has written OUT: its headers are read
	if d.Out == "" {
		of = d
	}
	f, err := of.open(ctx, cmp.Or(d.Out, d.File))
	if err != nil {
		return err
	}
	defer f.Close() // nothing is bound
	if err := d.describe(f, a.Reports()); err != nil {
		return err
	}
	if d.Action == "check" {
		if err := f.Check(ctx, nil); err != nil {
			return err
		}
		d.Checked = d.Bytes
	}
	d.Elapsed = time.Since(start)
	a.Show(d, func(page *doc.Doc, v *doc.Value) { view(page, v, d.count) })
	return nil
}

// repack writes the tensors of a file to another one.
func (d *details) repack(ctx context.Context, a *cli.App) error {
	if d.Align < 1 || d.Align&(d.Align-1) != 0 {
		return cli.Badf("--align %d; give a power of two", d.Align)
	}
	switch info, err := os.Stat(d.Out); {
	case err != nil: // there is none, or Repack tells what is wrong
	case !info.Mode().IsRegular():
		return cli.Badf("%s is not a regular file; name the file to write", d.Out)
	case a.IsOutput(info):
		return cli.Badf("%s is standard output, where the report goes; name a file", d.Out)
	}
	f, err := d.open(ctx, d.File)
	if err != nil {
		return err
	}
	d.Moved, err = safetensors.Repack(ctx, d.Out, f, d.Align)
	return unpacked(d.Out, errors.Join(err, f.Close()))
}

// unpacked is the error of repack. What the system says of the file names OUT.
func unpacked(out string, err error) error {
	var e *safetensors.Error
	var system syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist) || errors.Is(err, safetensors.ErrMisaligned):
		return cli.Bad(err)
	case !errors.As(err, &e) || !errors.As(e.Err, &system):
		return err
	case e.Op == "create":
		return cli.CreateError("OUT: "+out, system)
	case e.File == out:
		return cli.WriteError(out, system)
	}
	return err
}

// taken are the types whose elements a program takes as they are; fp32 stays outside, since the engine computes in fp16.
var taken = map[safetensors.DType]bool{safetensors.F16: true, safetensors.Bool: true, safetensors.I8: true,
	safetensors.U8: true, safetensors.I16: true, safetensors.U16: true, safetensors.I32: true, safetensors.U32: true}

// describe describes the tensors of f. It keeps metadata only for a report, and a row for each tensor only for a report
// or a list: a header of 100 MB has millions of either.
func (d *details) describe(f *safetensors.File, reports bool) error {
	d.Tensors = []tensor{}
	if reports {
		d.Metadata = f.Metadata()
	}
	files := map[string]bool{}
	for _, name := range f.Names() {
		t, err := f.Tensor(name)
		if err != nil {
			return err
		}
		files[t.File()] = true
		row := tensor{Name: name, Bytes: t.Size(), File: t.File(), Offset: t.Offset(),
			Aligned: min(t.Offset()&-t.Offset(), unimem.PageSize), Usable: t.Aligned() && taken[t.DType()],
			Convert: t.DType() == safetensors.F32 || t.DType() == safetensors.BF16}
		if reports || d.Action == "list" {
			row.Type, row.Shape = t.DType().String(), t.Shape()
			d.Tensors = append(d.Tensors, row)
		}
		d.count++
		d.Bytes += row.Bytes
		if row.Usable {
			d.Usable += row.Bytes
		} else if row.Convert {
			d.Convert += row.Bytes
		}
		if row.Aligned >= ane.RowAlign {
			d.Rows += row.Bytes
		}
		if row.Aligned >= unimem.PageSize {
			d.Pages += row.Bytes
		}
	}
	d.Files = len(files)
	return nil
}

// view lays out what was done, the shares of the tensors that are usable without a copy, and the tensors, of a file
// with a number of them.
func view(d *doc.Doc, v *doc.Value, count int) {
	share := func(key string) doc.Cell {
		all := v.At("bytes").Float()
		if all == 0 { // nothing is usable as a whole
			return doc.Words("100.0 %%")
		}
		return doc.Words("%.1f %%", 100*v.At(key).Float()/all)
	}
	var done doc.Lines
	switch v.At("action").Raw {
	case "repack":
		done = doc.Text(v.Code("out"), ": wrote ", v.Bytes("bytes"), " of tensors at multiples of ", v.Plain("align"))
	case "check":
		done = doc.Text(v.Code("file"), ": read ", v.Bytes("bytes"), ", no fault")
	}
	tensors := doc.NewTable("Tensors", "tensor", "type", "shape", "#bytes", "#offset", "#aligned", "usable",
		"file").Shorten(0).Group(7)
	for _, t := range v.Items("tensors") {
		use := "copy"
		if t.At("usable").Yes() {
			use = "no copy"
		} else if t.At("converted").Yes() {
			use = "converted"
		}
		tensors.Row(t.Code("name"), t.Text("type"), doc.Words("[%s]", t.Joined(",", "shape").Number), t.Plain("bytes"),
			t.Plain("offset"), t.Plain("alignment"), doc.Words("%s", use), t.Code("file"))
	}
	if load := v.At("load").Raw; load != "map" {
		done = append(done, doc.Text(v.Text("access"), ": ", v.Text("why"))...)
	}
	d.Section("Shares", nil, done, doc.Text(cli.Counted(count, "tensor", "tensors"), " in ",
		doc.Counted(v.Plain("files"), "file", "files"), ", ", v.Bytes("bytes"), ": ", share("usable_bytes"),
		" usable without a copy, ", share("converted_bytes"), " converted to fp16 (", v.Bytes("converted_bytes"), "), ",
		share("bytes_at_64"), " at multiples of 64, ", share("bytes_at_16384"),
		" at multiples of 16384"))
	d.Section("Tensors", nil, tensors)
}
