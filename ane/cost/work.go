package cost

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/ops"
)

// work is the state of one estimate.
type work struct {
	*program
	Options
	read    map[string]bool
	engines int // that the program runs on
}

// estimate fills in the operators and the call.
func (w *work) estimate(e *Estimate) {
	full := w.Chip.Spec().Clock
	e.Clock = Figure{Value: full.Value.High, Degree: full.Degree, Source: full.Source}
	switch w.Chip {
	case chip.M6:
		w.layered(e)
		w.callM6(e)
	case chip.M4:
		w.layered(e)
		w.callM4(e)
	default:
		w.anchored(e)
	}
	w.wake(e)
	if spec := w.Chip.Spec(); spec.LinuxCall.Known() {
		e.Notes = append(e.Notes, fmt.Sprintf("microseconds of a call: %s with the Linux driver, %s on macOS",
			spec.LinuxCall, spec.CallOverhead))
	}
	if w.Gap > 0 && w.Chip != chip.M6 {
		e.Notes = append(e.Notes, fmt.Sprintf("how the clock of %s falls with the gap between calls is not published",
			w.Chip))
	}
	w.finish(e)
}

// layered fills in the operators and the task, one layer after another.
func (w *work) layered(e *Estimate) {
	if w.Engines == 2 {
		if e.Split, e.Why = w.split(); e.Split {
			w.engines = 2
		}
	}
	total := Figure{Value: taskBase, Degree: chip.Measured, Source: formula}
	add := func(f Figure) {
		if f.Value > 0 {
			total.Degree, total.Value = min(total.Degree, f.Degree), total.Value+f.Value
		}
	}
	for _, l := range w.layers {
		op := w.operator(l)
		e.Tasks += op.Tasks
		add(op.Time.Figure)
		e.Ops = append(e.Ops, op)
	}
	io := w.moved()
	tasks := measured(perTask*float64(e.Tasks), formula)
	e.Parts = []Part{
		{"task list", Time{measured(taskBase, formula)}, Dispatch}, {"tasks", Time{tasks}, Dispatch},
		{"inputs and outputs", Time{io}, Activations},
	}
	add(io)
	add(tasks)
	e.Task = Time{total}
}

// callM6 adds what a call takes beside the task.
func (w *work) callM6(e *Estimate) {
	submit := measured(submission*float64(w.engines), formula)
	done := completion(e.Task.Value)
	if w.Gap > 0 {
		host := done.Value + submit.Value + w.Gap
		if w.InFlight >= 2 {
			host = w.Gap
		}
		e.Clock = clockAt(e.Task.Value, host)
		slower := Figure{Value: e.Task.Value * (clock/e.Clock.Value - 1),
			Degree: min(e.Task.Degree, e.Clock.Degree), Source: e.Clock.Source}
		if slower.Value > 0 {
			e.Parts = append(e.Parts, Part{"lower clock", Time{slower}, MAC})
			e.Task.Value += slower.Value
			e.Task.Degree = min(e.Task.Degree, slower.Degree)
		}
		done = completion(e.Task.Value)
	}
	if w.InFlight >= 2 {
		done.Value = 0
		e.Notes = append(e.Notes, "with 2 requests in flight the completion of one overlaps the next")
	}
	e.Parts = append(e.Parts, Part{"submission", Time{submit}, Dispatch}, Part{"completion", Time{done}, Dispatch})
	e.Call = Time{Figure{Value: e.Task.Value + submit.Value + done.Value, Degree: e.Task.Degree, Source: formula}}
	e.Error = inferred(0.3, "mixed operators")
	if w.onlyChain() {
		e.Error = measured(0.24, "36 published chains of 1x1: 7 % in the mean, 24 % at worst, below 300 us")
	}
}

// wake adds the time after idling.
func (w *work) wake(e *Estimate) {
	var idle Figure
	if w.Chip == chip.M6 {
		idle = afterIdle(w.Idle, e.Call.Value)
	} else if extra := w.Chip.Spec().FirstCallExtra; w.Idle > 5.68e6 {
		idle = inferred(extra.Value.Middle()*1e3, extra.Source+", as M6 sleeps")
	}
	if idle.Value > 0 {
		e.Parts = append(e.Parts, Part{"after idling", Time{idle}, Dispatch})
		e.Call.Degree, e.Call.Value = min(e.Call.Degree, idle.Degree), e.Call.Value+idle.Value
	}
}

// callM4 has the overhead of a call on M4.
func (w *work) callM4(e *Estimate) {
	over := inferred(95, "within the published 90 to 160 us")
	e.Parts = append(e.Parts, Part{"dispatch", Time{over}, Dispatch})
	e.Task.Degree, e.Task.Source = chip.Inferred, "the form of M6 with the rates of M4"
	e.Call = Time{inferred(e.Task.Value+over.Value, e.Task.Source)}
	e.Error = inferred(0.3, "as M6 with mixed operators")
}

// onlyChain reports whether the program is a chain of 1x1 convolutions, for which times are published.
func (w *work) onlyChain() bool {
	return len(w.layers) > 0 && !slices.ContainsFunc(w.layers, func(l *layer) bool {
		return l.host == nil && (l.product == nil || !l.product.is(1, 1) || !l.product.plain ||
			l.product.weight == nil)
	})
}

// finish finds out what takes the largest share.
func (w *work) finish(e *Estimate) {
	shares := map[Bound]float64{}
	for _, op := range e.Ops {
		shares[op.Bound] += op.Time.Value
	}
	for _, p := range e.Parts {
		shares[p.Bound] += p.Time.Value
	}
	for _, b := range []Bound{MAC, Weights, Activations, PE, Dispatch} {
		if shares[b] > shares[e.Bound] {
			e.Bound = b
		}
	}
}

