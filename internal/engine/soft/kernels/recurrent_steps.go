package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/numerics"
)

// chipRecurrence is lstm, gru and rnn as a chip's sequence of operators (inferred), each result rounded to fp16:
// the products with x and with h, each starting from its bias, their sum, the functions of the gates by tables,
// and the arithmetic on states element by element. States are halves also between steps.
type chipRecurrence struct {
	*recurrence
	rules             numerics.Rules
	byX, byH          multiply
	gate, cell, final func(x float32) float32
	clip              float32
}

func newChipRecurrence(r *recurrence, rules numerics.Rules) *chipRecurrence {
	p := &chipRecurrence{recurrence: r, rules: rules, byX: newMultiply(r.B, r.I, r.rows, rules),
		byH: newMultiply(r.B, r.H, r.rows, rules), gate: squash(rules, r.Gate), cell: squash(rules, r.Cell),
		final: squash(rules, r.Final)}
	p.clip = p.half(r.Clip)
	return p
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

func (r *chipRecurrence) half(f float64) float32 { return r.rules.Value(r.rules.Round(f)) }

func (r *chipRecurrence) add(x, y float32) float32 { return r.half(float64(x) + float64(y)) }
func (r *chipRecurrence) mul(x, y float32) float32 { return r.half(float64(x) * float64(y)) }

// step computes a step of n rows of the batch.
func (r *chipRecurrence) step(w *cellWork, ih []float32, n int) {
	withX, withH := w.bias, w.second
	if r.op == "gru" {
		withX, withH = w.second, w.bias
	}
	r.byX.mul(w.fromX, w.x, ih, withX, w.floats, w.ints)
	r.byH.mul(w.fromH, w.h, w.hh, withH, w.floats, w.ints)
	for b := range n {
		r.next(w, b)
	}
}

// next computes a step of row b of the batch.
func (r *chipRecurrence) next(w *cellWork, b int) {
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
func (r *chipRecurrence) lstm(g, u, peephole, h, memory []float32) {
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
func (r *chipRecurrence) gru(g, u []float32, w *cellWork, h []float32) {
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
