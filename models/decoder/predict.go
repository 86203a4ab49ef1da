package decoder

import (
	"github.com/anekit/anekit/ane/mil/build"
)

// Predict returns the Plan that Load would make for a Folder, without an engine: it writes the programs, and neither
// compiles them nor reads the weights. Programs, compiles, loads and bytes stand beside the limits of the chip, even
// if they exceed them: Budget.Over reports that. WeightsMapped, WeightsConverted and ScratchBytes are not known.
//
// The counts are those of an engine that makes instances of a program with other weights; another engine compiles
// each of the programs. In the form Compact groups count as stored; Load widens a matrix whose scales fp16 cannot
// express.
//
// Errors: ErrLimits (a part of the model that cannot be split exceeds a limit, or lint finds an error for the chip),
// ErrTooLong.
func Predict(f *Folder, opts ...Option) (Plan, error) {
	m := &Model{folder: f, config: f.config}
	for _, o := range opts {
		o(&m.o)
	}
	if err := m.divide(); err != nil {
		return Plan{}, err
	}
	none := map[string]bool{}
	for _, set := range m.layersOf {
		seen := map[string]int{}
		for _, p := range set.pieces {
			write := func() (*build.Program, map[string]want, error) {
				return f.layers(m.o.form, set.columns, m.o.context, m.parts, p, none)
			}
			if err := m.foresee(seen, m.signature(p, none), set.entry(p), write); err != nil {
				return Plan{}, err
			}
		}
	}
	seen := map[string]int{}
	for part := range m.parts.parts {
		write := func() (*build.Program, map[string]want, error) {
			return f.head(m.o.form, m.head.columns, extentOf(part, m.parts.rows), none)
		}
		if err := m.foresee(seen, "", ProgramPlan{Name: m.head.name}, write); err != nil {
			return Plan{}, err
		}
	}
	return m.plan, nil
}

// foresee counts a program: one of a signature that was seen is an instance.
func (m *Model) foresee(seen map[string]int, signature string, entry ProgramPlan,
	write func() (*build.Program, map[string]want, error),
) error {
	p := &m.plan
	at, ok := seen[signature]
	if !ok {
		program, wants, err := write()
		if err != nil {
			return tooLarge(entry.Name, err)
		}
		if m.o.form != Compact && p.check() == nil { // a plan that exceeds a limit has its own error
			if err := m.lint(entry.Name, program); err != nil {
				return err
			}
		}
		entry.measure(program, wants)
		at = len(p.Programs)
		seen[signature] = at
		p.Compiles++
		p.Programs = append(p.Programs, entry)
	}
	p.Programs[at].Instances++
	if p.inTurns() {
		p.Turns++
	} else {
		p.Loads++
	}
	return nil
}

// measure fills in the weights that a program wants, and its operations.
func (p *ProgramPlan) measure(program *build.Program, wants map[string]want) {
	for _, v := range program.Program.Weights() {
		path, err := v.Blob().Path.Strings()
		if n, ok := v.Type.Elements(); ok && err == nil && len(path) == 1 && wants[path[0]].module != "" {
			p.WeightBytes += int64(n*v.Type.DType.Bits()+7) / 8
		}
	}
	for _, f := range program.Funcs {
		p.Operations += len(f.Body)
	}
}
