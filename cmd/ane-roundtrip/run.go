package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/unimem"
)

// runOptions are the flags of run.
type runOptions struct {
	mil, modelPath, function, fill string
	in, out                        []string // NAME=FILE
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run --mil FILE [--model-path DIR] --in NAME=FILE.npy ... --out NAME=FILE.npy ...",
		Short: "Run a MIL program on .npy files",
		Long: `run compiles a MIL program and evaluates it once. Inputs come from .npy files
of the program's own types and shapes; float32 and float64 are rounded for an
fp16 input, Fortran order is put right, everything else is refused. Each output
file has the output's own type and shape; only those asked for are written, and
either all of them or none.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.mil, "mil", "", "the program, MIL text")
	f.StringVar(&o.modelPath, "model-path", "", "the directory that @model_path stands for (default: the program's)")
	f.StringVar(&o.function, "function", "", "the function to run (default: main, or the first)")
	f.StringVar(&o.fill, "fill", "", "values of inputs without a file: zeros, ones or random:SEED")
	f.StringArrayVar(&o.in, "in", nil, "NAME=FILE.npy, an input")
	f.StringArrayVar(&o.out, "out", nil, "NAME=FILE.npy, an output to write")
	return cmd
}

// tensorRow tells about one tensor of a run.
type tensorRow struct {
	Name   string  `json:"name"`
	Side   string  `json:"side"` // input or output
	DType  string  `json:"dtype"`
	Shape  []int   `json:"shape"`
	File   string  `json:"file,omitempty"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	NaN    int     `json:"nan"`
	Copied int     `json:"bytes_copied"` // between the file's dense array and the tensor's rows
}

// run compiles, fills, evaluates once, and writes what was asked for.
func (a *app) run(ctx context.Context, o runOptions) (err error) {
	if o.mil == "" {
		return badf("no program; give --mil FILE")
	}
	given, err := pairs("--in", o.in)
	if err != nil {
		return err
	}
	wanted, err := pairs("--out", o.out)
	if err != nil {
		return err
	}
	made, err := parseFill(o.fill)
	if err != nil {
		return err
	}
	text, err := readText(o.mil)
	if err != nil {
		return err
	}
	if o.modelPath == "" {
		o.modelPath = filepath.Dir(o.mil)
	}
	d, err := a.open(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	rig, err := trial.NewRig(ctx, d, ane.Source{File: o.mil, Text: text, Function: o.function, Weights: blob.Dir(o.modelPath)})
	if err != nil {
		return programFault(o.mil, err)
	}
	defer func() { err = errors.Join(err, rig.Close(context.WithoutCancel(ctx))) }()
	if err := known("--in", given, rig.Model.Inputs()); err != nil {
		return err
	}
	if err := known("--out", wanted, rig.Model.Outputs()); err != nil {
		return err
	}
	rows, err := a.inputs(rig, given, made)
	if err != nil {
		return err
	}
	files, err := stage(wanted)
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range files {
			f.Discard()
		}
	}()
	res, err := rig.Model.Evaluate(ctx, rig.Request)
	if err != nil {
		return err
	}
	outs, err := outputs(rig, wanted, files)
	if err != nil {
		return err
	}
	return a.told(d, rig, res.Elapsed, append(rows, outs...))
}

// maxText bounds the program: the largest published ones have some kilobytes.
const maxText = 256 << 20

// readText reads the program.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badf("%w; give the path of a MIL text file", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, badf("%w; give the path of a MIL text file", err)
	}
	if len(text) > maxText {
		return nil, badf("%s is larger than %d MiB; put weights into a file of their own", path, maxText>>20)
	}
	return text, nil
}

// programFault marks what the program, its weights or its size are to blame
// for as bad input.
func programFault(file string, err error) error {
	switch {
	case errors.Is(err, ane.ErrCompile) || errors.Is(err, ane.ErrShape) || errors.Is(err, ane.ErrType):
		return bad(err)
	case errors.Is(err, unimem.ErrCreate) || errors.Is(err, unimem.ErrSize):
		return badf("%s: its tensors do not fit this machine: %w", file, err)
	}
	return err
}

// pairs reads NAME=FILE arguments.
func pairs(flag string, args []string) (map[string]string, error) {
	m := map[string]string{}
	for _, s := range args {
		name, file, ok := strings.Cut(s, "=")
		if !ok || name == "" || file == "" {
			return nil, badf("%s %q; give NAME=FILE.npy", flag, s)
		}
		if _, twice := m[name]; twice {
			return nil, badf("%s names %s twice; give one file for each", flag, name)
		}
		m[name] = file
	}
	return m, nil
}

