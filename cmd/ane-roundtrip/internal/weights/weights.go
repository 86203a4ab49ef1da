package weights

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Command returns the command weights.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "weights FILE|FOLDER",
		Short: "List the tensors of a safetensors file and their alignment",
		Long: `weights lists the tensors of a .safetensors file, of an index
*.safetensors.index.json, or of a folder of either: type, shape, bytes, place
and alignment. It reads headers only, and refuses a file of another format.

Tensors that start at a multiple of their element's size are usable without a
copy; weights prints their share. Below it are the shares that an engine can
bind: at multiples of 64 bytes if it takes offsets, and of 16384 bytes, where
a tensor begins a surface of its own. weights repack aligns a file; weights
check reads all of it.`,
		Example: `  ane-roundtrip weights model.safetensors
  ane-roundtrip weights --json folder
  ane-roundtrip weights repack --align 16384 m.safetensors aligned.safetensors`,
		Args: operands(1, "FILE|FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error { return listWeights(a, args[0]) },
	}
	a.JSONFlag(cmd)
	cmd.AddCommand(weightsRepackCommand(a), weightsCheckCommand(a))
	return cmd
}

func weightsRepackCommand(a *cli.App) *cobra.Command {
	var align int
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return repackWeights(a, cmd.Context(), args[0], args[1], align)
		},
	}
	cmd.Flags().IntVar(&align, "align", ane.RowAlign, "`BYTES`, a power of two, 67108864 at most")
	a.JSONFlag(cmd)
	return cmd
}

func weightsCheckCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE|FOLDER",
		Short: "Read a safetensors file wholly and verify it",
		Long: `check verifies the headers of a file, an index or a folder, and that index and
files agree. It reads every byte of every tensor, which finds errors of the disk
and files that become shorter during the check. The format has no checksums.`,
		Example: `  ane-roundtrip weights check model.safetensors`,
		Args:    operands(1, "FILE|FOLDER"),
		RunE:    func(cmd *cobra.Command, args []string) error { return checkWeights(a, cmd.Context(), args[0]) },
	}
	a.JSONFlag(cmd)
	return cmd
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
		meant := ""
		if len(args) > 0 {
			meant = near.Hint(args[0], cli.CommandNames(cmd))
		}
		return cli.Badf("operands: %d; %sgive %s", len(args), meant, names)
	}
}

