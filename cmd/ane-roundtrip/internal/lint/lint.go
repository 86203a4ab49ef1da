package lint

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	chips, os, roads, modelPath, explain string
	in, ranges                           []string // NAME=FILE, NAME=LOW..HIGH
	fix, sarif, list, ownSurfaces        bool
}

// Command returns the command lint.
func Command(a *cli.App) *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint FILE.mil ...",
		Short: "Say what each chip does with a MIL program, before its compiler",
		Long: `lint reads MIL programs and prints what Apple's compilers, chips and runtimes
would do with them: what they refuse, compute differently, place on the CPU, or
are slow at. It opens no engine and compiles nothing. Each finding names its
place, the rule, the chips and roads that it concerns, and what to do. A file
may be - for standard input.

lint finds numbers that overflow or vanish for inputs of known range: --range
states it, --in takes it from an array. It reads weights from the folder of
the program, if they are there.

--fix fixes the mechanical findings in each file; the program computes the same.
Names of inputs and outputs may change.

The status is 1 if a finding is an error.`,
		Example: `  ane-roundtrip lint model.mil
  ane-roundtrip lint --chip m4,m6 --road in-memory,coreml --os macos15 *.mil
  ane-roundtrip lint --chip h18g --range x=-1..1 model.mil
  ane-roundtrip lint --fix model.mil
  ane-roundtrip lint --explain gelu-mode`,
		RunE: func(cmd *cobra.Command, args []string) error { return lintAll(a, cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.chips, "chip", "all", "`LIST` of chips: m1 to m6, h13 to h18g, m1-m4, all")
	f.StringVar(&o.os, "os", "", "`SYSTEM` that compiles, such as macos15 (default: any)")
	f.StringVar(&o.roads, "road", chip.InMemory.String(), "`LIST` of roads to the compiler: in-memory, e5, coreml")
	f.StringArrayVar(&o.in, "in", nil, "array of an input: `NAME=FILE`.npy or .npz:KEY")
	f.StringArrayVar(&o.ranges, "range", nil, "range of an input: `NAME=LOW..HIGH`")
	f.StringVar(&o.modelPath, "model-path", "", "`FOLDER` of weights (default: that of the program)")
	f.BoolVar(&o.ownSurfaces, "own-surfaces", false, "warn of sizes of surfaces that the caller makes")
	f.BoolVar(&o.fix, "fix", false, "fix what is mechanical in the files")
	f.BoolVar(&o.sarif, "sarif", false, "print one SARIF 2.1.0 object instead of text")
	f.StringVar(&o.explain, "explain", "", "print one `RULE`")
	f.BoolVar(&o.list, "list", false, "print all rules")
	a.JSONFlag(cmd)
	return cmd
}

// lintDetails are the fields that lint adds to the report.
type lintDetails struct {
	Chips    []string     `json:"chips"`
	Roads    []string     `json:"roads"`
	OS       string       `json:"os,omitempty"`
	Files    []lintedFile `json:"files"`
	Errors   int          `json:"errors"`
	Warnings int          `json:"warnings"`
	Notes    int          `json:"notes"`
	Fixable  int          `json:"fixable"` // findings that --fix can fix
	Fixed    int          `json:"fixed"`
	Rules    []lintedRule `json:"rules,omitempty"` // of --list and --explain
}

type lintedFile struct {
	File     string          `json:"file"`
	Changed  bool            `json:"changed"` // by --fix
	Findings []lintedFinding `json:"findings"`

	text     []byte
	findings []lint.Finding
}

type lintedFinding struct {
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"`
	Line     int      `json:"line"`   // from 1; 0 if not known
	Column   int      `json:"column"` // in bytes, from 1; 0 if not known
	Message  string   `json:"message"`
	Fix      string   `json:"fix"`
	Reason   string   `json:"reason"`
	Source   string   `json:"source"`
	Chips    []string `json:"chips"`
	Roads    []string `json:"roads"`
	Fixable  bool     `json:"fixable"`
}

