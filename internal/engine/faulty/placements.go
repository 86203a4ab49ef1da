package faulty

import (
	"slices"

	"github.com/anekit/anekit/ane"
)

// placements are the engines that read or write in the wrong place.
func placements() []Fault {
	return []Fault{
		{Name: "neighbour-write", What: "changes the byte directly after an output in its surface",
			run: spoiled(spill)},
		{Name: "writes-input", What: "changes an input", run: spoiled(scribble)},
		{Name: "writes-padding", What: "changes the padding of an input's first row", run: spoiled(scribblePadding)},
		{Name: "swaps-inputs", What: "exchanges two inputs of one layout", prepare: swapped(true)},
		{Name: "swaps-outputs", What: "exchanges two outputs of one layout", prepare: swapped(false)},
		{Name: "packs-rows", What: "writes output rows without padding", run: spoiled(pack)},
		{Name: "one-request", SuiteOnly: true,
			What: "runs every request of a model on the tensors bound first", prepare: oneRequest},
	}
}

// spill changes the byte after the first tensor that has one, outputs first. It
// stays inside the tensor's Block.
func spill(v *invocation, _ int) error {
	for _, t := range slices.Concat(v.out, v.in) {
		surface, end := t.Block().Bytes(), t.Offset()+t.Layout().Bytes()
		if end < len(surface) {
			surface[end]++
			return nil
		}
	}
	return nil
}

func scribble(v *invocation, _ int) error {
	if len(v.in) == 0 {
		return nil
	}
	row, err := v.in[0].Row(0)
	if err == nil {
		row[0]++
	}
	return err
}

func scribblePadding(v *invocation, _ int) error {
	for _, t := range v.in {
		if l := t.Layout(); l.RowBytes() < l.RowStride {
			t.Bytes()[l.RowBytes()]++
			return nil
		}
	}
	return nil
}

// swapped exchanges the first two inputs or outputs of the same layout.
func swapped(inputs bool) prepare {
	return func(x *executable, in, out []*ane.Tensor) (*invocation, error) {
		a, b := slices.Clone(in), slices.Clone(out)
		if inputs {
			exchange(a)
		} else {
			exchange(b)
		}
		return honest(x, a, b)
	}
}

func exchange(tensors []*ane.Tensor) {
	for i, t := range tensors {
		for j, u := range tensors[:i] {
			if t.Layout().Equal(u.Layout()) {
				tensors[i], tensors[j] = u, t
				return
			}
		}
	}
}

// pack moves output rows together. Rows only move towards the start, so that
// none is overwritten before it moves.
func pack(v *invocation, _ int) error {
	for _, t := range v.out {
		l, b := t.Layout(), t.Bytes()
		if b == nil || l.Packed() {
			continue
		}
		for i := range l.Rows() {
			copy(b[i*l.RowBytes():], b[l.Row(i):][:l.RowBytes()])
		}
	}
	return nil
}

// oneRequest prepares with the tensors of the model's first request as long as
// their memory is open.
func oneRequest(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	gone := func(t *ane.Tensor) bool { return t.Bytes() == nil }
	if x.first[1] == nil || slices.ContainsFunc(slices.Concat(x.first[0], x.first[1]), gone) {
		x.first = [2][]*ane.Tensor{in, out}
	}
	return honest(x, x.first[0], x.first[1])
}
