package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// recurrent runs lstm, gru and rnn. Products and states are float32, gates float64;
// results are rounded once, and states between steps are not rounded to their type.
//
// A chip computes a sequence of operators (inferred), each result rounded to fp16. They are the products with x and
// with h, each from its bias, their sum, the functions of the gates by tables, and the arithmetic on states by element.
// States are halves also between steps.
func recurrent(s *Step) (run.Runner, int) {
	a := s.Attrs.(*ops.Recurrent)
	r := &recurrence{Recurrent: *a, op: s.Op, gates: 1, weights: 2, bias: 4}
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
	if rules := s.chip(); inSteps(rules) {
		r.sums = newSums(rules)
	}
	r.gate, r.cell, r.final, r.clip = r.squash(a.Gate), r.squash(a.Cell), r.squash(a.Final), r.sums.round(a.Clip)
	return r, (a.I+a.H)*r.rows + a.B*(a.I+2*r.rows+3*a.H) + 3*r.rows + 3*a.H + max(matrix.Many*max(a.I, a.H), r.rows) +
		max(r.sums.room(a.B, a.I, r.rows), r.sums.room(a.B, a.H, r.rows))
}

// squash returns an activation, with its default settings, by its name.
func (r *recurrence) squash(name string) func(x float64) float64 {
	exact := func(x float64) float64 { return x } // linear
	switch name {
	case "scaled_tanh":
		name = "tanh"
	case "hard_sigmoid":
		name = "sigmoid_hard"
	}
	if f := functions[name]; f != nil {
		exact = f(ops.Unary{Alpha: 0.2, Beta: 0.5})
	}
	return r.sums.function(name, exact)
}

type recurrence struct {
	ops.Recurrent
	op                string
	gates, rows       int // rows of the weights
	weights, bias     int // operands of the first cell
	cells             []recurrentCell
	sums              sums
	gate, cell, final func(x float64) float64
	clip              float64
}

// recurrentCell holds the weights of a cell and the indexes of its vectors.
type recurrentCell struct {
	ih, hh         matrix.Operand
	bias, peephole int
}

