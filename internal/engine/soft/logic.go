package soft

// logicalNot inverts truth values. A bool is one byte, true unless 0.
func logicalNot(*step) (runner, int) { return &inverter{}, 0 }

type inverter struct{}

func (r *inverter) run(c *call) { c.spread(c.out[0].len(), 1) }

func (r *inverter) span(c *call, lo, hi, _ int) {
	x, out := c.in[0].raw, c.out[0].raw
	for ; lo < hi && !c.stopped(); lo += chunk {
		for i := lo; i < min(lo+chunk, hi); i++ {
			out[i] = 0
			if x[i] == 0 {
				out[i] = 1
			}
		}
	}
}
