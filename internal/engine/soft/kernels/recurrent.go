package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// recurrent runs lstm, gru and rnn. Products and states are float32, gates float64;
// results are rounded once, and states between steps are not rounded to their type.
func recurrent(s *Step) (run.Runner, int) {
	a := s.Attrs.(*ops.Recurrent)
	r := &recurrence{Recurrent: *a, op: s.Op, dtype: s.Out[0].DType, gates: 1, weights: 2, bias: 4,
		gate: squashings[a.Gate], cell: squashings[a.Cell], final: squashings[a.Final]}
	switch s.Op {
	case "lstm":
		r.gates, r.weights, r.bias = 4, 3, 5
	case "gru":
		r.gates = 3
	}
	r.rows = r.gates * a.H
	r.cells = append(r.cells, r.newCell(s, r.weights, r.bias))
	if a.Both {
		r.cells = append(r.cells, r.newCell(s, 7, 9))
	}
	work := (a.I+a.H)*r.rows + a.B*(a.I+2*r.rows+3*a.H) + 2*r.rows + 3*a.H + max(a.I, a.H, r.rows)
	if rules := s.chip(); inSteps(rules) {
		r.chip = newChipRecurrence(r, rules)
		work += max(r.chip.byX.room(), r.chip.byH.room())
	}
	return r, work
}

// squashings are the activations of recurrent operators, with their default settings.
var squashings = map[string]func(x float64) float64{
	"sigmoid": sigmoid, "tanh": math.Tanh, "scaled_tanh": math.Tanh,
	"relu":         func(x float64) float64 { return max(x, 0) },
	"linear":       func(x float64) float64 { return x },
	"sigmoid_hard": hardSigmoid, "hard_sigmoid": hardSigmoid,
}

func hardSigmoid(x float64) float64 { return min(max(float64(0.2*x)+0.5, 0), 1) }

type recurrence struct {
	ops.Recurrent
	op                string
	dtype             mil.DType
	gates, rows       int // rows of the weights
	weights, bias     int // operands of the first cell
	cells             []recurrentCell
	gate, cell, final func(x float64) float64
	chip              *chipRecurrence // nil in the reference mode
}

// recurrentCell holds the weights of a cell and the indexes of its vectors.
type recurrentCell struct {
	ih, hh         operand
	bias, peephole int
}

func (r *recurrence) newCell(s *Step, weights, bias int) recurrentCell {
	return recurrentCell{ih: newOperand(s, weights, r.I, r.rows, true), hh: newOperand(s, weights+1, r.H, r.rows, true),
		bias: bias, peephole: bias + 1}
}

func (r *recurrence) Run(c *run.Call) {
	c.Spread(len(r.cells)*r.B, r.S*r.rows*(r.I+r.H+8))
}