func (r *recurrence) newCell(s *Step, weights, bias int) recurrentCell {
	return recurrentCell{ih: newOperand(s, weights, r.I, r.rows, true, true),
		hh: newOperand(s, weights+1, r.H, r.rows, true, true), bias: bias, peephole: bias + 1}
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

// cellWork is the memory of a cell. The biases are those of the products with x and with h, withX and withH what a step
// adds of them to the products.
type cellWork struct {
	x, fromX, fromH, h, memory, spareH, biasX, biasH, withX, withH, peephole, spare, hh []float32

	g, u []float32 // fromX and fromH of one row of the batch
	room room
}

// sequence runs a cell over the rows first to last of the batch.
func (r *recurrence) sequence(c *run.Call, worker, index, first, last int) {
	cell, n, work := &r.cells[index], last-first, roomOf(c, worker)
	roomI, roomH := work.take(r.I*r.rows), work.take(r.H*r.rows)
	w := cellWork{x: work.take(n * r.I), fromX: work.take(n * r.rows), fromH: work.take(n * r.rows),
		h: work.take(n * r.H), memory: work.take(n * r.H), spareH: work.take(r.H), biasX: work.take(r.rows),
		biasH: work.take(r.rows), peephole: work.take(3 * r.H), spare: work.take(max(matrix.Many*max(r.I, r.H), r.rows))}
	none := work.take(r.rows)
	clear(none)
	w.room = work
	ih := cell.ih.Block(c, roomI, w.spare, 0, 0, r.I, 0, r.rows)
	w.hh = cell.hh.Block(c, roomH, w.spare, 0, 0, r.H, 0, r.rows)
	clear(w.biasX)
	clear(w.biasH)
	clear(w.peephole)
	own := w.biasX // of the operand that every cell has
	switch r.op {
	case "lstm":
		fillParam(w.peephole, &c.In[cell.peephole], 0)
		r.each(index, first, n, func(row, at int) { c.In[2].Load(w.memory[row:row+r.H], at) })
	case "gru":
		own = w.biasH
		fillParam(w.biasX, &c.In[5], 0)
	}
	fillParam(own, &c.In[cell.bias], 0)
	if w.withX, w.withH = w.biasX, w.biasH; r.sums.rules != 0 {
		w.withX, w.withH = none, none
	}
	r.each(index, first, n, func(row, at int) { c.In[1].Load(w.h[row:row+r.H], at) })
	for k := 0; k < r.S && !c.Pause(worker); k++ {
		t := k
		if r.Reverse || index == 1 {
			t = r.S - 1 - k
		}
		c.In[0].Load(w.x, (t*r.B+first)*r.I)
		r.sums.mul(w.fromX, w.x, ih, w.biasX, r.I, r.rows, work)
		r.sums.mul(w.fromH, w.h, w.hh, w.biasH, r.H, r.rows, work)
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

// each calls f with the offsets, in the workspace and in a tensor [B, cells*H], of n states.
func (r *recurrence) each(cell, first, n int, f func(row, at int)) {
	for b := range n {
		f(b*r.H, ((first+b)*len(r.cells)+cell)*r.H)
	}
}

// sum is row i of the products of a step with their biases.
func (r *recurrence) sum(w *cellWork, i int) float64 {
	return r.sums.round(float64(w.g[i]) + float64(w.u[i]) + float64(w.withH[i]) + float64(w.withX[i]))
}

// next computes a step of row b of the batch.
func (r *recurrence) next(w *cellWork, b int) {
	w.g, w.u = w.fromX[b*r.rows:][:r.rows], w.fromH[b*r.rows:][:r.rows]
	h := w.h[b*r.H:][:r.H]
	switch r.op {
	case "lstm":
		r.lstm(w, h, w.memory[b*r.H:][:r.H])
	case "gru":
		r.gru(w, h)
	default:
		for j := range h {
			h[j] = float32(r.final(r.sum(w, j)))
		}
	}
}

// lstm computes a step: h and memory become those after it. The output gate sees the new memory.
func (r *recurrence) lstm(w *cellWork, h, memory []float32) {
	n := r.H
	for j := range h {
		old := float64(memory[j])
		in, forget := r.peep(w, j, old), r.peep(w, n+j, old)
		now := r.sums.round(r.sums.round(forget*old) + r.sums.round(in*r.cell(r.sum(w, 3*n+j))))
		now = min(max(now, -r.clip), r.clip)
		memory[j], h[j] = float32(now), float32(r.sums.round(r.peep(w, 2*n+j, now)*r.final(now)))
	}
}

// peep is the gate of row i, which sees a memory.
func (r *recurrence) peep(w *cellWork, i int, memory float64) float64 {
	f, by := r.sum(w, i), float64(w.peephole[i])
	if by != 0 || r.sums.rules == 0 {
		f = r.sums.round(f + r.sums.round(memory*by))
	}
	return r.gate(f)
}

// gru computes a step. It multiplies h by the reset gate before the product with the weight, or that product.
func (r *recurrence) gru(w *cellWork, h []float32) {
	n, inner := r.H, w.u
	if !r.ResetAfter {
		for j := range h {
			w.spareH[j] = float32(r.sums.round(r.gate(r.sum(w, j)) * float64(h[j])))
		}
		inner = w.spare[:r.rows]
		r.sums.mul(inner, w.spareH, w.hh, w.biasH, r.H, r.rows, w.room)
	}
	for j := range h {
		from := float64(inner[n+j]) + float64(w.withH[n+j])
		if r.ResetAfter {
			from = r.sums.round(r.gate(r.sum(w, j)) * from)
		}
		fresh := r.final(r.sums.round(float64(w.g[n+j]) + float64(w.withX[n+j]) + from))
		update := r.gate(r.sum(w, 2*n+j))
		h[j] = float32(r.sums.round(r.sums.round(r.sums.round(1-update)*fresh) + r.sums.round(update*float64(h[j]))))
	}
}