// known refuses names that the program does not have.
func known(flag string, given map[string]string, layouts []ane.Layout) error {
	var names []string
	for _, l := range layouts {
		names = append(names, l.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return badf("%s %s: the program has no such tensor; it has %s", flag, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// inputs fills every input from its file or by the rule of --fill.
func (a *app) inputs(rig *trial.Rig, given map[string]string, made fill) ([]tensorRow, error) {
	var rows []tensorRow
	for _, l := range rig.Model.Inputs() {
		file, ok := given[l.Name]
		var data []byte
		switch {
		case ok:
			array, err := npy.ReadFile(file)
			if err != nil {
				return nil, bad(err)
			}
			var overflow int
			if data, overflow, err = elements(array, l); err != nil {
				return nil, badf("%s: %w", file, err)
			}
			if overflow > 0 {
				a.logf("%s: %d values beyond fp16 became infinite", file, overflow)
			}
		case made.kind != "":
			data = made.elements(l)
		default:
			return nil, badf("input %s, %s of shape %v, is missing; give --in %s=FILE.npy, or --fill zeros", l.Name, l.DType, l.Shape, l.Name)
		}
		n, err := rig.In[l.Name].Write(data)
		if err != nil {
			return nil, err
		}
		rows = append(rows, describe("input", l, file, data, n))
	}
	return rows, nil
}

// stage starts a file for every output, so that one that cannot be written is
// found before the work is done.
func stage(wanted map[string]string) (map[string]*wholefile.File, error) {
	files := map[string]*wholefile.File{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		f, err := wholefile.Create(wanted[name])
		if err != nil {
			err = badf("output %s: %w; name a file in a folder that exists and can be written", name, err)
		}
		for other, g := range files {
			if err == nil && f.Same(g) {
				f.Discard()
				err = badf("outputs %s and %s go to the same file %s; give each a file of its own", other, name, wanted[name])
			}
		}
		if err != nil {
			for _, g := range files {
				g.Discard()
			}
			return nil, err
		}
		files[name] = f
	}
	return files, nil
}

// outputs writes the files that were asked for, all or none.
func outputs(rig *trial.Rig, wanted map[string]string, files map[string]*wholefile.File) ([]tensorRow, error) {
	var rows []tensorRow
	for _, l := range rig.Model.Outputs() {
		data := make([]byte, l.PackedBytes())
		n, err := rig.Out[l.Name].Read(data)
		if err != nil {
			return nil, err
		}
		if f := files[l.Name]; f != nil {
			if err := npy.Write(f, &npy.Array{Kind: kinds[l.DType], Shape: l.Shape, Data: data}); err != nil {
				return nil, badf("%s: %w", wanted[l.Name], err)
			}
		}
		rows = append(rows, describe("output", l, wanted[l.Name], data, n))
	}
	return rows, bad(wholefile.CommitAll(slices.Collect(maps.Values(files))...))
}

// describe measures the values of a dense tensor.
func describe(side string, l ane.Layout, file string, data []byte, copied int) tensorRow {
	r := tensorRow{Name: l.Name, Side: side, DType: l.DType.String(), Shape: l.Shape, File: file, Copied: copied,
		Min: math.Inf(1), Max: math.Inf(-1)}
	size := l.DType.Size()
	for at := 0; at < len(data); at += size {
		v := element.Load(l.DType, data[at:])
		if math.IsNaN(v) {
			r.NaN++
			continue
		}
		r.Min, r.Max = min(r.Min, v), max(r.Max, v)
	}
	return r
}

// told prints what was done.
func (a *app) told(d *ane.Device, rig *trial.Rig, elapsed time.Duration, rows []tensorRow) error {
	receipt := rig.Model.Receipt()
	for _, n := range receipt.Notes {
		a.logf("note: %s", n)
	}
	if a.json {
		r := newReport("run", d)
		r.Engine = &receipt
		for i := range rows {
			rows[i].Min, rows[i].Max = finite(rows[i].Min), finite(rows[i].Max)
		}
		r.Details = struct {
			Tensors  []tensorRow `json:"tensors"`
			Compile  float64     `json:"compile_s"`
			Load     float64     `json:"load_s"`
			Evaluate float64     `json:"evaluate_s"`
		}{rows, rig.Compile.Seconds(), rig.Load.Seconds(), elapsed.Seconds()}
		return r.write(a.out)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tensor\tside\ttype\tshape\tmin\tmax\tnan\tfile")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%.6g\t%.6g\t%d\t%s\n", r.Name, r.Side, r.DType, r.Shape, r.Min, r.Max, r.NaN, r.File)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\nengine %s: compile %s, load %s, evaluate %s\n", receipt.Engine, brief(rig.Compile), brief(rig.Load), brief(elapsed))
	return err
}