// Span runs rows lo to hi of the batch, counted through the cells.
func (r *recurrence) Span(c *run.Call, lo, hi, worker int) {
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
func (r *recurrence) sequence(c *run.Call, worker, index, first, last int) {
	cell, n, rest := &r.cells[index], last-first, c.Work[worker]
	take := func(count int) (part []float32) { part, rest = rest[:count:count], rest[count:]; return part }
	roomI, roomH := take(r.I*r.rows), take(r.H*r.rows)
	w := cellWork{x: take(n * r.I), fromX: take(n * r.rows), fromH: take(n * r.rows), h: take(n * r.H),
		memory: take(n * r.H), spareH: take(r.H), bias: take(r.rows), second: take(r.rows), peephole: take(3 * r.H),
		spare: take(max(r.I, r.H, r.rows))}
	if w.floats = rest; r.chip != nil {
		w.ints = c.Words[worker][len(c.Work[worker])-len(rest):]
	}
	ih := cell.ih.block(c, roomI, w.spare, 0, 0, r.I, 0, r.rows)
	w.hh = cell.hh.block(c, roomH, w.spare, 0, 0, r.H, 0, r.rows)
	fillParam(w.bias, &c.In[cell.bias], 0)
	clear(w.second)
	clear(w.peephole)
	switch r.op {
	case "lstm":
		fillParam(w.peephole, &c.In[cell.peephole], 0)
		r.each(index, first, n, func(row, at int) { c.In[2].Load(w.memory[row:row+r.H], at) })
	case "gru":
		fillParam(w.second, &c.In[5], 0)
	}
	r.each(index, first, n, func(row, at int) { c.In[1].Load(w.h[row:row+r.H], at) })
	for k := 0; k < r.S && !c.Pause(worker); k++ {
		t := k
		if r.Reverse || index == 1 {
			t = r.S - 1 - k
		}
		c.In[0].Load(w.x, (t*r.B+first)*r.I)
		if r.chip != nil {
			r.chip.step(&w, ih, n)
		} else {
			gemm.Mul(w.fromX, w.x, ih, n, r.I, r.rows)
			gemm.Mul(w.fromH, w.h, w.hh, n, r.H, r.rows)
			for b := range n {
				r.next(&w, b)
			}
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

// each calls f with the offsets, in the workspace and in a tensor [B, cells*H], of n states.
func (r *recurrence) each(cell, first, n int, f func(row, at int)) {
	for b := range n {
		f(b*r.H, ((first+b)*len(r.cells)+cell)*r.H)
	}
}

// next computes a step of row b of the batch.
func (r *recurrence) next(w *cellWork, b int) {
	g, u, h := w.fromX[b*r.rows:][:r.rows], w.fromH[b*r.rows:][:r.rows], w.h[b*r.H:][:r.H]
	switch r.op {
	case "lstm":
		r.lstm(g, u, w.bias, w.peephole, h, w.memory[b*r.H:][:r.H])
	case "gru":
		r.gru(g, u, w.bias, w.second, w.hh, h, w.spareH, w.spare[:r.rows])
	default:
		for j := range h {
			h[j] = float32(r.final(float64(g[j]) + float64(u[j]) + float64(w.bias[j])))
		}
	}
}

// lstm computes a step: h and memory become those after it. The output gate sees the new
// memory.
func (r *recurrence) lstm(g, u, bias, peephole, h, memory []float32) {
	n := r.H
	at := func(gate, j int) float64 {
		i := gate*n + j
		return float64(g[i]) + float64(u[i]) + float64(bias[i])
	}
	for j := range h {
		old := float64(memory[j])
		in := r.gate(at(0, j) + float64(old*float64(peephole[j])))
		forget := r.gate(at(1, j) + float64(old*float64(peephole[n+j])))
		now := float64(forget*old) + float64(in*r.cell(at(3, j)))
		now = min(max(now, -r.Clip), r.Clip)
		out := r.gate(at(2, j) + float64(now*float64(peephole[2*n+j])))
		memory[j], h[j] = float32(now), float32(out*r.final(now))
	}
}

// gru computes a step. hh is the transposed weight of h, for the product with the reset
// state.
func (r *recurrence) gru(g, u, bias, second, hh, h, reset, product []float32) {
	n := r.H
	at := func(gate, j int) float64 {
		i := gate*n + j
		return float64(g[i]) + float64(u[i]) + float64(bias[i]) + float64(second[i])
	}
	if !r.ResetAfter {
		for j := range h {
			reset[j] = float32(r.gate(at(0, j)) * float64(h[j]))
		}
		gemm.Mul(product, reset, hh, 1, n, r.rows)
	}
	for j := range h {
		i := n + j
		inner := float64(g[i]) + float64(second[i])
		if r.ResetAfter {
			inner += float64(r.gate(at(0, j)) * (float64(u[i]) + float64(bias[i])))
		} else {
			inner += float64(product[i]) + float64(bias[i])
		}
		update := r.gate(at(2, j))
		h[j] = float32(float64((1-update)*r.final(inner)) + float64(update*float64(h[j])))
	}
}
