package inspect

import (
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

// inspection holds what inspect prints.
type inspection struct {
	File       string              `json:"file"`
	Version    string              `json:"version"`
	BuildInfo  map[string]string   `json:"build_info,omitempty"`
	Functions  []inspectedFunction `json:"functions"`
	Weights    []inspectedWeight   `json:"weights"`
	WeightSize int64               `json:"weight_bytes"`
	Notes      []string            `json:"notes,omitempty"` // on literals that their type cannot hold
}

type inspectedFunction struct {
	Name      string              `json:"name"`
	Opset     string              `json:"opset"`
	Inputs    []inspectedTensor   `json:"inputs"`
	Outputs   []inspectedTensor   `json:"outputs"`
	Constants int                 `json:"constants"`
	Operators []inspectedOperator `json:"operators"`
}

// inspectedTensor is an input or output with the layout that the engine gives it.
type inspectedTensor struct {
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

type inspectedOperator struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Known bool   `json:"known"` // whether the software engine has it
}

type inspectedWeight struct {
	Path   string `json:"path"`
	Offset uint64 `json:"offset"`
	Type   string `json:"type"`
	Bytes  int64  `json:"bytes"`
	File   string `json:"file,omitempty"`
	Status string `json:"status"` // "found", "missing", or the error
}

// inspect reads a program and prints its parts.
func inspect(a *cli.App, ctx context.Context, path, modelPath string) error {
	text, _, err := a.ReadProgram(ctx, "inspect", path)
	if err != nil {
		return err
	}
	name := cli.ProgramName(path)
	p, err := mil.Parse(name, text)
	if err != nil {
		return cli.Bad(err)
	}
	if modelPath == "" {
		modelPath = filepath.Dir(path)
	}
	found := inspection{File: path, Version: p.Version, BuildInfo: buildInfo(p), Functions: []inspectedFunction{},
		Weights: []inspectedWeight{}}
	for _, f := range p.Funcs {
		found.Functions = append(found.Functions, inspectFunction(f))
	}
	found.weigh(p, tensorfile.NewWeights(p, modelPath, tensorfile.Fill{}))
	found.Notes = ops.RangeNotes(name, p)
	a.Notes(found.Notes)
	r := cli.NewReport(nil)
	r.Details = found
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	return found.print(a)
}

// buildInfo returns the strings of the attribute buildInfo.
func buildInfo(p *mil.Program) map[string]string {
	info := map[string]string{}
	for _, attr := range p.Attrs {
		v, _ := attr.Value.(*mil.Value)
		if v == nil || attr.Name != "buildInfo" {
			continue
		}
		d, _ := v.Literal.(*mil.DictLit)
		if d == nil {
			continue
		}
		for _, pair := range d.Pairs {
			if key, ok := word(pair.Key); ok {
				info[key], _ = word(pair.Value)
			}
		}
	}
	return info
}

// word returns the value of a string literal, which may be boxed.
func word(l mil.Literal) (string, bool) {
	for range mil.MaxNesting {
		v, ok := l.(*mil.Value)
		if !ok || v == nil {
			break
		}
		l = v.Literal
	}
	s, ok := l.(mil.StringLit)
	return s.Value, ok
}

func inspectFunction(f *mil.Function) inspectedFunction {
	out := inspectedFunction{Name: f.Name, Opset: f.Opset, Inputs: []inspectedTensor{}, Outputs: []inspectedTensor{},
		Operators: []inspectedOperator{}}
	types := map[string]mil.Type{}
	for _, v := range f.Params {
		types[v.Name] = v.Type
		out.Inputs = append(out.Inputs, inspectTensor(v.Name, v.Type))
	}
	counts := map[string]int{}
	for _, op := range f.Body {
		for _, v := range op.Results {
			types[v.Name] = v.Type
		}
		if op.Kind == "const" {
			out.Constants++
		} else {
			counts[op.Kind]++
		}
	}
	for _, r := range f.Results {
		out.Outputs = append(out.Outputs, inspectTensor(r.Name, types[r.Name]))
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		out.Operators = append(out.Operators, inspectedOperator{kind, counts[kind], ops.Lookup(kind) != nil})
	}
	return out
}

func inspectTensor(name string, t mil.Type) inspectedTensor {
	out := inspectedTensor{Name: name, Type: t.String()}
	shape, fixed := t.Shape()
	if t.Kind != mil.Tensor && t.Kind != mil.Scalar || !fixed {
		out.Problem = "the engine needs a tensor whose every axis has a size"
		return out
	}
	l, err := ane.NewLayout(name, t.DType, shape...)
	var e *ane.Error
	if errors.As(err, &e) {
		out.Problem = e.Detail + "; " + e.Hint
		return out
	}
	out.DType, out.Shape = l.DType.String(), l.Shape
	if out.Shape == nil {
		out.Shape = []int{}
	}
	out.Bytes, out.Padding = l.Bytes(), l.Bytes()-l.PackedBytes()
	out.Row, out.Plane, out.Depth, out.Batch = l.RowStride, l.PlaneStride, l.DepthStride, l.BatchStride
	return out
}

// weigh looks up the weights of the program in their files.
func (i *inspection) weigh(p *mil.Program, w *tensorfile.WeightFiles) {
	for _, path := range w.Order {
		file := w.File(path)
		var f *blob.File
		fault := errors.New("the path leaves the model's folder")
		if file != "" {
			f, fault = blob.Open(file)
		}
		for _, n := range w.Needs[path] {
			row := inspectedWeight{Path: path, Offset: n.Offset, Type: n.Type.String(), File: file, Status: "found"}
			var err error
			if row.Bytes, err = n.Bytes(); err == nil {
				err = fault
			}
			if err == nil {
				_, err = f.Find(n.Offset, n.Type)
			}
			switch e := (*blob.Error)(nil); {
			case errors.Is(err, fs.ErrNotExist):
				row.Status = "missing"
			case errors.As(err, &e):
				row.Status = e.Msg
			case err != nil:
				row.Status = err.Error()
			}
			i.WeightSize += min(row.Bytes, math.MaxInt64-i.WeightSize) // a program may declare any size
			i.Weights = append(i.Weights, row)
		}
		if f != nil {
			f.Close()
		}
	}
}
