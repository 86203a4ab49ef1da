package inspect

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/internal/buildinfo"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/internal/shapes"
)

// Command returns the command inspect.
func Command(a *cli.App) *cobra.Command {
	var modelPath string
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Print inputs, outputs, operators and weights of a MIL program",
		Long: `inspect reads a MIL program and prints its functions: the inputs and outputs
with the layout that the engine gives them, the operators with their counts, and
the weights with type and size. A note names a number that becomes infinite or 0
in its type. inspect opens no engine and compiles nothing. The file may be - for
standard input, or a model of Core ML: .mlpackage, .mlmodelc, .mlmodel.`,
		Example: `  ane-roundtrip inspect model.mil
  ane-roundtrip inspect --json model.mlpackage`,
		Args: cli.Operands(1, 1, "one, FILE.mil, a model or -"),
		RunE: func(cmd *cobra.Command, args []string) error { return inspect(a, cmd.Context(), args[0], modelPath) },
	}
	cmd.Flags().StringVar(&modelPath, "model-path", "",
		"`FOLDER` that @model_path stands for (default: the folder of the program)")
	a.ModelFlags(cmd)
	a.JSONFlag(cmd)
	return cmd
}

// inspect reads a program and describes its parts.
func inspect(a *cli.App, ctx context.Context, path, modelPath string) error {
	text, err := a.ReadProgram(ctx, "inspect", path)
	if err != nil {
		return err
	}
	p, err := a.Parse(text, "")
	if p == nil || errors.Is(err, shapes.ErrGiven) {
		return err
	}
	if err != nil { // of lengths alone; the rest of the program can be shown
		a.Notes([]string{cli.ErrorText(err)})
	}
	var functions plist.Array
	for _, f := range p.Funcs {
		functions = append(functions, functionOf(f))
	}
	weights, size := weigh(tensorfile.NewWeights(p, cmp.Or(modelPath, text.Dir), tensorfile.Fill{}))
	details := plist.Of("file", path, "version", p.Version, "functions", functions, "weights", weights,
		"weight_bytes", size)
	if info := buildinfo.Of(p); len(info) > 0 {
		details = append(details, plist.Of("build_info", info)...)
	}
	if notes := ops.RangeNotes(text.Name, p); len(notes) > 0 { // on literals that their type cannot hold
		a.Notes(notes)
		details = append(details, plist.Of("notes", notes)...)
	}
	a.Show(details, View)
	return nil
}

func functionOf(f *mil.Function) plist.Dict {
	var inputs, outputs, operators plist.Array
	types := map[string]mil.Type{}
	for _, v := range f.Params {
		types[v.Name] = v.Type
		inputs = append(inputs, tensorOf(v.Name, v.Type))
	}
	counts := map[string]int{}
	for _, op := range f.Body {
		for _, v := range op.Results {
			types[v.Name] = v.Type
		}
	}
	for op := range f.Ops() {
		counts[op.Kind]++
	}
	for _, r := range f.Results {
		outputs = append(outputs, tensorOf(r.Name, types[r.Name]))
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		if kind != "const" {
			known := ops.Lookup(kind) != nil // by the software engine
			operators = append(operators, plist.Of("name", kind, "count", counts[kind], "known", known))
		}
	}
	return plist.Of("name", f.Name, "opset", f.Opset, "inputs", inputs, "outputs", outputs, "constants", counts["const"],
		"operators", operators)
}

// tensorOf describes an input or output with the layout that the engine gives it, or with the reason why it gives none.
func tensorOf(name string, t mil.Type) plist.Dict {
	refused := func(problem string) plist.Dict {
		return plist.Of("name", name, "type", t.String(), "shape", nil, "padding_bytes", 0, "problem", problem)
	}
	if _, fixed := t.Held().Shape(); !fixed {
		return refused("the engine needs a tensor whose every axis has a size")
	}
	l, err := ane.BufferLayout(name, t)
	if e := (*ane.Error)(nil); errors.As(err, &e) {
		return refused(e.Detail + "; " + e.Hint)
	}
	return plist.Of("name", name, "type", t.String(), "dtype", l.DType.String(), "shape", append([]int{}, l.Shape...),
		"bytes", l.Bytes(), "padding_bytes", l.Bytes()-l.PackedBytes(), "row_stride", l.RowStride,
		"plane_stride", l.PlaneStride, "depth_stride", l.DepthStride, "batch_stride", l.BatchStride)
}

// weigh looks up the weights of a program in their files. The size is that of all.
func weigh(w *tensorfile.WeightFiles) (weights plist.Array, size int64) {
	for _, path := range w.Order {
		file := w.File(path)
		f, fault := blob.Open(file)
		if file == "" {
			fault = errors.New("the path leaves the model's folder")
		}
		for _, n := range w.Needs[path] {
			bytes, err := n.Bytes()
			if err = cmp.Or(err, fault); err == nil {
				_, err = f.Find(n.Offset, n.Type)
			}
			size += min(bytes, math.MaxInt64-size) // a program may declare any size
			one := plist.Of("path", path, "offset", n.Offset, "type", n.Type.String(), "bytes", bytes,
				"status", status(err))
			if file != "" {
				one = append(one, plist.Of("file", file)...)
			}
			weights = append(weights, one)
		}
		if f != nil {
			f.Close()
		}
	}
	return weights, size
}

// status says how the search for a weight ended.
func status(err error) string {
	switch e := (*blob.Error)(nil); {
	case err == nil:
		return "found"
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.As(err, &e):
		return e.Msg
	}
	return err.Error()
}
