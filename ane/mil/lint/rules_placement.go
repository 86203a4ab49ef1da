package lint

import (
	"github.com/anekit/anekit/internal/ops"
)

// saving estimates how many microseconds the engine of an M4 saves over the CPU for a statement, by the fit
// of the study: 100 GB/s and 1.2 times that time for movement, 10 TFLOPS against 0.5 for products.
func saving(s *ops.Node) float64 {
	out := result(s)
	if out == nil || family(s) == ops.Constexprs {
		return 0
	}
	if k := s.Inner(); k > 0 {
		flops := 2 * float64(k) * float64(out.Elements())
		return flops/0.5e6 - flops/10e6
	}
	bytes := float64(out.Bytes())
	for _, v := range s.Operands() {
		bytes += float64(v.Bytes())
	}
	return 0.2 * bytes / 100e3
}

func checkCPUSmall(c *check, f *function) {
	sum, any := 0.0, false
	for _, s := range f.Statements {
		if s.Op.Kind != "const" {
			sum, any = sum+saving(s), true
		}
	}
	if any && sum < 250 {
		c.note(f.Pos, "", "function %s saves some %.0f us on the engine, 250 are needed", cut(f.Name), sum)
	}
}
