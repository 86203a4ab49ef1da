package faulty

import (
	"slices"

	"github.com/anekit/anekit/ane"
)

// placements are the engines that read or write in the wrong place.
func placements() []Fault {
	return []Fault{
		{Name: "neighbour-write", What: "changes the byte directly after an output in its surface",
			damage: spill},
		{Name: "writes-input", What: "changes an input", damage: scribble},
		{Name: "writes-padding", What: "changes the padding of an input's first row", damage: scribblePadding},
		{Name: "swaps-inputs", What: "exchanges two inputs of one layout", prepare: swappedInputs},
		{Name: "swaps-outputs", What: "exchanges two outputs of one layout", prepare: swappedOutputs},
		{Name: "packs-rows", What: "writes output rows without padding", damage: pack},
		{Name: "one-request", SuiteOnly: true,
			What: "runs every request of a model on the tensors bound first", prepare: oneRequest},
	}
}

// spill changes the byte after the first tensor that has one, outputs first. It
// stays inside the tensor's Block.
func spill(v *invocation) error {
	for _, t := range slices.Concat(v.out, v.in) {
		surface, end := t.Block().Bytes(), t.Offset()+t.Layout().Bytes()
		if end < len(surface) {
			surface[end]++
			return nil
		}
	}
	return nil
}

func scribble(v *invocation) error {
	if len(v.in) == 0 {
		return nil
	}
	row, err := v.in[0].Row(0)
	if err == nil {
		row[0]++
	}
	return err
}

func scribblePadding(v *invocation) error {
	for _, t := range v.in {
		if l := t.Layout(); l.RowBytes() < l.RowStride {
			t.Bytes()[l.RowBytes()]++
			return nil
		}
	}
	return nil
}

func swappedInputs(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	return honest(x, exchanged(in), out)
}

func swappedOutputs(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	return honest(x, in, exchanged(out))
}

// exchanged returns tensors with the first two of the same layout exchanged.
func exchanged(tensors []*ane.Tensor) []*ane.Tensor {
	tensors = slices.Clone(tensors)
	for i, t := range tensors {
		for j, u := range tensors[:i] {
			if t.Layout().Equal(u.Layout()) {
				tensors[i], tensors[j] = u, t
				return tensors
			}
		}
	}
	return tensors
}

// pack moves output rows together. Rows only move towards the start, so that
// none is overwritten before it moves.
func pack(v *invocation) error {
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
