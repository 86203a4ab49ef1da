package lint

import (
	"errors"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/ops"
)

// Options say what a program is checked for. The zero Options check for every chip and the in-memory compiler.
type Options struct {
	Chips     []chip.Chip     // none: all
	OS        chip.OS         // 0: not known, nothing is said about opsets
	Compilers []chip.Compiler // none: in-memory
	// Weights reads the weight files, for the ranges of weights and what is wrong with the files. nil: weights may be
	// anything.
	Weights blob.Source
	// Ranges are the smallest and the largest value of inputs, by name.
	Ranges map[string]Range
	// Shapes are the shapes of inputs with open axes, by name. Others take the default of the program.
	Shapes map[string][]int
	// Programs is how many programs are loaded beside this one, 0 for not known.
	Programs int
	// OwnSurfaces says that the caller makes the surfaces. Otherwise ane.Model.NewRequest does, as large as every
	// engine wants them, and nothing is said about their sizes.
	OwnSurfaces bool
	// Only limits the check to the rules with these IDs; none: all.
	Only []string
}

// Range is an interval of values, both ends included.
type Range struct{ Low, High float64 }

// Text checks MIL text. The name file appears in findings; the file is not opened. A text that does not parse gives
// findings of the rule "syntax", and those of other rules if only its names do not fit together.
func Text(file string, src []byte, o Options) []Finding { return text(file, src, o, false) }

// text is Text; all returns every finding, without limits.
func text(file string, src []byte, o Options, all bool) []Finding {
	p, err := mil.Parse(file, src)
	r := newRun(file, o)
	r.found.all = all
	r.text = newSource(src)
	r.program(p, err)
	return r.found.findings()
}

// Run checks a program, as Text does. Findings of a program without positions name none, and have no Edits. p is not
// changed.
func Run(file string, p *mil.Program, o Options) []Finding {
	r := newRun(file, o)
	r.program(p, mil.Validate(file, p))
	return r.found.findings()
}

// run is the state of one check of a program.
type run struct {
	Options
	found   collector
	text    *source // nil for a program without text
	prog    *mil.Program
	open    *mil.Program     // prog as it was written, perhaps with open axes; nil if it does not parse
	unfixed mil.ErrorList    // why lengths of it are not known
	passing map[mil.Pos]bool // of faults that hold for the default shape, and not for another that the program takes
	invalid mil.ErrorList
	funcs   []*ops.Graph
	weights map[*mil.Value][]byte // the elements of constants in files
	broken  mil.ErrorList         // of weight files
	absent  []*absence            // weight files
	spans   map[*ops.Value]span
}

func newRun(file string, o Options) *run {
	if len(o.Chips) == 0 {
		o.Chips = chip.All()
	}
	if len(o.Compilers) == 0 {
		o.Compilers = []chip.Compiler{chip.InMemory}
	}
	o.Chips, o.Compilers = slices.Clone(o.Chips), slices.Clone(o.Compilers)
	o.Chips = slices.DeleteFunc(o.Chips, func(c chip.Chip) bool { return !c.Valid() })
	return &run{Options: o, found: collector{file: file, index: map[key]int{}, count: map[string]int{}},
		weights: map[*mil.Value][]byte{}, spans: map[*ops.Value]span{}}
}

// program checks everything; invalid is the error of mil.Parse or mil.Validate.
func (r *run) program(p *mil.Program, invalid error) {
	errors.As(invalid, &r.invalid)
	r.prog = &mil.Program{} // of a text that does not parse nothing but its faults is known
	if invalid == nil || mil.OnlyNames(invalid) {
		r.fix(p)
		r.funcs = ops.Survey(r.found.file, r.prog)
		r.probe()
		r.readWeights()
		r.ranges()
	}
	find := finders()
	for _, rule := range table() {
		f, ok := find[rule.ID]
		for _, compiler := range r.Compilers {
			switch {
			case !ok || !r.wants(rule, compiler):
			case f.each:
				for _, c := range r.Chips {
					f.run(&check{run: r, rule: rule, compiler: compiler, chips: []chip.Chip{c}, spec: c.Spec()})
				}
			default:
				f.run(&check{run: r, rule: rule, compiler: compiler, chips: r.Chips})
			}
		}
	}
	r.placements()
}

func (r *run) wants(rule *Rule, compiler chip.Compiler) bool {
	return (len(r.Only) == 0 || slices.Contains(r.Only, rule.ID)) &&
		(len(rule.Compilers) == 0 || slices.Contains(rule.Compilers, compiler))
}