type lintedRule struct {
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"`
	Roads    []string `json:"roads"`
	Title    string   `json:"title"`
	Reason   string   `json:"reason"`
	Fix      string   `json:"fix"`
	Source   string   `json:"source"`
	Fixable  bool     `json:"fixable"`
}

// lintAll checks programs.
func lintAll(a *cli.App, ctx context.Context, args []string, o lintOptions) error {
	if o.list || o.explain != "" {
		return lintRules(a, args, o)
	}
	switch {
	case len(args) == 0:
		return cli.Badf("operands: 0; give one or more, FILE.mil or -")
	case a.JSON && o.sarif:
		return cli.Badf("--json and --sarif both print one object; give one of them")
	case o.fix && slices.Contains(args, cli.Stdio):
		return cli.Badf("--fix cannot replace standard input; name a file, or leave --fix out")
	}
	options, err := o.parse()
	if err != nil {
		return err
	}
	in, err := tensorfile.ParsePorts("--in", o.in)
	if err != nil {
		return err
	}
	d := lintDetails{Chips: cli.Names(options.Chips), Roads: cli.Names(options.Roads), Files: []lintedFile{}}
	if options.OS != 0 {
		d.OS = options.OS.String()
	}
	j := lintJob{app: a, o: o, options: options, in: in, used: map[string]bool{}}
	j.options.Programs = len(args)
	for _, path := range args {
		f, fixed, err := j.file(ctx, path)
		if err != nil {
			return err
		}
		d.Fixed += fixed
		d.add(f)
	}
	if err := j.unused(); err != nil {
		return err
	}
	r := cli.NewReport(nil)
	r.Details = d
	if d.Errors > 0 {
		r.Verdict = cli.VerdictFail
	}
	a.Deliver(r)
	switch {
	case o.sarif:
		err = sarif(a, d)
	case !a.JSON:
		err = d.print(a)
	}
	if err == nil && d.Errors > 0 {
		err = cli.Failed{What: "lint found " + cli.Counted(d.Errors, "error", "errors")}
	}
	return err
}

// parse reads the flags.
func (o lintOptions) parse() (out lint.Options, err error) {
	if out.Chips, err = chip.ParseList(o.chips); err != nil {
		return out, cli.Badf("--chip: %w", err)
	}
	for name := range strings.SplitSeq(o.roads, ",") {
		road, err := chip.ParseRoad(name)
		if err != nil {
			return out, cli.Badf("--road: %w", err)
		}
		if !slices.Contains(out.Roads, road) {
			out.Roads = append(out.Roads, road)
		}
	}
	if o.os != "" {
		if out.OS, err = chip.ParseOS(o.os); err != nil {
			return out, cli.Badf("--os: %w", err)
		}
	}
	out.Ranges, out.OwnSurfaces = map[string]lint.Range{}, o.ownSurfaces
	for _, s := range o.ranges {
		name, ends, ok := strings.Cut(s, "=")
		low, high, dots := strings.Cut(ends, "..")
		from, err := strconv.ParseFloat(low, 64)
		to, err2 := strconv.ParseFloat(high, 64)
		if !ok || name == "" || !dots || err != nil || err2 != nil || !(from <= to) {
			return out, cli.Badf("--range %q; give NAME=LOW..HIGH, such as x=-1..1", s)
		}
		if _, twice := out.Ranges[name]; twice {
			return out, cli.Badf("--range names %s twice; give one range for each", name)
		}
		out.Ranges[name] = lint.Range{Low: from, High: to}
	}
	return out, nil
}

// lintJob holds the state of one run of lint.
type lintJob struct {
	app     *cli.App
	o       lintOptions
	options lint.Options
	in      tensorfile.Ports
	used    map[string]bool // inputs of --in and --range that a program has
}

