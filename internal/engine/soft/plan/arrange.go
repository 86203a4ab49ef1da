package plan

import (
	"cmp"
	"context"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// gap is a free range of scratch.
type gap struct{ at, bytes int }

// heap allocates ranges of scratch. It merges freed neighbours into one gap.
type heap struct {
	gaps []gap // sorted by offset, never adjacent
	top  int   // the end of the heap; everything above is free
}

// take returns the lowest offset of the smallest gap that holds n bytes, or grows the heap.
func (h *heap) take(n int) int {
	best := -1
	for i, g := range h.gaps {
		if g.bytes >= n && (best < 0 || g.bytes < h.gaps[best].bytes) {
			best = i
		}
	}
	if best < 0 {
		at := h.top
		if k := len(h.gaps) - 1; k >= 0 && h.gaps[k].at+h.gaps[k].bytes == h.top {
			at, h.gaps = h.gaps[k].at, h.gaps[:k]
		}
		h.top = at + n
		return at
	}
	g := &h.gaps[best]
	at := g.at
	g.at, g.bytes = g.at+n, g.bytes-n
	if g.bytes == 0 {
		h.gaps = slices.Delete(h.gaps, best, best+1)
	}
	return at
}

// give frees n bytes at an offset that take returned.
func (h *heap) give(at, n int) {
	i, _ := slices.BinarySearchFunc(h.gaps, at, func(g gap, at int) int { return cmp.Compare(g.at, at) })
	h.gaps = slices.Insert(h.gaps, i, gap{at, n})
	for k := i; k >= max(i-1, 0); k-- { // with the gap after it, and with the one before it
		if k+1 < len(h.gaps) && h.gaps[k].at+h.gaps[k].bytes == h.gaps[k+1].at {
			h.gaps[k].bytes += h.gaps[k+1].bytes
			h.gaps = slices.Delete(h.gaps, k+1, k+2)
		}
	}
}

// arrange gives every value in scratch an offset. Values that are alive at the same time do not overlap. Each step
// places its results, the largest first, and then frees the values that it read for the last time. The workspaces,
// which all steps share, are memory of their own.
func (p *planner) arrange(ctx context.Context) error {
	last := make(map[*ops.Value]int, 2*len(p.Steps))
	for i := range p.Steps {
		p.pause(i)
		for _, at := range slices.Concat(p.Steps[i].In, p.Steps[i].Out) {
			last[at.owner] = i
		}
	}
	var ends map[int][]*ops.Value
	if p.alias != nil {
		ends = p.stretch(last)
	}
	room := func(v *ops.Value) int { return align(v.Elements() * element.Size(v.DType)) }
	var free heap
	offsets := make(map[*ops.Value]int, len(p.Steps))
	for i := range p.Steps {
		if err := run.Between(ctx); err != nil {
			return err
		}
		var born, dead []*ops.Value
		for _, at := range slices.Concat(p.Steps[i].In, p.Steps[i].Out) {
			v := at.owner
			if _, placed := offsets[v]; at.Where == Scratch && !placed {
				born, offsets[v] = append(born, v), 0
			}
			if at.Where == Scratch && last[v] == i {
				dead, last[v] = append(dead, v), -1
			}
		}
		for _, v := range ends[i] {
			if _, placed := offsets[v]; placed && last[v] == i {
				dead = append(dead, v)
			}
		}
		slices.SortFunc(born, func(a, b *ops.Value) int {
			return cmp.Or(cmp.Compare(room(b), room(a)), cmp.Compare(a.Name, b.Name))
		})
		for _, v := range born {
			offsets[v] = free.take(room(v))
			if free.top > maxScratch {
				return tooLarge(v.Pos, free.top)
			}
		}
		slices.SortFunc(dead, func(a, b *ops.Value) int { return cmp.Compare(offsets[a], offsets[b]) })
		for _, v := range dead {
			free.give(offsets[v], room(v))
		}
	}
	p.Scratch = free.top
	return p.prepare(ctx, offsets)
}

// prepare makes each step's runner and finds the largest workspace.
func (p *planner) prepare(ctx context.Context, offsets map[*ops.Value]int) error {
	first := 0                // float32s of workspace of a group's first step
	var stores *run.Finishing // of a group of which it does no others
	for i := range p.Steps {
		if err := run.Between(ctx); err != nil {
			return err
		}
		s := &p.Steps[i]
		for k := range s.In {
			if s.In[k].Where != Constant {
				s.In[k].Index += offsets[s.In[k].owner]
			} else if err := p.operand(&s.In[k], s.Packed.IsPacked(k)); err != nil {
				return err
			}
		}
		for k := range s.Out {
			s.Out[k].Index += offsets[s.Out[k].owner]
		}
		s.make(&p.constants.budget.packed)
		if _, each := s.Run.(run.Elementwise); s.Joined && each && (stores == nil || stores.Take(s.Run)) {
			s.Skip = first
		} else {
			s.Joined, first, stores = false, s.Work, nil
			if i+1 < len(p.Steps) && !run.TakesJoined(s.Run) {
				stores = run.Stores(s.Run)
				p.Steps[i+1].Joined = p.Steps[i+1].Joined && stores != nil
			}
		}
		need, workers := 2*maxScratch, run.Parallel(p.Workers)
		if s.Work <= maxScratch/4/workers-s.Skip {
			need = p.Scratch + align(4*(s.Skip+s.Work))*workers
		}
		if need > maxScratch {
			return tooLarge(s.pos, need)
		}
		p.Work = max(p.Work, align(4*(s.Skip+s.Work)))
	}
	return nil
}

// align rounds up to whole rows, so that every value starts aligned.
func align(n int) int { return (n + ane.RowAlign - 1) / ane.RowAlign * ane.RowAlign }
