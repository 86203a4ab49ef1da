package lint

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/internal/shapes"
)

// job is one run of lint.
type job struct {
	app *cli.App

	// Flags.
	chips, system, compilers, modelPath, explain string
	inputs, ranges                               []string // NAME=FILE, NAME=LOW..HIGH
	fix, sarif, list                             bool

	lint.Options
	in   tensorfile.Ports
	idle map[string]bool // --in, --range and --shape NAME whose inputs no program has had yet
}

// Command returns the command lint.
func Command(a *cli.App) *cobra.Command {
	j := job{app: a, idle: map[string]bool{}}
	cmd := &cobra.Command{
		Use:   "lint FILE ...",
		Short: "Say what each chip does with a MIL program, before its compiler",
		Long: `lint reads MIL programs and prints what Apple's compilers, chips and runtimes
would do with them: what they refuse, compute differently, place on the CPU, or
are slow at. It opens no engine and compiles nothing. Each finding names its
place, the rule, the chips and compilers that it concerns, and what to do. A
file may be - for standard input, or a model of Core ML (.mlpackage, .mlmodelc,
.mlmodel); places in it are those of the text that fmt prints.

lint finds numbers that overflow or vanish for inputs of known range: --range
states it, --in takes it from an array. It reads weights, if they are there.

--fix fixes the mechanical findings in each file; the program computes the same.
Names of inputs and outputs may change. The status is 1 if there is an error.`,
		Example: `  ane-roundtrip lint model.mil
  ane-roundtrip lint --chip m4,m6 --compiler in-memory,coreml --os macos15 *.mil
  ane-roundtrip lint --chip h18g --range x=-1..1 model.mil
  ane-roundtrip lint --fix model.mil
  ane-roundtrip lint --explain gelu-mode`,
		RunE: func(cmd *cobra.Command, args []string) error { return j.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&j.chips, "chip", "all", "`LIST` of chips: m1 to m6, h13 to h18g, m1-m4, all")
	f.StringVar(&j.system, "os", "", "`SYSTEM` that compiles, such as macos15 (default: any)")
	f.StringVar(&j.compilers, "compiler", chip.InMemory.String(), "`LIST` of compilers: in-memory, e5, coreml")
	cli.AcceptOldNames(cmd, "compiler", "road")
	f.StringArrayVar(&j.inputs, "in", nil, "array of an input: `NAME=FILE`.npy or .npz:KEY")
	f.StringArrayVar(&j.ranges, "range", nil, "range of an input: `NAME=LOW..HIGH`")
	f.StringVar(&j.modelPath, "model-path", "", "`FOLDER` of weights (default: that of the program)")
	f.BoolVar(&j.OwnSurfaces, "own-surfaces", false, "warn of sizes of surfaces that the caller makes")
	f.BoolVar(&j.fix, "fix", false, "fix what is mechanical in the files")
	f.BoolVar(&j.sarif, "sarif", false, "print one SARIF 2.1.0 object instead of text")
	f.StringVar(&j.explain, "explain", "", "print one `RULE`")
	f.BoolVar(&j.list, "list", false, "print all rules")
	a.ModelFlags(cmd)
	a.JSONFlag(cmd)
	return cmd
}

// details are the fields that lint adds to the report.
type details struct {
	Chips     []chip.Chip     `json:"chips"`
	Compilers []chip.Compiler `json:"roads"`
	OS        string          `json:"os,omitempty"`
	Files     []file          `json:"files"`
	Errors    int             `json:"errors"`
	Warnings  int             `json:"warnings"`
	Notes     int             `json:"notes"`
	Fixable   int             `json:"fixable"` // findings that --fix can fix
	Fixed     int             `json:"fixed"`
	Rules     []lint.Rule     `json:"rules,omitempty"` // of --list and --explain
}

type file struct {
	File     string    `json:"file"`
	Changed  bool      `json:"changed"` // by --fix
	Findings []finding `json:"findings"`

	name, text string
}

// finding is a finding with what its rule says.
type finding struct {
	*lint.Finding
	Rule    string `json:"rule"`
	Reason  string `json:"reason"`
	Source  string `json:"source"`
	Fixable bool   `json:"fixable"`
}

// run checks programs, or shows rules.
func (j *job) run(ctx context.Context, args []string) error {
	if j.list || j.explain != "" {
		return j.show(args)
	}
	switch {
	case len(args) == 0:
		return cli.Badf("operands: 0; give one or more, FILE.mil, a model or -")
	case j.app.JSON && j.sarif:
		return cli.Badf("--json and --sarif both print one object; give one of them")
	case j.fix && slices.Contains(args, cli.Stdio):
		return cli.Badf("--fix cannot replace standard input; name a file, or leave --fix out")
	}
	err := j.parse()
	if err != nil {
		return err
	}
	j.Programs = len(args)
	d := &details{Chips: j.Chips, Compilers: j.Compilers, OS: j.system, Files: []file{}}
	for _, path := range args {
		if err := j.check(ctx, path, d); err != nil {
			return err
		}
	}
	if idle := slices.Sorted(maps.Keys(j.idle)); len(idle) > 0 {
		return cli.Badf("%s: no program has such an input; check its name", idle[0])
	}
	j.app.Show(d, nil)
	switch {
	case j.sarif:
		err = sarif(j.app.Out, d)
	case !j.app.JSON:
		err = d.print(j.app)
	}
	if err == nil && d.Errors > 0 {
		err = cli.Failed{What: "lint found " + cli.Counted(d.Errors, "error", "errors")}
	}
	return err
}

// parse reads the flags.
func (j *job) parse() (err error) {
	if j.Chips, err = chip.ParseList(j.chips); err != nil {
		return cli.Badf("--chip: %w", err)
	}
	for name := range strings.SplitSeq(j.compilers, ",") {
		compiler, err := chip.ParseCompiler(name)
		if err != nil {
			return cli.Badf("--compiler: %w", err)
		}
		if !slices.Contains(j.Compilers, compiler) {
			j.Compilers = append(j.Compilers, compiler)
		}
	}
	if j.system != "" {
		if j.OS, err = chip.ParseOS(j.system); err != nil {
			return cli.Badf("--os: %w", err)
		}
		j.system = j.OS.String()
	}
	j.Ranges = map[string]lint.Range{}
	for _, s := range j.ranges {
		name, ends, ok := strings.Cut(s, "=")
		low, high, dots := strings.Cut(ends, "..")
		from, err := strconv.ParseFloat(low, 64)
		to, err2 := strconv.ParseFloat(high, 64)
		if !ok || name == "" || !dots || err != nil || err2 != nil || !(from <= to) {
			return cli.Badf("--range %q; give NAME=LOW..HIGH, such as x=-1..1", s)
		}
		if _, twice := j.Ranges[name]; twice {
			return cli.Badf("--range names %s twice; give one range for each", name)
		}
		j.Ranges[name], j.idle["--range "+name] = lint.Range{Low: from, High: to}, true
	}
	given, err := j.app.Shapes()
	if err != nil {
		return err
	}
	for name := range given {
		j.idle["--shape "+name] = true
	}
	j.in, err = tensorfile.ParsePorts("--in", j.inputs)
	for _, p := range j.in {
		j.idle["--in "+p.Name] = true
	}
	return err
}

// check checks one program, and fixes it with --fix.
func (j *job) check(ctx context.Context, path string, d *details) error {
	p, err := j.app.ReadProgram(ctx, "lint", path)
	if err != nil {
		return err
	}
	o := j.Options
	if j.fix {
		if err := p.Writable("--fix"); err != nil {
			return err
		}
	}
	o.Weights = blob.Dir(cmp.Or(j.modelPath, p.Dir))
	tree, err := mil.ParseTree(p.Name, p.Text)
	if err == nil { // else lint reports it
		if o.Shapes, err = j.shapesOf(p, tree); err != nil {
			return err
		}
		fixed, taken, _ := shapes.Fix(p.Name, tree, "", o.Shapes, nil) // findings say what is wrong
		j.app.Notes(shapes.Notes(taken))
		if o.Ranges, err = j.rangesOf(ctx, fixed); err != nil {
			return err
		}
	}
	f := file{File: path, Findings: []finding{}, name: p.Name, text: string(p.Text)}
	if j.fix {
		out, done := lint.Fix(p.Name, p.Text, o)
		if f.Changed = len(done) > 0 && !bytes.Equal(out, p.Text); f.Changed {
			if err := cli.Rewrite(path, p.Info, out, "--fix"); err != nil {
				return err
			}
			f.text, d.Fixed = string(out), d.Fixed+len(done)
		}
	}
	for _, found := range lint.Text("", []byte(f.text), o) {
		found.Message, found.Fix = cli.OneLine(found.Message), cli.OneLine(found.Fix)
		if p.Model != nil && found.Rule.ID == "build-info" {
			continue // Core ML's compiler writes it
		}
		one := finding{&found, found.Rule.ID, found.Rule.Reason, found.Source,
			len(found.Edits) > 0 && p.Info != nil}
		f.Findings = append(f.Findings, one)
		switch found.Severity {
		case lint.Error:
			d.Errors++
		case lint.Warning:
			d.Warnings++
		default:
			d.Notes++
		}
		if one.Fixable {
			d.Fixable++
		}
	}
	d.Files = append(d.Files, f)
	return nil
}

// shapesOf returns the shapes of --shape and of the model that are those of inputs of a program.
func (j *job) shapesOf(program *cli.Program, p *mil.Program) (map[string][]int, error) {
	all, err := j.app.ShapesOf(program)
	for name := range all {
		has := func(v mil.Var) bool { return v.Name == name }
		if slices.ContainsFunc(p.Funcs, func(f *mil.Function) bool { return slices.ContainsFunc(f.Params, has) }) {
			delete(j.idle, "--shape "+name)
		} else {
			delete(all, name) // of another program
		}
	}
	return all, err
}

// rangesOf returns the ranges of the inputs of a program: those of --range, and those of the arrays of --in.
func (j *job) rangesOf(ctx context.Context, p *mil.Program) (map[string]lint.Range, error) {
	all := map[string]lint.Range{}
	for _, f := range p.Funcs {
		for _, v := range f.Params {
			if r, ok := j.Ranges[v.Name]; ok {
				all[v.Name] = r
				delete(j.idle, "--range "+v.Name)
			}
			port, ok := j.in.Find(v.Name)
			shape, fixed := v.Type.Shape()
			if !ok || !fixed {
				continue
			}
			delete(j.idle, "--in "+v.Name)
			l, err := ane.NewLayout(v.Name, v.Type.DType, shape...)
			if err != nil {
				return nil, cli.Bad(err)
			}
			given, err := port.Read(ctx, j.app, l, nil)
			if err != nil {
				return nil, err
			}
			j.app.Notes(given.Notes)
			if e := tensorfile.ExtentOf(l.DType, given.Data); e.NaN == 0 && e.Min <= e.Max {
				all[v.Name] = lint.Range{Low: float64(e.Min), High: float64(e.Max)}
			}
		}
	}
	return all, nil
}
