package lint

import (
	"slices"

	"github.com/anekit/anekit/ane/chip"
)

// valueRules are about values that nothing needs, and about the functions that hold them.
func valueRules() []Rule {
	return []Rule{
		{ID: "dead-output", Severity: Error, Title: "An output is an input or a constant.",
			Reason: "The compiler answers InvalidMILProgram: outputs have to be computed.", Fix: "multiply it by one",
			Source: "orion rule 17 (M)", check: checkDead},
		{ID: "unused-input", Severity: Error, each: true, Title: "No operation uses an input.",
			Reason: "The compiler for h18g refuses such a program; that of other chips is not known to take it.",
			Fix:    "remove the input, or use it", Source: "study, opvariants.py (D)", check: checkUnusedInput},
		{ID: "unused-value", Severity: Warning, Title: "No output needs the result of an operation.",
			Reason: "The compiler removes it, or refuses the program.", Fix: "remove the statement",
			Source: "orion rule 17 (M)", check: checkUnusedValue},
		{ID: "unused-const", Severity: Note, Title: "Nothing uses a constant.",
			Reason: "It makes the text longer and, if its elements are in a file, the program larger.",
			Fix:    "remove the statement", Source: "anekit (I)", check: checkUnusedConst},
		{ID: "shared-names", Severity: Warning, Title: "Two functions have inputs or outputs of the same name.",
			Reason: "Inputs and outputs are numbered through the whole program, so that a name shared by two " +
				"procedures binds the wrong surface.", Fix: "keep the names of inputs and outputs unique in the " +
				"program",
			Source: "ane-infer, on M5 (M)", check: checkShared},
		{ID: "state", Severity: Error, placed: true, Compilers: engineCompilers, Title: "A program keeps a state.",
			Reason: "E5 refuses state, and no program with state is known to run in memory.",
			Fix:    "feed the state as an extra input and output", Source: "forge, on M5 (M)", check: checkState},
	}
}

func checkDead(c *check) {
	for _, f := range c.funcs {
		for _, ref := range f.Results {
			switch v := f.values[ref.Name]; {
			case v == nil:
			case v.input && !v.state:
				c.error(ref.Pos, "", "output %s is an input", cut(v.name))
			case v.lit != nil:
				c.error(ref.Pos, "compute it from an input", "output %s is a constant", cut(v.name))
			case v.folded:
				c.error(ref.Pos, "compute it from an input", "output %s depends on no input", cut(v.name))
			}
		}
	}
}

func checkUnusedInput(c *check) {
	for _, f := range c.funcs {
		for _, v := range f.inputs {
			switch {
			case len(v.users) > 0 || v.returned:
			case c.spec.UnusedInput.Known() && !c.spec.UnusedInput.Value:
				c.error(v.at, "", "no operation uses input %s", cut(v.name))
			default:
				c.warn(v.at, "", "no operation uses input %s", cut(v.name))
			}
		}
	}
}

// live returns the statements that an output or a state needs.
func (fn *function) live() map[*stmt]bool {
	live := map[*stmt]bool{}
	var queue []*stmt
	push := func(s *stmt) {
		if s != nil && !live[s] {
			live[s] = true
			queue = append(queue, s)
		}
	}
	for _, v := range fn.outputs {
		push(v.made)
	}
	for _, s := range fn.stmts {
		if len(s.out) == 0 { // writes a state
			push(s)
		}
	}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, a := range s.args {
			for _, v := range a.values {
				push(v.made)
			}
		}
	}
	return live
}

func checkUnusedValue(c *check) {
	for _, f := range c.funcs {
		live := f.live()
		for _, s := range f.stmts {
			if s.Kind != "const" && !live[s] && len(s.out) > 0 {
				c.warn(s.out[0].at, "", "no output needs %s", cut(s.out[0].name))
			}
		}
	}
}

func checkUnusedConst(c *check) {
	for _, f := range c.funcs {
		for _, s := range f.stmts {
			if s.Kind == "const" && len(s.out) == 1 && len(s.out[0].users) == 0 && !s.out[0].returned {
				c.note(s.out[0].at, "", "nothing uses %s", cut(s.out[0].name))
			}
		}
	}
}

func checkShared(c *check) {
	first := map[string]string{}
	for _, f := range c.funcs {
		var names []string
		for _, v := range slices.Concat(f.inputs, f.outputs) {
			if owner, taken := first[v.name]; taken && owner != f.Name && !slices.Contains(names, v.name) {
				c.warn(v.at, "", "%s is an input or output of %s too", cut(v.name), cut(owner))
			}
			names = append(names, v.name)
		}
		for _, n := range names {
			if _, taken := first[n]; !taken {
				first[n] = f.Name
			}
		}
	}
}

func checkState(c *check) {
	report := c.error
	if c.compiler == chip.InMemory {
		report = c.warn
	}
	for _, f := range c.funcs {
		for _, v := range f.inputs {
			if v.state {
				report(v.at, "", "input %s is a state", cut(v.name))
			}
		}
	}
	c.kinds(func(s *stmt) {
		if v := s.in("input"); v == nil || !v.state {
			report(s.Pos, "", "%s of a state that is no parameter", s.Kind)
		}
	}, "read_state", "write_state", "coreml_update_state")
}
