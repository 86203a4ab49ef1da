package lint

import (
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/ops"
)

// placementRules are about what Core ML places on the CPU.
func placementRules() []Rule {
	compiler := []chip.Compiler{chip.CoreML}
	return []Rule{
		{ID: "cpu-operator", Severity: Warning, Compilers: compiler, Title: "Core ML runs an operator on the CPU.",
			Reason: "It is never placed on the engine, and each change of place costs 125 us.",
			Fix:    "use other operators",
			Source: "study 5.2, on M4 (M) and for h18g (C)", check: checkPlaced},
		{ID: "cpu-int32", Severity: Warning, Compilers: compiler, Title: "Core ML runs whole-number arithmetic on the CPU.",
			Reason: "No int32 tensor is placed on the engine.", Fix: "compute in fp16",
			Source: "study 5.2, on M4 (M) and for h18g (C)", check: checkPlaced},
		{ID: "cpu-small", Severity: Note, Compilers: compiler, Title: "A program is too small for Core ML to place it on " +
			"the engine.",
			Reason: "A segment at an end has to save 250 us over the CPU.", Fix: "use the in-memory compiler, or batch",
			Source: "study 5.2, on M4 (M); the estimate is inferred (I)", check: checkCPUSmall},
	}
}

// checkPlaced reports what ops.Place says for a rule.
func checkPlaced(c *check) {
	c.each(func(_ *function, s *stmt) {
		for _, r := range ops.Place(s.node, c.chips[0], c.compiler).Reasons {
			switch {
			case r.Rule != c.rule.ID:
			case r.Sure && !r.Remark:
				c.report(c.rule.Severity, s.Pos, r.Instead, "%s", r.Why)
			default:
				c.report(min(c.rule.Severity, Warning), s.Pos, r.Instead, "%s", r.Why)
			}
		}
	})
}

// saving estimates how many microseconds the engine of an M4 saves over the CPU for a statement, by the fit
// of the study: 100 GB/s and 1.2 times that time for movement, 10 TFLOPS against 0.5 for products.
func saving(s *stmt) float64 {
	out := s.result()
	if out == nil || s.constexpr() {
		return 0
	}
	if k := inner(s); k > 0 {
		flops := 2 * float64(k) * float64(out.elements())
		return flops/0.5e6 - flops/10e6
	}
	bytes := float64(out.bytes())
	for _, v := range s.tensors() {
		bytes += float64(v.bytes())
	}
	return 0.2 * bytes / 100e3
}

func checkCPUSmall(c *check) {
	for _, f := range c.funcs {
		sum := 0.0
		for _, s := range f.stmts {
			if s.Kind != "const" {
				sum += saving(s)
			}
		}
		if sum < 250 && slices.ContainsFunc(f.stmts, func(s *stmt) bool { return s.Kind != "const" }) {
			c.note(f.Pos, "", "function %s saves some %.0f us on the engine, 250 are needed", cut(f.Name), sum)
		}
	}
}
