package faulty

import (
	"slices"

	"github.com/anekit/anekit/ane"
)

// placements are the engines that read or write in the wrong place.
func placements() []Fault {
	return []Fault{
		{Name: "neighbour-write", What: "changes the byte just behind an output in its surface", run: spoiled(spill)},
		{Name: "writes-input", What: "changes an input", run: spoiled(scribble)},
		{Name: "writes-padding", What: "changes the padding of an input's first row", run: spoiled(scribblePadding)},
		{Name: "swaps-inputs", What: "takes two inputs of one layout for each other", prepare: swapped(true)},
		{Name: "swaps-outputs", What: "takes two outputs of one layout for each other", prepare: swapped(false)},
		{Name: "packs-rows", What: "writes output rows one behind the other, without padding", run: spoiled(pack)},
		{Name: "one-request", SuiteOnly: true,
			What: "runs every request of a model on the tensors that were bound first", prepare: oneRequest},
	}
}

// spill changes the byte behind the first tensor that has one, outputs first.
// It never leaves the tensor's Block.
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

// swapped exchanges the first two inputs or outputs that could stand for each
// other.
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
// none is overwritten before it moved.
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

// oneRequest prepares on what the model's first request bound, as long as that
// memory is there.
func oneRequest(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	gone := func(t *ane.Tensor) bool { return t.Bytes() == nil }
	if x.first[1] == nil || slices.ContainsFunc(slices.Concat(x.first[0], x.first[1]), gone) {
		x.first = [2][]*ane.Tensor{in, out}
	}
	return honest(x, x.first[0], x.first[1])
}
