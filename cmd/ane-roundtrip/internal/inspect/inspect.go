package inspect

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/ops"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
)

// Command returns the command inspect.
func Command(a *cli.App) *cobra.Command {
	var modelPath string
	cmd := &cobra.Command{
		Use:   "inspect FILE.mil",
		Short: "Print inputs, outputs, operators and weights of a MIL program",
		Long: `inspect reads a MIL program and prints its functions: the inputs and outputs
with the layout that the engine gives them, the operators with their counts, and
the weights with type and size. A note names a number that becomes infinite or 0
in its type. inspect opens no engine and compiles nothing. The file may be - for
standard input.`,
		Example: `  ane-roundtrip inspect model.mil
  ane-roundtrip inspect --json model.mil`,
		Args: cli.Operands(1, 1, "one, FILE.mil or -"),
		RunE: func(cmd *cobra.Command, args []string) error { return inspect(a, cmd.Context(), args[0], modelPath) },
	}
	cmd.Flags().StringVar(&modelPath, "model-path", "",
		"`FOLDER` that @model_path stands for (default: the folder of the program)")
	a.JSONFlag(cmd)
	return cmd
}

// details are the fields that inspect adds to the report.
type details struct {
	File       string            `json:"file"`
	Version    string            `json:"version"`
	BuildInfo  map[string]string `json:"build_info,omitempty"`
	Functions  []function        `json:"functions"`
	Weights    []weight          `json:"weights"`
	WeightSize int64             `json:"weight_bytes"`
	Notes      []string          `json:"notes,omitempty"` // on literals that their type cannot hold
}

type function struct {
	Name      string     `json:"name"`
	Opset     string     `json:"opset"`
	Inputs    []tensor   `json:"inputs"`
	Outputs   []tensor   `json:"outputs"`
	Constants int        `json:"constants"`
	Operators []operator `json:"operators"`
}

// tensor is an input or output with the layout that the engine gives it.
type tensor struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	DType   string `json:"dtype,omitempty"`
	Shape   []int  `json:"shape"`
	Bytes   int    `json:"bytes,omitempty"`      // size of the surface
	Padding int    `json:"padding_bytes"`        // bytes of the surface that hold no element
	Row     int    `json:"row_stride,omitempty"` // all strides are in bytes
	Plane   int    `json:"plane_stride,omitempty"`
	Depth   int    `json:"depth_stride,omitempty"`
	Batch   int    `json:"batch_stride,omitempty"`
	Problem string `json:"problem,omitempty"` // why the engine gives it no layout
}

type operator struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Known bool   `json:"known"` // whether the software engine has it
}

type weight struct {
	Path   string `json:"path"`
	Offset uint64 `json:"offset"`
	Type   string `json:"type"`
	Bytes  int64  `json:"bytes"`
	File   string `json:"file,omitempty"`
	Status string `json:"status"` // "found", "missing", or the error
}

// inspect reads a program and describes its parts.
func inspect(a *cli.App, ctx context.Context, path, modelPath string) error {
	text, err := a.ReadProgram(ctx, "inspect", path)
	if err != nil {
		return err
	}
	p, err := text.Parse()
	if err != nil {
		return err
	}
	d := &details{File: path, Version: p.Version, BuildInfo: buildInfo(p), Functions: []function{}, Weights: []weight{},
		Notes: ops.RangeNotes(text.Name, p)}
	for _, f := range p.Funcs {
		d.Functions = append(d.Functions, functionOf(f))
	}
	d.weigh(tensorfile.NewWeights(p, cmp.Or(modelPath, filepath.Dir(path)), tensorfile.Fill{}))
	a.Notes(d.Notes)
	a.Show(d, View)
	return nil
}

// buildInfo returns the strings of the attribute buildInfo.
func buildInfo(p *mil.Program) map[string]string {
	info := map[string]string{}
	for _, attr := range p.Attrs {
		v, _ := attr.Value.(*mil.Value)
		if v == nil || attr.Name != "buildInfo" {
			continue
		}
		if d, ok := v.Literal.(*mil.DictLit); ok {
			for _, pair := range d.Pairs {
				info[word(pair.Key)] = word(pair.Value)
			}
		}
	}
	return info
}

// word returns the value of a string, which may be boxed; empty for another literal.
func word(l mil.Literal) string {
	switch l := l.(type) {
	case *mil.Value:
		return word(l.Literal)
	case mil.StringLit:
		return l.Value
	}
	return ""
}

func functionOf(f *mil.Function) function {
	out := function{Name: f.Name, Opset: f.Opset, Inputs: []tensor{}, Outputs: []tensor{}, Operators: []operator{}}
	types := map[string]mil.Type{}
	for _, v := range f.Params {
		types[v.Name] = v.Type
		out.Inputs = append(out.Inputs, tensorOf(v.Name, v.Type))
	}
	counts := map[string]int{}
	for _, op := range f.Body {
		for _, v := range op.Results {
			types[v.Name] = v.Type
		}
		counts[op.Kind]++
	}
	out.Constants = counts["const"]
	delete(counts, "const")
	for _, r := range f.Results {
		out.Outputs = append(out.Outputs, tensorOf(r.Name, types[r.Name]))
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		out.Operators = append(out.Operators, operator{kind, counts[kind], ops.Lookup(kind) != nil})
	}
	return out
}

func tensorOf(name string, t mil.Type) tensor {
	out := tensor{Name: name, Type: t.String()}
	shape, fixed := t.Shape()
	if t.Kind != mil.Tensor && t.Kind != mil.Scalar || !fixed {
		out.Problem = "the engine needs a tensor whose every axis has a size"
		return out
	}
	l, err := ane.NewLayout(name, t.DType, shape...)
	if e := (*ane.Error)(nil); errors.As(err, &e) {
		out.Problem = e.Detail + "; " + e.Hint
		return out
	}
	out.DType, out.Shape = l.DType.String(), append([]int{}, l.Shape...)
	out.Bytes, out.Padding = l.Bytes(), l.Bytes()-l.PackedBytes()
	out.Row, out.Plane, out.Depth, out.Batch = l.RowStride, l.PlaneStride, l.DepthStride, l.BatchStride
	return out
}

// weigh looks up the weights of the program in their files.
func (d *details) weigh(w *tensorfile.WeightFiles) {
	for _, path := range w.Order {
		file := w.File(path)
		f, fault := blob.Open(file)
		if file == "" {
			fault = errors.New("the path leaves the model's folder")
		}
		for _, n := range w.Needs[path] {
			size, err := n.Bytes()
			if err = cmp.Or(err, fault); err == nil {
				_, err = f.Find(n.Offset, n.Type)
			}
			d.WeightSize += min(size, math.MaxInt64-d.WeightSize) // a program may declare any size
			d.Weights = append(d.Weights, weight{path, n.Offset, n.Type.String(), size, file, status(err)})
		}
		if f != nil {
			f.Close()
		}
	}
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
