package interp

import (
	"cmp"
	"context"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// interval is a value in scratch: its size, the steps between which it lives,
// and where it was put.
type interval struct {
	value       *ops.Value
	first, last int
	bytes       int
	offset      int
}

// arrange gives every value in scratch an offset so that values alive at the
// same time do not overlap: largest first, each at the lowest offset that is
// free over its life. The workspace that all steps share follows behind.
func (p *planner) arrange(ctx context.Context) error {
	var todo []interval
	for v, first := range p.first {
		if p.places[v].where == absent {
			n := v.Elements() * v.DType.Size()
			todo = append(todo, interval{value: v, first: first, last: p.last[v], bytes: align(n)})
		}
	}
	slices.SortFunc(todo, func(a, b interval) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.first, b.first), cmp.Compare(a.value.Name, b.value.Name))
	})
	var done []interval // by offset
	offsets := map[*ops.Value]int{}
	for _, t := range todo {
		for _, d := range done {
			if t.first <= d.last && d.first <= t.last && d.offset < t.offset+t.bytes {
				t.offset = max(t.offset, d.offset+d.bytes)
			}
		}
		at, _ := slices.BinarySearchFunc(done, t, func(a, b interval) int { return cmp.Compare(a.offset, b.offset) })
		done = slices.Insert(done, at, t)
		offsets[t.value] = t.offset
		p.scratch = max(p.scratch, t.offset+t.bytes)
		if err := cmp.Or(p.sizeCheck(), ctx.Err()); err != nil {
			return err
		}
	}
	p.work = p.scratch
	room := 0
	for i := range p.steps {
		s := &p.steps[i]
		for _, places := range [2][]place{s.in, s.out} {
			if err := fix(places, offsets); err != nil {
				return err
			}
		}
		s.run, s.work = s.kernel(s)
		if s.work > maxScratch/4/workers {
			p.scratch = 2 * maxScratch
			return p.sizeCheck()
		}
		room = max(room, align(4*s.work)*workers)
	}
	p.scratch += room
	return p.sizeCheck()
}

// fix completes places: offsets in scratch, and constants as elements.
func fix(places []place, offsets map[*ops.Value]int) (err error) {
	for i := range places {
		switch at := &places[i]; at.where {
		case scratch:
			at.index = offsets[at.owner]
		case constant:
			if at.data, err = aligned(at.dtype, at.owner.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// aligned views a constant as elements; one that lies askew in its weight file
// is moved first.
func aligned(d mil.DType, data []byte) (vec, error) {
	v, err := view(d, data)
	if err != nil {
		return view(d, slices.Clone(data))
	}
	return v, nil
}

// align rounds up to whole rows, so that every value starts aligned.
func align(n int) int { return (n + ane.RowAlign - 1) / ane.RowAlign * ane.RowAlign }