// file checks one program, and fixes it with --fix.
func (j *lintJob) file(ctx context.Context, path string) (f lintedFile, fixed int, err error) {
	text, info, err := j.app.ReadProgram(ctx, "lint", path)
	if err != nil {
		return f, 0, err
	}
	name := path
	if path == cli.Stdio {
		name = "<stdin>"
	}
	o := j.options
	o.Weights = blob.Dir(cmp.Or(j.o.modelPath, filepath.Dir(path)))
	if o.Ranges, err = j.rangesOf(ctx, name, text); err != nil {
		return f, 0, err
	}
	f = lintedFile{File: path, text: text}
	if j.o.fix {
		out, done := lint.Fix(name, text, o)
		if f.Changed = len(done) > 0 && string(out) != string(text); f.Changed {
			if err := cli.Rewrite(path, info, out, "--fix"); err != nil {
				return f, 0, err
			}
			f.text, fixed = out, len(done)
		}
	}
	f.findings = lint.Text(name, f.text, o)
	f.Findings = []lintedFinding{}
	for i := range f.findings {
		f.Findings = append(f.Findings, found(&f.findings[i]))
	}
	return f, fixed, nil
}

func found(f *lint.Finding) lintedFinding {
	return lintedFinding{f.Rule.ID, f.Severity.String(), f.Pos.Line, f.Pos.Col, cli.OneLine(f.Message), cli.OneLine(f.Fix),
		f.Rule.Reason, f.Rule.Source, cli.Names(f.Chips), cli.Names(f.Roads), len(f.Edits) > 0}
}

// add adds a file and counts its findings.
func (d *lintDetails) add(f lintedFile) {
	for _, x := range f.findings {
		switch x.Severity {
		case lint.Error:
			d.Errors++
		case lint.Warning:
			d.Warnings++
		default:
			d.Notes++
		}
		if len(x.Edits) > 0 {
			d.Fixable++
		}
	}
	d.Files = append(d.Files, f)
}

// rangesOf returns the ranges of the inputs of a program: those of --range, and those of the arrays of --in.
func (j *lintJob) rangesOf(ctx context.Context, name string, text []byte) (map[string]lint.Range, error) {
	all := map[string]lint.Range{}
	p, err := mil.ParseTree(name, text)
	if err != nil {
		return all, nil // lint reports it
	}
	for _, f := range p.Funcs {
		for _, v := range f.Params {
			if r, ok := j.options.Ranges[v.Name]; ok {
				all[v.Name], j.used[v.Name] = r, true
			}
			port, ok := j.in.Find(v.Name)
			shape, fixed := v.Type.Shape()
			if !ok || !fixed {
				continue
			}
			j.used[v.Name] = true
			l, err := ane.NewLayout(v.Name, v.Type.DType, shape...)
			if err != nil {
				return nil, cli.Bad(err)
			}
			given, err := port.Read(ctx, j.app, l)
			if err != nil {
				return nil, err
			}
			j.app.Notes(given.Notes)
			if r, ok := rangeOf(l.DType, given.Data); ok {
				all[v.Name] = r
			}
		}
	}
	return all, nil
}

// rangeOf returns the smallest and the largest element; false if one is no number.
func rangeOf(d mil.DType, data []byte) (r lint.Range, ok bool) {
	size := d.Size()
	for i := 0; size > 0 && i+size <= len(data); i += size {
		x := element.Load(d, data[i:])
		if x != x {
			return r, false
		}
		if i == 0 {
			r = lint.Range{Low: x, High: x}
		}
		r.Low, r.High, ok = min(r.Low, x), max(r.High, x), true
	}
	return r, ok
}

// unused rejects names of --in and --range that no program has.
func (j *lintJob) unused() error {
	for _, p := range j.in {
		if !j.used[p.Name] {
			return cli.Badf("--in %s: no program has such an input; check its name", p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.options.Ranges)) {
		if !j.used[name] {
			return cli.Badf("--range %s: no program has such an input; check its name", name)
		}
	}
	return nil
}
