package unimem_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// history collects operations of several clients with their times.
type history struct {
	began time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

func (h *history) add(client int, input, output any, call, end int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: input, Output: output, Call: call, Return: end})
}

// do runs one operation and records it.
func (h *history) do(client int, input any, f func() any) {
	call := h.now()
	output := f()
	h.add(client, input, output, call, h.now())
}

func (h *history) check(t *testing.T, m porcupine.Model) {
	t.Helper()
	require.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(m, h.ops, time.Minute))
}

// tapeInput is an operation of a Tape in a history. full is the offset of a refused take.
type tapeInput struct {
	op          string
	size, align int
}

const full = -1

// tapeModel models a Tape as one number. base is its address, for alignments above a page.
func tapeModel(base uintptr, total int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, output any) (bool, any) {
			used, in := state.(int), input.(tapeInput)
			switch in.op {
			case "clear":
				return true, 0
			case "used":
				return output == used, used
			}
			pad := int(-(base + uintptr(used)) & uintptr(in.align-1))
			if used+pad+in.size > total {
				return output == full, used
			}
			return output == used+pad, used + pad + in.size
		},
	}
}

func TestTapeIsLinearizable(t *testing.T) {
	for seed := range rounds(30) {
		tape := start(t, page, unimem.OnHeap())
		h := &history{began: time.Now()}
		together(func(w int) {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(w)))
			for range 50 {
				switch random.IntN(10) {
				case 0:
					h.do(w, tapeInput{op: "clear"}, func() any { tape.Clear(); return nil })
				case 1:
					h.do(w, tapeInput{op: "used"}, func() any { return tape.Used() })
				default:
					in := tapeInput{"take", random.IntN(page / 3), 1 << random.IntN(16)}
					h.do(w, in, func() any {
						s, err := tape.Take(in.size, in.align)
						if err != nil {
							return full
						}
						return int(addressOf(s) - tape.Block().Address())
					})
				}
			}
		})
		h.check(t, tapeModel(tape.Block().Address(), page))
	}
}

// gridInput is an operation of a Grid. An accepted give counts as two operations of the same
// time: the claim, after which every other give of that take is stale, and the push, after
// which the cell is free.
type gridInput struct {
	op   string
	take int // number of the take of the cell
}

// gridState is the free cells, the last given one at the end, and the cells that are taken or being given.
type gridState struct {
	free    []int
	out     map[int]int // take -> cell
	claimed map[int]int
}

func (s gridState) clone() gridState {
	return gridState{slices.Clone(s.free), cloneMap(s.out), cloneMap(s.claimed)}
}

func cloneMap(m map[int]int) map[int]int {
	c := make(map[int]int, len(m)+1)
	for k, v := range m {
		c[k] = v
	}
	return c
}

// without returns cells but for one.
func without(cells []int, cell int) []int {
	return slices.DeleteFunc(slices.Clone(cells), func(c int) bool { return c == cell })
}

func gridModel(cells int) porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			s := gridState{out: map[int]int{}, claimed: map[int]int{}}
			for i := range cells {
				s.free = append(s.free, cells-1-i)
			}
			return s
		},
		Equal: func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) },
		Step: func(state, input, output any) (bool, any) {
			s, in := state.(gridState), input.(gridInput)
			cell, out := s.out[in.take]
			next := s.clone()
			switch in.op {
			case "free":
				return output == len(s.free), s
			case "take":
				if len(s.free) == 0 {
					return output == full, s
				}
				cell, at := output.(int), slices.Index(s.free, output.(int))
				next.free, next.out[in.take] = without(next.free, cell), cell
				above := without(s.free[at+1:], 0) // only the first cell is taken before one given later
				return at >= 0 && (cell == 0 || len(above) == 0), next
			case "stale":
				return !out, s
			case "claim":
				delete(next.out, in.take)
				next.claimed[in.take] = cell
				return out, next
			}
			cell, claimed := s.claimed[in.take]
			delete(next.claimed, in.take)
			next.free = append(next.free, cell)
			return claimed, next
		},
	}
}

func TestGridIsLinearizable(t *testing.T) {
	for _, wrap := range []bool{false, true} {
		for seed := range rounds(20) {
			g := newGrid(t, 64, 3, unimem.OnHeap())
			if wrap {
				unimem.NearWrap(g)
			}
			h := &history{began: time.Now()}
			shared := make(chan taken, workers) // cells that another goroutine gives
			together(func(w int) { gridClient(h, g, w, uint64(seed), shared) })
			h.check(t, gridModel(3))
		}
	}
}

// taken is a cell with the number of its take.
type taken struct {
	cell unimem.Cell
	take int
}

func gridClient(h *history, g *unimem.Grid, w int, seed uint64, shared chan taken) {
	random := rand.New(rand.NewPCG(seed, uint64(w)))
	var mine []taken
	for i := range 30 {
		switch random.IntN(6) {
		case 0:
			h.do(w, gridInput{op: "free"}, func() any { return g.Free() })
		case 1, 2:
			take := w*1000 + i
			h.do(w, gridInput{"take", take}, func() any {
				c, err := g.Take()
				if err != nil {
					return full
				}
				mine = append(mine, taken{c, take})
				return c.Index()
			})
		case 3, 4:
			if len(mine) > 0 {
				c := mine[random.IntN(len(mine))] // perhaps again
				select {
				case shared <- c:
				default:
				}
				give(h, g, w, c)
			}
		case 5:
			select {
			case c := <-shared:
				give(h, g, w, c)
			default:
			}
		}
	}
}

func give(h *history, g *unimem.Grid, w int, c taken) {
	call := h.now()
	err := g.Give(c.cell)
	end := h.now()
	if err != nil {
		h.add(w, gridInput{"stale", c.take}, nil, call, end)
		return
	}
	h.add(w, gridInput{"claim", c.take}, nil, call, end)
	h.add(w, gridInput{"push", c.take}, nil, call, end)
}

// The checker must refuse wrong histories.
func TestModelsRefuseWrongHistories(t *testing.T) {
	bad := &history{}
	bad.add(0, tapeInput{"take", 8, 1}, 0, 0, 1)
	bad.add(0, tapeInput{"take", 8, 1}, 0, 2, 3)
	require.Equal(t, porcupine.Illegal, porcupine.CheckOperationsTimeout(tapeModel(0, page), bad.ops, time.Minute))

	for _, second := range []int{0, 2, full} { // taken twice, before cell 1, and none of two
		bad = &history{}
		bad.add(0, gridInput{"take", 1}, 0, 0, 1)
		bad.add(0, gridInput{"take", 2}, second, 2, 3)
		require.Equal(t, porcupine.Illegal, porcupine.CheckOperationsTimeout(gridModel(3), bad.ops, time.Minute))
	}
}
