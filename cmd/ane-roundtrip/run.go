package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/unimem"
)

// runOptions are the flags of run.
type runOptions struct {
	mil, modelPath, function, fill, fillWeights string
	in, out, expect                             []string // NAME=FILE
	repeat                                      int
	tol                                         float64
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run --mil FILE --in NAME=FILE ... --out NAME=FILE ...",
		Short: "Run a MIL program on .npy and .npz files",
		Long: `run compiles a MIL program and evaluates it. Inputs come from .npy files, or
from arrays of .npz archives (FILE.npz:KEY; without KEY the array called as
the input). Each output file has the output's own type and shape; only those
asked for are written, and either all of them or none. Several outputs may go
into one archive.

A file called - is standard input (--mil or one --in) or standard output (one
--out); the report then goes to standard error. An output that is a file which
the run reads, by whatever name or link, is refused.

Arrays are brought into the form of the input, with a note, where nothing is
lost but digits: floating-point types are converted, big-endian numbers turned
around, Fortran order put right, axes of length 1 added or removed, flat
arrays taken in their order. Everything else is refused.

--expect compares an output with a file, and the run fails (status 1) if a
value differs by more than --tol T, or T times the expected value where that
is above 1. The file is rounded to the output's type first.`,
		Example: `  ane-roundtrip run --mil model.mil --in x=x.npy --out y=y.npy
  ane-roundtrip run --mil m.mil --in x=in.npz --out y=out.npz --out z=out.npz
  ane-roundtrip run --mil model.mil --fill random:1 --repeat 1000 --json
  make-x | ane-roundtrip run --mil model.mil --in x=- --out y=- | show-y`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("tol") && len(o.expect) == 0 {
				return badf("--tol compares nothing; give --expect NAME=FILE.npy")
			}
			return a.run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.mil, "mil", "", "the program, MIL text, or - for standard input")
	f.StringVar(&o.modelPath, "model-path", "", "the directory that @model_path stands for (default: the program's)")
	f.StringVar(&o.function, "function", "", "the function to run (default: main, or the first)")
	f.StringVar(&o.fill, "fill", "", "values of inputs without a file: zeros, ones or random:SEED")
	f.StringVar(&o.fillWeights, "fill-weights", "", "values of weight files that are not there: random:SEED")
	f.StringArrayVar(&o.in, "in", nil, "NAME=FILE.npy, FILE.npz:KEY or -, an input")
	f.StringArrayVar(&o.out, "out", nil, "NAME=FILE.npy, FILE.npz:KEY or -, an output to write")
	f.IntVar(&o.repeat, "repeat", 1, "evaluations, which are timed")
	f.StringArrayVar(&o.expect, "expect", nil, "NAME=FILE.npy, FILE.npz:KEY or -, what an output has to be")
	f.Float64Var(&o.tol, "tol", 0, "how far a value may be from the expected one")
	a.reportFlag(cmd)
	a.engineFlags(cmd)
	return cmd
}

// runJob is a run with its flags read.
type runJob struct {
	app     *app
	o       runOptions
	files   *traffic
	in, out ports
	expect  ports
	made    fill
	weights *weightFiles
	rig     *trial.Rig
	rows    []tensorRow
	checks  []trial.Check
	notes   []string // on the files of --expect
	eval    evaluation
}

