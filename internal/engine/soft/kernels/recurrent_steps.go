package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// steppedRecurrence is lstm, gru and rnn as a chip's sequence of operators (inferred), each result rounded to fp16:
// the products with x and with h, each starting from its bias, their sum, the functions of the gates by tables,
// and the arithmetic on states element by element. States are halves also between steps.
type steppedRecurrence struct {
	recurrence
	rules             numerics.Rules
	byX, byH          multiply
	gate, cell, final func(x float32) float32
	clip              float32
}

func newSteppedRecurrence(s *Step, r *recurrence, work int) (run.Runner, int) {
	rules := s.Arith.Operand
	p := &steppedRecurrence{recurrence: *r, rules: rules, byX: newMultiply(r.B, r.I, r.rows, rules),
		byH: newMultiply(r.B, r.H, r.rows, rules), gate: squash(rules, r.Gate), cell: squash(rules, r.Cell),
		final: squash(rules, r.Final)}
	p.clip = p.half(r.Clip)
	return p, work + max(p.byX.room(), p.byH.room())
}

// squash returns an activation by its name, for a chip.
func squash(r numerics.Rules, name string) func(x float32) float32 {
	exact := squashings[name]
	if exact == nil {
		return nil
	}
	op := name
	if op == "scaled_tanh" {
		op = "tanh"
	}
	return chipFunction(r, op, exact)
}

func (r *steppedRecurrence) half(f float64) float32 { return r.rules.Value(r.rules.Round(f)) }

func (r *steppedRecurrence) add(x, y float32) float32 { return r.half(float64(x) + float64(y)) }
func (r *steppedRecurrence) mul(x, y float32) float32 { return r.half(float64(x) * float64(y)) }

// Span runs rows lo to hi of the batch, counted through the cells.
func (r *steppedRecurrence) Span(c *run.Call, lo, hi, worker int) {
	for lo < hi {
		cell, first := lo/r.B, lo%r.B
		last := min(r.B, first+hi-lo)
		r.sequence(c, worker, cell, first, last)
		lo += last - first
	}
}

// cellWork is the memory of a cell.
type cellWork struct {
	x, fromX, fromH, h, memory, spareH, bias, second, peephole, spare, floats []float32
	ints                                                                      []int32
	hh                                                                        []float32
}

// sequence runs a cell over the rows first to last of the batch.
func (r *steppedRecurrence) sequence(c *run.Call, worker, index, first, last int) {
	cell, n := &r.cells[index], last-first
	rest, ints := c.Work[worker], c.Words[worker]
	take := func(count int) (part []float32) {
		part, rest, ints = rest[:count:count], rest[count:], ints[count:]
		return part
	}
	roomI, roomH := take(r.I*r.rows), take(r.H*r.rows)
	w := cellWork{x: take(n * r.I), fromX: take(n * r.rows), fromH: take(n * r.rows), h: take(n * r.H),
		memory: take(n * r.H), spareH: take(r.H), bias: take(r.rows), second: take(r.rows), peephole: take(3 * r.H),
		spare: take(max(r.I, r.H, r.rows))}
	w.floats, w.ints = rest, ints
	ih := cell.ih.block(c, roomI, w.spare, 0, 0, r.I, 0, r.rows)
	w.hh = cell.hh.block(c, roomH, w.spare, 0, 0, r.H, 0, r.rows)
	fillParam(w.bias, &c.In[cell.bias], 0)
	clear(w.second)
	clear(w.peephole)
	withX, withH := w.bias, w.second
	switch r.op {
	case "lstm":
		fillParam(w.peephole, &c.In[cell.peephole], 0)
		r.each(index, first, n, func(row, at int) { c.In[2].Load(w.memory[row:row+r.H], at) })
	case "gru":
		fillParam(w.second, &c.In[5], 0)
		withX, withH = w.second, w.bias
	}
	r.each(index, first, n, func(row, at int) { c.In[1].Load(w.h[row:row+r.H], at) })
	for k := 0; k < r.S && !c.Pause(worker); k++ {
		t := k
		if r.Reverse || index == 1 {
			t = r.S - 1 - k
		}
		c.In[0].Load(w.x, (t*r.B+first)*r.I)
		r.byX.mul(w.fromX, w.x, ih, withX, w.floats, w.ints)
		r.byH.mul(w.fromH, w.h, w.hh, withH, w.floats, w.ints)
		for b := range n {
			r.next(&w, b)
		}
		if r.Sequence {
			at := k
			if index == 1 {
				at = t // the results of both cells for an element stand together
			}
			r.each(index, first, n, func(row, to int) { c.Out[0].Store(w.h[row:row+r.H], at*r.B*len(r.cells)*r.H+to) })
		}
	}
	r.each(index, first, n, func(row, to int) {
		if !r.Sequence {
			c.Out[0].Store(w.h[row:row+r.H], to)
		}
		c.Out[1].Store(w.h[row:row+r.H], to)
		if r.op == "lstm" {
			c.Out[2].Store(w.memory[row:row+r.H], to)
		}
	})
}

// next computes a step of row b of the batch.
func (r *steppedRecurrence) next(w *cellWork, b int) {
	g, u, h := w.fromX[b*r.rows:][:r.rows], w.fromH[b*r.rows:][:r.rows], w.h[b*r.H:][:r.H]
	switch r.op {
	case "lstm":
		r.lstm(g, u, w.peephole, h, w.memory[b*r.H:][:r.H])
	case "gru":
		r.gru(g, u, w, h)
	default:
		for j := range h {
			h[j] = r.final(r.add(g[j], u[j]))
		}
	}
}

// lstm adds a peephole's product after the sum of the two others.
func (r *steppedRecurrence) lstm(g, u, peephole, h, memory []float32) {
	n := r.H
	for j, old := range memory {
		at := func(gate int, seen, by float32) float32 {
			pre := r.add(g[gate*n+j], u[gate*n+j])
			if by != 0 {
				pre = r.add(pre, r.mul(seen, by))
			}
			return pre
		}
		in := r.gate(at(0, old, peephole[j]))
		forget := r.gate(at(1, old, peephole[n+j]))
		now := r.add(r.mul(forget, old), r.mul(in, r.cell(at(3, 0, 0))))
		now = min(max(now, -r.clip), r.clip)
		out := r.gate(at(2, now, peephole[2*n+j]))
		memory[j], h[j] = now, r.mul(out, r.final(now))
	}
}

// gru multiplies h by the reset gate before the product with the weight, or that product.
func (r *steppedRecurrence) gru(g, u []float32, w *cellWork, h []float32) {
	n := r.H
	inner := u
	if !r.ResetAfter {
		for j := range h {
			w.spareH[j] = r.mul(r.gate(r.add(g[j], u[j])), h[j])
		}
		one := multiply{fixed{product: product{rows: gemm.FixedRows, k: r.H, cols: r.rows}, rules: r.rules,
			float: r.byH.float, how: r.byH.how}}
		inner = w.spare[:r.rows]
		one.mul(inner, w.spareH, w.hh, w.bias, w.floats, w.ints)
	}
	for j, old := range h {
		from := inner[n+j]
		if r.ResetAfter {
			from = r.mul(r.gate(r.add(g[j], u[j])), from)
		}
		update := r.gate(r.add(g[2*n+j], u[2*n+j]))
		fresh := r.final(r.add(g[n+j], from))
		h[j] = r.add(r.mul(r.half(1-float64(update)), fresh), r.mul(update, old))
	}
}