// weightsDetails are the fields that weights adds to the report.
type weightsDetails struct {
	File     string            `json:"file"`
	Action   string            `json:"action"` // list, repack or check
	Out      string            `json:"out,omitempty"`
	Align    int               `json:"align,omitempty"`
	Moved    int64             `json:"moved_bytes,omitempty"`   // of repack
	Checked  int64             `json:"checked_bytes,omitempty"` // of check
	Elapsed  time.Duration     `json:"elapsed_ns"`
	Files    int               `json:"files"`
	Bytes    int64             `json:"bytes"` // of all tensors
	Usable   int64             `json:"usable_bytes"`
	Rows     int64             `json:"bytes_at_64"`
	Pages    int64             `json:"bytes_at_16384"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Tensors  []weightsTensor   `json:"tensors"`

	count int // of tensors, which are in Tensors where they are printed
}

type weightsTensor struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Shape   []int  `json:"shape"`
	Bytes   int64  `json:"bytes"`
	File    string `json:"file"`
	Offset  int64  `json:"offset"`
	Aligned int64  `json:"alignment"` // the largest power of two that divides the offset, 16384 at most
	Usable  bool   `json:"usable"`
}

// openWeights opens a file, and calls it bad input if it is not of the format.
func openWeights(path string) (*safetensors.File, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		if format := otherFormat(path); format != "" {
			return nil, cli.Badf("%s is a %s file; give a .safetensors file, its index, or a folder of either", path, format)
		}
		return nil, badWeights(err)
	}
	return f, nil
}

// otherFormat names the format of a file that holds weights but is no .safetensors file, "" if it is not known.
func otherFormat(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var start [6]byte
	n, _ := io.ReadFull(f, start[:])
	for magic, format := range map[string]string{"\x93NUMPY": ".npy", "PK\x03\x04": "zip (.npz, .pt)", "GGUF": ".gguf",
		"\x89HDF": "HDF5"} {
		if strings.HasPrefix(string(start[:n]), magic) {
			return format
		}
	}
	return ""
}

// badWeights is bad input unless the system has failed.
func badWeights(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Badf("%w; give a .safetensors file, its index, or a folder of either", err)
	}
	var e *safetensors.Error
	if errors.As(err, &e) && !errors.Is(err, safetensors.ErrChanged) {
		return cli.Bad(err)
	}
	return err
}

// weightsDetailsOf describes the tensors of f. It keeps metadata only for a report, and a row for each tensor only for
// a report or a table: a header of 100 MB has millions of either.
func weightsDetailsOf(a *cli.App, action string, f *safetensors.File, table bool) (*weightsDetails, error) {
	d := &weightsDetails{File: f.Path(), Action: action, Tensors: []weightsTensor{}}
	if a.Reports() {
		d.Metadata = f.Metadata()
	}
	files := map[string]struct{}{}
	for _, name := range f.Names() {
		t, err := f.Tensor(name)
		if err != nil {
			return nil, err
		}
		files[t.File()] = struct{}{}
		row := weightsTensor{Name: name, Bytes: t.Size(), File: t.File(), Offset: t.Offset(),
			Aligned: alignment(t.Offset()), Usable: t.Aligned()}
		if table || a.Reports() {
			row.Type, row.Shape = t.DType().String(), t.Shape()
			d.Tensors = append(d.Tensors, row)
		}
		d.count++
		d.Bytes += row.Bytes
		if row.Usable {
			d.Usable += row.Bytes
		}
		if row.Aligned >= ane.RowAlign {
			d.Rows += row.Bytes
		}
		if row.Aligned >= unimem.PageSize {
			d.Pages += row.Bytes
		}
	}
	d.Files = len(files)
	return d, nil
}

// alignment is the largest power of two that divides an offset, at most a page.
func alignment(offset int64) int64 {
	if offset == 0 {
		return unimem.PageSize
	}
	return min(offset&-offset, unimem.PageSize)
}

func listWeights(a *cli.App, path string) error {
	start := time.Now()
	f, err := openWeights(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing is bound
	d, err := weightsDetailsOf(a, "list", f, true)
	if err != nil {
		return err
	}
	d.Elapsed = time.Since(start)
	return showWeights(a, d, true)
}

func repackWeights(a *cli.App, ctx context.Context, in, out string, align int) error {
	if align < 1 || align&(align-1) != 0 {
		return cli.Badf("--align %d; give a power of two", align)
	}
	switch info, err := os.Stat(out); {
	case err != nil: // there is none, or Repack tells what is wrong
	case !info.Mode().IsRegular():
		return cli.Badf("%s is not a regular file; name the file to write", out)
	case a.IsOutput(info):
		return cli.Badf("%s is standard output, where the report goes; name a file", out)
	}
	start := time.Now()
	f, err := openWeights(in)
	if err != nil {
		return err
	}
	moved, err := safetensors.Repack(ctx, out, f, align)
	if err = errors.Join(err, f.Close()); err != nil {
		return Unpacked(out, err)
	}
	g, err := openWeights(out)
	if err != nil {
		return err
	}
	defer g.Close() // nothing is bound
	d, err := weightsDetailsOf(a, "repack", g, false)
	if err != nil {
		return err
	}
	d.File, d.Out, d.Align, d.Moved, d.Elapsed = in, out, align, moved, time.Since(start)
	return showWeights(a, d, false)
}

// Unpacked is the error of repack. What the system says of the file names OUT.
func Unpacked(out string, err error) error {
	var e *safetensors.Error
	var system syscall.Errno
	switch {
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

func checkWeights(a *cli.App, ctx context.Context, path string) error {
	start := time.Now()
	f, err := openWeights(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing is bound
	if err := f.Check(ctx, nil); err != nil {
		return err
	}
	d, err := weightsDetailsOf(a, "check", f, false)
	if err != nil {
		return err
	}
	d.Checked, d.Elapsed = d.Bytes, time.Since(start)
	return showWeights(a, d, false)
}

// showWeights prints the shares and the table.
func showWeights(a *cli.App, d *weightsDetails, table bool) error {
	r := cli.NewReport(nil)
	r.Details = d
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	switch d.Action {
	case "repack":
		err := a.Printf("%s: wrote %d bytes of tensors at multiples of %d\n", cli.Visible(d.Out), d.Moved, d.Align)
		if err != nil {
			return err
		}
	case "check":
		if err := a.Printf("%s: read %d bytes, no fault\n", cli.Visible(d.File), d.Checked); err != nil {
			return err
		}
	}
	err := a.Printf("%s in %s, %d bytes: %s usable without a copy, %s at multiples of 64, %s at multiples of 16384\n",
		cli.Counted(d.count, "tensor", "tensors"), cli.Counted(d.Files, "file", "files"), d.Bytes,
		share(d.Usable, d.Bytes),
		share(d.Rows, d.Bytes), share(d.Pages, d.Bytes))
	if err != nil || !table {
		return err
	}
	w := page.NewTable("tensor", "type", "shape", "bytes", "offset", "aligned", "usable", "file")
	w.Shorten(0)
	w.Group(7)
	for _, t := range d.Tensors {
		use := "no copy"
		if !t.Usable {
			use = "copy"
		}
		w.Row(cli.Visible(t.Name), t.Type, strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ","), fmt.Sprint(t.Bytes),
			fmt.Sprint(t.Offset), fmt.Sprint(t.Aligned), use, cli.Visible(t.File))
	}
	return a.Tables(page.NewTable(), w)
}

// share is a part of all in percent; all of nothing is all.
func share(part, all int64) string {
	if all == 0 {
		return "100.0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}