// run compiles, fills, evaluates, and writes what was asked for.
func (a *app) run(ctx context.Context, o runOptions) (err error) {
	j := &runJob{app: a, o: o, files: &traffic{app: a}}
	weights, err := j.parse()
	if err != nil {
		return err
	}
	text, _, err := j.files.text("--mil", o.mil)
	if err != nil {
		return err
	}
	file := o.mil
	if file == stdio {
		file = "<stdin>"
	}
	if j.o.modelPath == "" {
		j.o.modelPath = filepath.Dir(o.mil)
	}
	program, err := mil.ParseTree(file, text)
	if err != nil {
		return bad(err)
	}
	if o.function != "" && program.Func(o.function) == nil {
		var names []string
		for _, f := range program.Funcs {
			names = append(names, f.Name)
		}
		return badf("--function %s: the program has no such function; %s", o.function,
			near.Choices(o.function, "it has", names))
	}
	j.weights = newWeights(program, j.o.modelPath, weights)
	for _, path := range j.weights.order {
		if f := j.weights.file(path); f != "" {
			j.files.also("the program's "+path, f)
		}
	}
	d, err := a.engineOrHint(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	bar := a.progress(3 + min(rounds, o.repeat))
	defer bar.stop()
	bar.now("compile")
	j.rig, err = trial.NewRig(ctx, d, ane.Source{File: file, Text: text, Function: o.function, Weights: j.weights})
	if err != nil {
		return programFault(file, err)
	}
	defer func() { err = errors.Join(err, j.rig.Close(context.WithoutCancel(ctx))) }()
	if err := j.run(ctx, bar); err != nil {
		return err
	}
	bar.stop()
	return j.told(d)
}

// parse reads the flags.
func (j *runJob) parse() (weights fill, err error) {
	o := j.o
	if o.mil == "" {
		return weights, badf("no program; give --mil FILE")
	}
	if o.repeat < 1 || o.repeat > maxIterations {
		return weights, badf("--repeat %d; give 1 to %d", o.repeat, maxIterations)
	}
	if !(o.tol >= 0) {
		return weights, badf("--tol %v; give 0 or more", o.tol)
	}
	if j.in, err = parsePorts("--in", o.in); err != nil {
		return weights, err
	}
	if j.out, err = parsePorts("--out", o.out); err != nil {
		return weights, err
	}
	if j.expect, err = parsePorts("--expect", o.expect); err != nil {
		return weights, err
	}
	reader := ""
	if o.mil == stdio {
		reader = "--mil"
	}
	for flag, all := range map[string]ports{"--in": j.in, "--expect": j.expect} {
		for _, p := range all {
			if p.path != stdio {
				continue
			}
			if reader != "" {
				return weights, twoReaders(reader, flag+" "+p.name)
			}
			reader = flag + " " + p.name
		}
	}
	if j.made, err = parseFill(o.fill); err != nil {
		return weights, err
	}
	return parseFillWeights(o.fillWeights)
}

// run does what follows compiling, all but the report.
func (j *runJob) run(ctx context.Context, bar *progress) error {
	bar.done()
	model := j.rig.Model
	if err := j.in.known("--in", model.Inputs()); err != nil {
		return err
	}
	if err := j.out.known("--out", model.Outputs()); err != nil {
		return err
	}
	if err := j.expect.known("--expect", model.Outputs()); err != nil {
		return err
	}
	bar.now("read")
	copied, shown := j.rig.Unshared()
	if err := j.inputs(); err != nil {
		return err
	}
	want, err := j.expectations()
	if err != nil {
		return err
	}
	files, err := j.files.stage(j.out)
	if err != nil {
		return err
	}
	defer files.discard()
	defer context.AfterFunc(ctx, files.discard)() // an interrupt ends the writing too
	bar.done()
	bar.now("evaluate")
	if j.eval, err = evaluate(ctx, j.rig, j.o.repeat, bar.done); err != nil {
		return err
	}
	if shown {
		j.eval.Copied = &copied
	}
	bar.now("write")
	arrays, err := j.outputs(want)
	if err != nil {
		return err
	}
	if err := files.write(func(name string) *npy.Array { return arrays[name] }); err != nil {
		return err
	}
	return files.commit()
}

// inputs fills every input from its file or by the rule of --fill.
func (j *runJob) inputs() error {
	for _, l := range j.rig.Model.Inputs() {
		p, ok := j.in.find(l.Name)
		var data []byte
		var notes []string
		var err error
		file := ""
		switch {
		case ok:
			file = p.String()
			data, notes, err = j.files.array("--in", "input", p, l)
		case j.made.kind != "":
			data = j.made.elements(l)
		default:
			err = badf("input %s, %s of shape %v, is missing; give --in %s=FILE.npy, or --fill zeros", l.Name, l.DType,
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

// expectations reads what outputs have to be.
func (j *runJob) expectations() (map[string][]byte, error) {
	want := map[string][]byte{}
	for _, l := range j.rig.Model.Outputs() {
		p, ok := j.expect.find(l.Name)
		if !ok {
			continue
		}
		data, notes, err := j.files.array("--expect", "output", p, l)
		if err != nil {
			return nil, err
		}
		want[l.Name] = data
		j.notes = append(j.notes, notes...)
	}
	return want, nil
}

// outputs takes the results, judges them, and returns those that were asked for.
func (j *runJob) outputs(want map[string][]byte) (map[string]*npy.Array, error) {
	arrays := map[string]*npy.Array{}
	for _, l := range j.rig.Model.Outputs() {
		data := make([]byte, l.PackedBytes())
		n, err := j.rig.Out[l.Name].Read(data)
		if err != nil {
			return nil, err
		}
		file := ""
		if p, ok := j.out.find(l.Name); ok {
			file = p.String()
			arrays[l.Name] = &npy.Array{Kind: kindOf(l.DType), Shape: l.Shape, Data: data}
		}
		j.rows = append(j.rows, describe("output", l, file, data, n))
		if w := want[l.Name]; w != nil {
			j.checks = append(j.checks, expected(l, data, w, j.o.tol))
		}
	}
	return arrays, nil
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
