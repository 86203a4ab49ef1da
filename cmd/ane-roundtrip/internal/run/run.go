package run

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/modes"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/unimem"
)

// runOptions are the flags of run.
type runOptions struct {
	mil, modelPath, function, fill, fillWeights string
	program                                     string   // what names the program, in messages
	in, out, expect                             []string // NAME=FILE
	repeat                                      int
	tol                                         float64
	compare, trace                              string
}

// Command returns the command run.
func Command(a *cli.App) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE.mil --in NAME=FILE ... --out NAME=FILE ...",
		Short: "Run a MIL program on .npy and .npz files",
		Long: `run compiles a MIL program and evaluates it. It reads inputs from .npy files or
from arrays of .npz archives (FILE.npz:KEY), and writes all outputs that --out
names, or none. - stands for standard input or standard output. run converts an
array to the type and shape of the input if that loses only precision, and names
each conversion in a note; it rejects every other array.

--expect compares an output with a file: the status is 1 if a value differs by
more than --tol T, or by more than T times the expected value where that is
above 1. --compare A,B evaluates the program in two modes of --numerics and
prints the first operator whose result differs, by more than --tol, and the rule
of the chip behind it. --trace evaluates once more, on a timeline.`,
		Example: `  ane-roundtrip run model.mil --in x=x.npy --out y=y.npy
  ane-roundtrip run model.mil --fill random:1 --repeat 1000 --json
  ane-roundtrip run model.mil --in x=x.npy --compare reference,m6`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Badf("operands: %d; give one, FILE.mil or -", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.program = "--mil"; len(args) > 0 {
				if cmd.Flags().Changed(o.program[2:]) {
					return cli.Badf("--mil %s and %s are two programs; leave one of them out", o.mil, args[0])
				}
				o.program, o.mil = "run", args[0]
			}
			if err := a.BeginReport(cmd, o.inputs()...); err != nil {
				return err
			}
			if cmd.Flags().Changed("tol") && len(o.expect) == 0 && o.compare == "" {
				return cli.Badf("--tol has no effect without --expect; give --expect NAME=FILE.npy, or --compare")
			}
			return run(a, cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.mil, "mil", "", "`FILE` with the program, as the operand")
	f.StringVar(&o.modelPath, "model-path", "", "`FOLDER` of weights (default: that of the program)")
	f.StringVar(&o.function, "function", "", "`NAME` of a function (default main, or the first)")
	f.StringVar(&o.fill, "fill", "", "other inputs are `VALUES`: zeros, ones, random:SEED")
	f.StringVar(&o.fillWeights, "fill-weights", "", "missing weight files are `VALUES`: random:SEED")
	f.StringArrayVar(&o.in, "in", nil, "an input: `NAME=FILE`.npy, .npz, .npz:KEY or -")
	f.StringArrayVar(&o.out, "out", nil, "an output to write: `NAME=FILE`, as --in")
	f.IntVar(&o.repeat, cli.RepeatFlag, 1, "evaluate `N` times and print the times")
	f.StringArrayVar(&o.expect, "expect", nil, "an expected output: `NAME=FILE`, as --in")
	f.StringVar(&o.compare, "compare", "", "compare two `MODES`, such as reference,m6")
	f.Float64Var(&o.tol, "tol", 0, "allowed difference `T` of --expect and --compare")
	f.StringVar(&o.trace, "trace", "", "write a trace to `FILE`, as JSON for Perfetto")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// runJob holds the state of one run.
type runJob struct {
	app     *cli.App
	o       runOptions
	in, out tensorfile.Ports
	expect  tensorfile.Ports
	fill    tensorfile.Fill
	weights *tensorfile.WeightFiles
	rig     *trial.Rig
	rows    []tensorRow
	checks  []trial.Check
	notes   []string // conversions of the files of --expect
	eval    evaluation
	trace   func(io.Writer) error // writes what --trace asks for, and sets timeline; nil without --trace and --report

	timeline *timeline.Record

	compare  [2]numerics.Mode // of --compare
	compared *modes.Report    // nil without --compare
}

// inputs lists the files that the flags name as inputs.
func (o runOptions) inputs() []cli.Input {
	all := []cli.Input{{Flag: o.program, Path: o.mil}}
	add := func(flag string, values []string) {
		for _, value := range values {
			if p, err := tensorfile.ParsePort(flag, value); err == nil { // parse returns the error
				all = append(all, cli.Input{Flag: flag + " " + p.Name, Path: p.Path})
			}
		}
	}
	add("--in", o.in)
	add("--expect", o.expect)
	return all
}

// run compiles the program, fills the inputs, evaluates, and writes the outputs that --out names.
func run(a *cli.App, ctx context.Context, o runOptions) (err error) {
	j := &runJob{app: a, o: o}
	weights, err := j.parse()
	if err != nil {
		return err
	}
	if o.compare != "" {
		if j.compare, err = compareModes(a, o.compare); err != nil {
			return err
		}
		a.Engine, a.Mode = engine.Soft, j.compare[0].String()
	}
	text, _, err := j.app.ReadProgram(ctx, o.program, o.mil)
	if err != nil {
		return err
	}
	file := cli.ProgramName(o.mil)
	if j.o.modelPath == "" {
		j.o.modelPath = filepath.Dir(o.mil)
	}
	program, err := mil.ParseTree(file, text)
	if err != nil {
		return cli.Bad(err)
	}
	if o.function != "" && program.Func(o.function) == nil {
		var names []string
		for _, f := range program.Funcs {
			names = append(names, f.Name)
		}
		return cli.Badf("--function %s: the program has no such function; %s", o.function,
			near.Choices(o.function, "it has", names))
	}
	j.weights = tensorfile.NewWeights(program, j.o.modelPath, weights)
	for _, path := range j.weights.Order {
		if f := j.weights.File(path); f != "" {
			j.app.RecordInput("the program's "+path, f)
		}
	}
	if err := j.app.CheckReport(); err != nil {
		return err
	}
	d, err := a.OpenEngineOrHint(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	bar := a.Progress(3 + min(rounds, o.repeat))
	defer bar.Stop()
	bar.Now("compile")
	j.rig, err = trial.NewRig(ctx, d, ane.Source{File: file, Text: text, Function: o.function, Weights: j.weights})
	if err != nil {
		j.weights.Explain(err)
		return ProgramFault(file, err)
	}
	defer func() { err = errors.Join(err, j.rig.Close(context.WithoutCancel(ctx))) }()
	if o.trace != "" || a.ReportFile.File != nil {
		j.trace = func(w io.Writer) error {
			inputs := map[string][]byte{}
			for name, t := range j.rig.In {
				inputs[name] = t.Bytes()
			}
			source := ane.Source{File: file, Text: text, Function: o.function, Weights: j.weights}
			programs := []timeline.Program{{Source: source, Inputs: inputs}}
			var err error
			j.timeline, err = timeline.RecordTrace(ctx, d, o.trace, w, programs)
			return err
		}
	}
	if err := j.run(ctx, bar); err != nil {
		return err
	}
	if o.compare != "" {
		bar.Now("compare")
		if err := j.compareTwo(ctx, program, file); err != nil {
			return ProgramFault(file, err)
		}
	}
	bar.Stop()
	return j.report(d)
}

// parse checks the flags and returns the value of --fill-weights.
func (j *runJob) parse() (weights tensorfile.Fill, err error) {
	o := j.o
	if o.mil == "" {
		return weights, cli.Badf("no program; give FILE.mil")
	}
	if o.repeat < 1 || o.repeat > cli.MaxRepeat {
		return weights, cli.Badf("--repeat %d; give 1 to %d", o.repeat, cli.MaxRepeat)
	}
	if !(o.tol >= 0) || math.Signbit(o.tol) || math.IsInf(o.tol, 1) { // an infinite one would pass everything
		return weights, cli.Badf("--tol %v; give a finite number, 0 or more", o.tol)
	}
	if j.in, err = tensorfile.ParsePorts("--in", o.in); err != nil {
		return weights, err
	}
	if j.out, err = tensorfile.ParsePorts("--out", o.out); err != nil {
		return weights, err
	}
	if j.expect, err = tensorfile.ParsePorts("--expect", o.expect); err != nil {
		return weights, err
	}
	reader := ""
	for _, in := range o.inputs() {
		switch {
		case in.Path != cli.Stdio:
		case reader != "":
			return weights, cli.TwoReaders(reader, in.Flag)
		default:
			reader = in.Flag
		}
	}
	if j.fill, err = tensorfile.ParseFill(o.fill); err != nil {
		return weights, err
	}
	return tensorfile.ParseFillWeights(o.fillWeights)
}

// run reads the inputs, evaluates and writes the outputs of the compiled program.
func (j *runJob) run(ctx context.Context, bar *cli.Progress) error {
	bar.Done()
	model := j.rig.Model
	if err := j.in.Known("--in", model.Inputs()); err != nil {
		return err
	}
	if err := j.out.Known("--out", model.Outputs()); err != nil {
		return err
	}
	if err := j.expect.Known("--expect", model.Outputs()); err != nil {
		return err
	}
	bar.Now("read")
	copied, shown := j.rig.Unshared(ctx)
	if err := j.inputs(ctx); err != nil {
		return err
	}
	want, err := j.expectations(ctx)
	if err != nil {
		return err
	}
	files, err := tensorfile.Stage(j.app, j.out)
	if err != nil {
		return err
	}
	defer files.Discard()
	defer context.AfterFunc(ctx, files.Discard)() // an interrupt removes half-written files
	traced, err := tensorfile.StageTrace(j.app, j.o.trace, files)
	if err != nil {
		return err
	}
	if traced != nil {
		defer traced.Discard()
		defer context.AfterFunc(ctx, traced.Discard)()
	}
	bar.Done()
	bar.Now("evaluate")
	if j.eval, err = evaluate(ctx, j.rig, j.o.repeat, bar.Done); err != nil {
		return err
	}
	if shown {
		j.eval.Copied = &copied
	}
	switch {
	case traced != nil:
		if err := j.trace(traced); err != nil { // before an output appears
			return err
		}
	case j.trace != nil:
		_ = j.trace(io.Discard) // for the report, which then has no timeline
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	bar.Now("write")
	arrays, err := j.outputs(want)
	if err != nil {
		return err
	}
	if err := files.Write(func(name string) *npy.Array { return arrays[name] }); err != nil {
		return err
	}
	if traced != nil {
		if err := traced.Commit(); err != nil {
			return cli.WriteError(j.o.trace, err)
		}
	}
	return files.Commit()
}

// inputs fills every input from its file or as --fill asks.
func (j *runJob) inputs(ctx context.Context) error {
	for _, l := range j.rig.Model.Inputs() {
		p, ok := j.in.Find(l.Name)
		var data []byte
		var notes []string
		var err error
		file := ""
		switch {
		case ok:
			file = p.String()
			data, notes, err = tensorfile.Array(j.app, ctx, "--in", "input", p, l)
		case j.fill.Kind != "":
			data = j.fill.Elements(l)
		default:
			err = cli.Badf("input %s, %s of shape %v, is missing; give --in %s=FILE.npy, or --fill zeros", l.Name, l.DType,
				l.Shape, l.Name)
		}
		if err != nil {
			return err
		}
		n, err := j.rig.In[l.Name].Write(data)
		if err != nil {
			return err
		}
		row := describe("input", l, file, data, n)
		row.Notes = notes
		j.rows = append(j.rows, row)
	}
	return nil
}

// expectations reads the files of --expect.
func (j *runJob) expectations(ctx context.Context) (map[string][]byte, error) {
	want := map[string][]byte{}
	for _, l := range j.rig.Model.Outputs() {
		p, ok := j.expect.Find(l.Name)
		if !ok {
			continue
		}
		data, notes, err := tensorfile.Array(j.app, ctx, "--expect", "output", p, l)
		if err != nil {
			return nil, err
		}
		want[l.Name] = data
		j.notes = append(j.notes, notes...)
	}
	return want, nil
}

// outputs reads the results, compares those of --expect, and returns those of --out.
func (j *runJob) outputs(want map[string][]byte) (map[string]*npy.Array, error) {
	arrays := map[string]*npy.Array{}
	for _, l := range j.rig.Model.Outputs() {
		data := make([]byte, l.PackedBytes())
		n, err := j.rig.Out[l.Name].Read(data)
		if err != nil {
			return nil, err
		}
		file := ""
		if p, ok := j.out.Find(l.Name); ok {
			file = p.String()
			arrays[l.Name] = &npy.Array{Type: l.DType, Shape: l.Shape, Data: data}
		}
		j.rows = append(j.rows, describe("output", l, file, data, n))
		if w := want[l.Name]; w != nil {
			j.checks = append(j.checks, tensorfile.Expected(l, data, w, j.o.tol))
		}
	}
	return arrays, nil
}

// ProgramFault marks errors that the program, its weights or its tensor sizes cause as
// bad input.
func ProgramFault(file string, err error) error {
	switch {
	case errors.Is(err, ane.ErrCompile) || errors.Is(err, ane.ErrShape) || errors.Is(err, ane.ErrType):
		return cli.Bad(err)
	case errors.Is(err, unimem.ErrCreate) || errors.Is(err, unimem.ErrSize):
		return cli.Badf("%s: the tensors do not fit into the memory of this machine: %w", file, err)
	}
	return err
}
