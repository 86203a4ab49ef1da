// Package run is the command run: a MIL program evaluated on arrays of files.
package run

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/modes"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// job is one run of the command: its flags, and what they name.
type job struct {
	*cli.App
	mil, modelPath, function string
	values, fillWeights      string   // --fill, --fill-weights
	in, out, expect          []string // NAME=FILE
	repeat                   int
	tol                      float64
	compare, trace           string

	operand                string // names the program in messages: run, or --mil
	inputs, outputs, wants tensorfile.Ports
	rest, made             tensorfile.Fill  // of inputs without a file, and of missing weight files
	modes                  [2]numerics.Mode // of --compare
	weights                *tensorfile.WeightFiles
	source                 ane.Source
	model                  *coreml.Model // that source is of; nil for MIL text
	line                   pipeline
	rig                    *trial.Rig
	found                  details
	checks                 []trial.Check // of --expect
	taken                  []ane.Layout  // inputs of all parts that have run
}

// Command returns the command run.
func Command(a *cli.App) *cobra.Command {
	j := &job{App: a}
	cmd := &cobra.Command{
		Use:   "run FILE --in NAME=FILE ... --out NAME=FILE ...",
		Short: "Run a MIL program on .npy and .npz files",
		Long: `run evaluates a MIL program, or that of a Core ML model (.mlpackage, .mlmodelc,
.mlmodel). Inputs are arrays of .npy or .npz files (FILE.npz:KEY), or pictures
where the model takes them; - is standard input or output. It writes all outputs
that --out names, or none. A note names each conversion of an array to the type
and shape of its input; run rejects arrays that would lose more than precision.
--expect compares an output with a file: the status is 1 if a value differs by
more than --tol T, or by more than T times the expected value where that is
above 1. --compare A,B prints the first operator whose result in two modes of
--numerics differs by more than --tol, and the rule of the chip behind it.
--trace evaluates once more, on a timeline.`,
		Example: `  ane-roundtrip run model.mil --in x=x.npy --out y=y.npy
  ane-roundtrip run model.mlpackage --fill random:1 --fill-weights random:1`,
		Args: cli.Operands(0, 1, "one, FILE.mil, a model or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if j.operand = "--mil"; len(args) > 0 {
				if cmd.Flags().Changed("mil") {
					return cli.Badf("--mil %s and %s are two programs; leave one of them out", j.mil, args[0])
				}
				j.operand, j.mil = "run", args[0]
			}
			fault := j.parse(cmd.Flags().Changed("tol"))
			if err := cmp.Or(a.BeginReport(cmd, j.files()...), fault); err != nil {
				return err
			}
			_, err := trial.Step{Run: j.run}.Make(cmd.Context())
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&j.mil, "mil", "", "`FILE` with the program, as the operand")
	f.StringVar(&j.modelPath, "model-path", "", "`FOLDER` of weights (default: that of the program)")
	f.StringVar(&j.function, "function", "", "`NAME` of a function (default main, or the first)")
	a.ModelFlags(cmd)
	f.StringVar(&j.values, "fill", "", "other inputs are `VALUES`: zeros, ones, random:SEED")
	f.StringVar(&j.fillWeights, "fill-weights", "", "weights not there are `VALUES`: random:SEED")
	f.StringArrayVar(&j.in, "in", nil, "an input: `NAME=FILE`.npy, .npz, .npz:KEY or -")
	f.StringArrayVar(&j.out, "out", nil, "an output to write: `NAME=FILE`, as --in")
	f.IntVar(&j.repeat, cli.RepeatFlag, 1, "evaluate `N` times and print the times")
	f.StringArrayVar(&j.expect, "expect", nil, "an expected output: `NAME=FILE`, as --in")
	f.StringVar(&j.compare, "compare", "", "compare two `MODES`, such as reference,m6")
	f.Float64Var(&j.tol, "tol", 0, "allowed difference `T` of --expect and --compare")
	f.StringVar(&j.trace, "trace", "", "write a trace to `FILE`, as JSON for Perfetto")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// parse checks the flags and reads their values.
func (j *job) parse(tolerant bool) error {
	var wrong [5]error
	j.inputs, wrong[0] = tensorfile.ParsePorts("--in", j.in)
	j.outputs, wrong[1] = tensorfile.ParsePorts("--out", j.out)
	j.wants, wrong[2] = tensorfile.ParsePorts("--expect", j.expect)
	j.rest, wrong[3] = tensorfile.ParseFill(j.values)
	j.made, wrong[4] = tensorfile.ParseFillWeights(j.fillWeights)
	stdin := slices.DeleteFunc(j.files(), func(f cli.Input) bool { return f.Path != cli.Stdio })
	switch {
	case tolerant && len(j.expect) == 0 && j.compare == "":
		return cli.Badf("--tol has no effect without --expect; give --expect NAME=FILE.npy, or --compare")
	case j.mil == "":
		return cli.Badf("no program; give FILE.mil, or a model: .mlpackage, .mlmodelc, .mlmodel")
	case j.repeat < 1 || j.repeat > cli.MaxRepeat:
		return cli.Badf("--repeat %d; give 1 to %d", j.repeat, cli.MaxRepeat)
	case !(j.tol >= 0) || math.Signbit(j.tol) || math.IsInf(j.tol, 1): // an infinite one would pass everything
		return cli.Badf("--tol %v; give a finite number, 0 or more", j.tol)
	case cmp.Or(wrong[:]...) != nil:
		return cmp.Or(wrong[:]...)
	case len(stdin) > 1:
		return cli.TwoReaders(stdin[0].Flag, stdin[1].Flag)
	case j.compare != "":
		return j.parseModes()
	}
	return nil
}

// parseModes reads --compare.
func (j *job) parseModes() error {
	if j.Mode != numerics.Reference.String() {
		return cli.Badf("--compare names both modes; leave --numerics out")
	}
	if j.RequireApple || j.Socket != "" || j.Engine != engine.Auto && j.Engine != engine.Soft {
		return cli.Badf("--compare evaluates on the engine %s; leave --engine, --broker and --require-ane out",
			engine.Soft)
	}
	names := strings.Split(j.compare, ",")
	if len(names) != 2 {
		return cli.Badf("--compare %s; give two modes, as in reference,m6", j.compare)
	}
	for i, name := range names {
		var err error
		if j.modes[i], err = numerics.Parse(strings.TrimSpace(name)); err != nil {
			return cli.Badf("--compare: there is no numerics mode %q; %s", name,
				near.Choices(name, "choose one of", numerics.Names()))
		}
	}
	if j.modes[0] == j.modes[1] {
		return cli.Badf("--compare %s names one mode twice; give two modes, as in reference,m6", j.compare)
	}
	j.Engine, j.Mode = engine.Soft, j.modes[0].String()
	return nil
}

// files lists the files that the flags name as inputs.
func (j *job) files() []cli.Input {
	return slices.Concat([]cli.Input{{Flag: j.operand, Path: j.mil}}, j.inputs.Files(), j.wants.Files())
}

// read reads the program.
func (j *job) read(ctx context.Context) {
	j.Pipelines = true
	p := j.split(trial.Must(j.ReadProgram(ctx, j.operand, j.mil)))
	j.model = p.Model
	program, err := mil.ParseTree(p.Name, p.Text)
	trial.NoError(cli.Bad(err))
	j.function = p.Function(j.function)
	if j.function != "" && program.Func(j.function) == nil {
		var names []string
		for _, f := range program.Funcs {
			names = append(names, f.Name)
		}
		trial.NoError(cli.Badf("--function %s: the program has no such function; %s", j.function,
			near.Choices(j.function, "it has", names)))
	}
	j.weights = j.weightsOf(program, p)
	j.source = ane.Source{File: p.Name, Text: p.Text, Function: j.function, Weights: j.weights,
		Shapes: trial.Must(j.ShapesOf(p))}
	trial.NoError(j.CheckReport())
}

// weightsOf returns the weight files of a program.
func (j *job) weightsOf(tree *mil.Program, p *cli.Program) *tensorfile.WeightFiles {
	return WeightsOf(j.App, tree, cmp.Or(j.modelPath, p.Dir), j.made)
}

// WeightsOf returns the weight files of a program in a folder, which outputs must not replace.
func WeightsOf(a *cli.App, tree *mil.Program, folder string, made tensorfile.Fill) *tensorfile.WeightFiles {
	w := tensorfile.NewWeights(tree, folder, made)
	for _, path := range w.Order {
		if f := w.File(path); f != "" {
			a.RecordInput("the program's "+path, f)
		}
	}
	return w
}

// run compiles the program, evaluates it, and delivers the report.
func (j *job) run(t *trial.T) {
	j.read(t.Ctx)
	bar := j.Progress(3 + min(rounds, j.repeat))
	defer bar.Stop()
	bar.Now("compile")
	j.runBefore(t)
	d, rig := Load(t, j.App, j.source)
	j.rig = rig
	j.loadAfter(t, rig.Model.Outputs())
	bar.Done()
	in, out := slices.Concat(j.taken, rig.Model.Inputs()), j.given(rig.Model.Outputs())
	trial.NoError(cmp.Or(j.inputs.Known(in), j.outputs.Known(out), j.wants.Known(out)))
	bar.Now("read")
	copied, shown := rig.Unshared(t.Ctx)
	inputs := j.fill(t.Ctx, rig, j.model)
	want := trial.Must(j.wants.Read(t.Ctx, j.App, out, nil))
	files := trial.Must(tensorfile.Stage(t.Ctx, j.App, j.outputs, j.trace))
	defer files.Discard()
	bar.Done()
	bar.Now("evaluate")
	j.found.Evaluate = measure(t.Ctx, rig, j.repeat, bar.Done)
	if shown {
		j.found.Evaluate.Copied = &copied
	}
	if files.Trace != nil || j.ReportFile.File != nil {
		j.found.Timeline = trial.Must(timeline.Evaluate(t.Ctx, d, files, rig.In, j.source))
	}
	bar.Now("write")
	trial.NoError(files.Write(j.results(t.Ctx, want)))
	trial.NoError(files.Commit())
	if j.compare != "" {
		bar.Now("compare")
		c := modes.Comparison{Modes: j.modes, Tol: j.tol, Inputs: inputs, All: j.Reports(), Source: j.source}
		found, err := c.Find(t.Ctx)
		trial.NoError(ProgramFault(j.source.File, err))
		j.found.Compare = found
	}
	bar.Stop()
	trial.NoError(j.report())
}

// Load opens the engine that the flags choose, and loads a program on it.
func Load(t *trial.T, a *cli.App, src ane.Source) (*ane.Device, *trial.Rig) {
	d := trial.Must(a.OpenEngineOrHint(t.Ctx))
	t.Closing(d.Close)
	var rig *trial.Rig
	err := step.Catch(func() { rig = trial.NewRig(&t.T, d, src) })
	if w, ok := src.Weights.(*tensorfile.WeightFiles); ok {
		w.Explain(err)
	}
	trial.NoError(ProgramFault(src.File, err))
	return d, rig
}

// fill fills every input with its array, what an earlier part computed, or as --fill asks, and returns what it filled
// them with.
func (j *job) fill(ctx context.Context, rig *trial.Rig, m *coreml.Model) map[string][]byte {
	in := rig.Model.Inputs()
	arrays := trial.Must(j.inputs.Read(ctx, j.App, in, tensorfile.ImagesOf(m, j.function)))
	j.taken = append(j.taken, in...)
	inputs := map[string][]byte{}
	for _, l := range in {
		one, given := arrays[l.Name]
		if !given {
			if one, given = j.from(l); given {
				trial.Must(rig.In[l.Name].Write(one.Data))
				inputs[l.Name] = one.Data
				continue
			}
		}
		switch {
		case given:
		case j.rest.Kind != "":
			one.Data = j.rest.Elements(l)
		default:
			trial.NoError(cli.Badf("input %s, %s of shape %v, is missing; give --in %s=FILE.npy, or --fill zeros", l.Name,
				l.DType, l.Shape, l.Name))
		}
		inputs[l.Name] = one.Data
		copied := trial.Must(rig.In[l.Name].Write(one.Data))
		j.describe(tensorRow{Side: "input", File: one.File, Copied: copied, Notes: one.Notes}, l, one.Data)
	}
	return inputs
}

// results reads the outputs, compares those of --expect, and returns those of --out.
func (j *job) results(ctx context.Context, want map[string]tensorfile.Array) map[string]*npy.Array {
	arrays := map[string]*npy.Array{}
	j.keep(j.rig)
	j.runAfter(ctx)
	for _, v := range j.line.values {
		l, data := v.Layout, v.data
		row := tensorRow{Side: "output", Copied: v.copied}
		if p, ok := j.outputs.Find(l.Name); ok {
			row.File = p.String()
			arrays[l.Name] = &npy.Array{Type: l.DType, Shape: l.Shape, Data: data}
		}
		j.describe(row, l, data)
		if w, ok := want[l.Name]; ok {
			j.found.Notes = append(j.found.Notes, w.Notes...)
			j.checks = append(j.checks, tensorfile.Expected(l, data, w.Data, j.tol))
		}
	}
	return arrays
}

// ProgramFault marks errors that the program, its weights or its tensor sizes cause as bad input.
func ProgramFault(file string, err error) error {
	switch {
	case errors.Is(err, ane.ErrCompile) || errors.Is(err, ane.ErrShape) || errors.Is(err, ane.ErrType):
		return cli.Bad(err)
	case errors.Is(err, unimem.ErrCreate) || errors.Is(err, unimem.ErrSize):
		return cli.Badf("%s: the tensors do not fit into the memory of this machine: %w", file, err)
	}
	return err
}

// details are the fields that run adds to the report.
type details struct {
	Tensors     []tensorRow      `json:"tensors"`
	Compile     time.Duration    `json:"compile_ns"`
	Load        time.Duration    `json:"load_ns"`
	Evaluate    evaluation       `json:"evaluate"`
	Notes       []string         `json:"notes,omitempty"`        // conversions of the files of --expect
	MadeWeights []string         `json:"made_weights,omitempty"` // files that were missing and filled by --fill-weights
	Compare     *modes.Report    `json:"compare,omitempty"`      // of --compare
	Surfaces    []trial.Surface  `json:"surfaces"`
	Timeline    *timeline.Record `json:"timeline,omitempty"` // with --report or --trace
}

// tensorRow describes one tensor of a run.
type tensorRow struct {
	Name  string `json:"name"`
	Side  string `json:"side"` // input or output
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	File  string `json:"file,omitempty"`
	tensorfile.Extent
	Copied int      `json:"bytes_copied"` // between the file's dense array and the tensor's rows
	Notes  []string `json:"notes,omitempty"`
}

// describe adds the row of a tensor with dense data.
func (j *job) describe(r tensorRow, l ane.Layout, data []byte) {
	r.Name, r.DType, r.Shape, r.Extent = l.Name, l.DType.String(), l.Shape, tensorfile.ExtentOf(l.DType, data)
	j.found.Tensors = append(j.found.Tensors, r)
}

// report delivers the report and returns an error if an output differs from --expect.
func (j *job) report() error {
	receipt := j.rig.Model.Receipt()
	notes := slices.Clone(receipt.Notes)
	for _, r := range j.found.Tensors {
		notes = append(notes, r.Notes...)
	}
	notes = append(notes, j.found.Notes...)
	j.Notes(append(notes, j.weights.Notes(j.fillWeights)...))
	j.found.Compile, j.found.Load, j.found.Surfaces = j.rig.Compile, j.rig.Load, j.rig.Surfaces()
	j.found.MadeWeights = j.weights.Made
	r := cli.NewReport(nil)
	r.SetEngine(&receipt)
	r.Checks = append(r.Checks, j.checks...)
	var extents []tensorfile.Extent
	for _, row := range j.found.Tensors {
		extents = append(extents, row.Extent)
	}
	r.Details, r.View = j.found, View(extents...)
	failed := r.Judge()
	j.Deliver(r)
	return failed
}
