package decoder

// Predict returns the Plan that Load would make for a Folder, without an engine: it writes the programs, and neither
// compiles them nor reads the weights. Programs, compiles, loads and bytes stand beside the limits of the chip, even
// if they exceed them: Budget.Over reports that. WeightsMapped, WeightsRead, WeightsConverted and ScratchBytes are not
// known.
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
	for _, p := range m.programs(nil, m.early()...) {
		at, seen := p.set.compiled[p.signature]
		if !seen {
			written, wants, err := p.write()
			if err != nil {
				return Plan{}, tooLarge(p.plan.Name, err)
			}
			if err := m.lint(p.plan.Name, written); err != nil {
				return Plan{}, err
			}
			at = m.enter(p, written, wants)
		}
		m.plan.count(at)
	}
	return m.plan, nil
}