// operator names the operator of a layer, and what it is a part of.
func (l *layer) operator() Op {
	op := Op{Kind: l.Op.Kind, Pos: l.Op.Pos, Bound: Nothing}
	if len(l.Out) > 0 {
		op.Name = l.Out[0].Name
	}
	if l.host != nil {
		op.Note = l.why + " " + l.host.Out[0].Name
	}
	return op
}

// operator estimates one layer.
func (w *work) operator(l *layer) Op {
	op := l.operator()
	var largest, sum float64
	for _, t := range l.Out {
		largest, sum = max(largest, bytes(t)), sum+elements(t)
	}
	for _, t := range l.in {
		largest, sum = max(largest, bytes(t)), max(sum, elements(t))
	}
	none := Time{measured(0, formula)}
	switch {
	case l.host != nil:
		op.Time = none
		return op
	case l.cost == ops.Free:
		op.Time, op.Note = Time{inferred(0, "a view")}, "moves nothing"
		return op
	}
	tile := float64(tileLone)
	if len(w.layers) > 1 {
		tile = tileChain
	}
	op.Tasks, op.Bound, op.Elements = int(min(largest/tile, 1<<20))+1, PE, int64(sum)
	n := sum / float64(w.engines)
	switch {
	case l.product != nil:
		op.Tasks, op.Elements = op.Tasks*w.engines, 0
		w.multiply(l, &op)
	case l.paired:
		op.Time, op.Note = none, "shares the pass of the operator before"
	case l.cost == ops.Twice:
		op.Time, op.Note = Time{inferred(2*pass(n).Value, "two passes")}, "two passes of the elementwise unit"
	case len(l.in) > 1 && l.cost == ops.Moves:
		op.Time, op.Note = Time{inferred(pass(n).Value, "as one pass")}, "moves elements"
		op.Tasks += max(len(l.in)-2, 0) // a task reads two tensors
	case len(l.in) > 1:
		op.Time = Time{join(n)}
	default:
		op.Time = Time{pass(n)}
		if l.cost != ops.Function {
			op.Time.Degree, op.Time.Source = chip.Inferred, "as one pass"
		}
	}
	return op
}

// multiply estimates a layer with products.
func (w *work) multiply(l *layer, op *Op) {
	p := l.product
	op.MACs, op.Bound = p.macs, MAC
	reading := Figure{}
	if p.weight != nil {
		op.Weights = p.weight.stored
		reading = w.readTime(p.weight, op)
	}
	op.Time, op.Note = Time{p.macTime(w.engines, w.chain)}, p.note()
	if w.Chip == chip.M4 {
		rate := w.Chip.Spec().DenseRate.Value.Middle() * 1e6 / 2 // products per microsecond
		op.Time.Value *= 1 / (rate / (peak * 0.93))
	}
	if t, ok := p.rewritten(); ok && t.Value > op.Time.Value {
		op.Time, op.Note = Time{t}, fmt.Sprintf("a kernel %d wide is rewritten to stride 2", p.kw)
	}
	if reading.Value > op.Time.Value {
		op.Time, op.Bound = Time{reading}, Weights
	}
	if p.score > 0 {
		t := 2 * pass(p.score/float64(w.engines)).Value
		op.Time = Time{inferred(op.Time.Value+t, "two products and a softmax")}
		op.Elements = int64(min(p.score, 1<<50))
	}
	if w.Chip != chip.M6 {
		op.Time.Degree, op.Time.Source = chip.Inferred, "as M6, with the rates of "+w.Chip.String()
	}
}

// readTime is the time to read a weight, 0 for one that another layer has read and that the cores keep.
func (w *work) readTime(t *weight, op *Op) Figure {
	if w.read[t.key] && t.stored <= resident {
		return Figure{}
	}
	w.read[t.key] = true
	rate := weightRate(t.bits)
	if w.Chip == chip.M4 {
		rate = measured(67e3, "study 7.5")
	}
	return Figure{Value: float64(op.Weights) / rate.Value, Degree: rate.Degree, Source: rate.Source}
}

// note says which of the study's cases a product is.
func (p *product) note() string {
	switch {
	case p.density() < 1:
		return fmt.Sprintf("%.0f %% of the weight is zero and skipped", 100*(1-p.density()))
	case p.eight:
		return "8-bit activations and weights"
	case p.weight == nil && !p.conv:
		return "both operands computed"
	case p.winograd():
		return "Winograd"
	case p.is(3, 3):
		return "no Winograd"
	}
	return ""
}

// moves returns the bytes of used inputs and of outputs, each once, and the number of these inputs.
func (w *work) moves() (moved float64, used int) {
	for _, t := range w.inputs {
		if len(t.Uses) > 0 {
			moved, used = moved+bytes(t), used+1
		}
	}
	for _, t := range distinct(w.Outputs) {
		moved += bytes(t)
	}
	return moved, used
}

// moved is the time to move inputs and outputs.
func (w *work) moved() Figure {
	moved, used := w.moves()
	rate := measured(activations*float64(w.engines), "study 9.4")
	if w.Chip == chip.M4 {
		rate = inferred(24e3, "as M1 and M5")
	}
	if w.engines == 2 && moved >= 8e6 {
		rate.Value = 79e3
		if used > 1 {
			rate.Value = 56e3
		}
	}
	return Figure{Value: moved / rate.Value, Degree: rate.Degree, Source: rate.Source}
}
