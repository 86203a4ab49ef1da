package unimem_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem"
)

const workers = 4

func rounds(long int) int {
	if !effort.Full() {
		return max(1, long/10)
	}
	return long
}

// together runs f on several goroutines at once.
func together(f func(worker int)) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w) })
	}
	wg.Wait()
}

// Spans never overlap, and together they cover the Tape.
func TestTapeRace(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		tape := start(t, 64*page, memory)
		for range rounds(20) {
			tape.Clear()
			var mine [workers][][]byte
			together(func(w int) {
				for size := 1; ; size = size%97 + 1 {
					s := tape.TryTake(size, 1)
					if s == nil {
						var err error
						if s, err = tape.Take(size, 1); err != nil {
							return
						}
					}
					fill(s, byte(w+1))
					mine[w] = append(mine[w], s)
				}
			})
			total := 0
			for w, spans := range mine {
				for _, s := range spans {
					total += len(s)
					require.Equal(t, filled(len(s), byte(w+1)), s)
				}
			}
			require.Equal(t, tape.Used(), total)
			require.Less(t, tape.Free(), 97)
		}
	})
}

// Cells have one holder at a time. On heap memory the race detector also checks that Give
// publishes the bytes to the next holder.
func TestGridRace(t *testing.T) {
	overGrids(t, func(t *testing.T, grid func(int, int) *unimem.Grid) {
		g := grid(64, workers-1)
		var wrong atomic.Int64
		together(func(w int) {
			for i := range rounds(2000) {
				c, err := g.Take()
				if err != nil {
					continue
				}
				fill(c.Bytes(), byte(w))
				if free := g.Free(); free < 0 || free >= g.Total() {
					wrong.Add(1)
				}
				for _, v := range c.Bytes() {
					if v != byte(w) {
						wrong.Add(1)
					}
				}
				if g.Give(c) != nil {
					wrong.Add(1)
				}
				if i%16 == 0 && g.Give(c) == nil {
					wrong.Add(1)
				}
			}
		})
		require.Zero(t, wrong.Load())
		require.Equal(t, g.Total(), g.Free())
	})
}

// Of concurrent Gives of copies of a cell, the first one or another, one is accepted.
func TestDoubleGiveRace(t *testing.T) {
	overGrids(t, func(t *testing.T, grid func(int, int) *unimem.Grid) {
		g := grid(64, 2)
		for range rounds(150) {
			for i, c := range []unimem.Cell{take(t, g), take(t, g)} {
				var accepted, stale atomic.Int64
				together(func(int) {
					switch g.Give(c) {
					case nil:
						accepted.Add(1)
					case unimem.ErrStaleCell:
						stale.Add(1)
					}
				})
				require.EqualValues(t, 1, accepted.Load())
				require.EqualValues(t, workers-1, stale.Load())
				require.Equal(t, i+1, g.Free())
			}
		}
	})
}

// Closing a Grid makes concurrent takes and gives return ErrClosed, and no cell is taken
// afterwards.
func TestGridCloseRace(t *testing.T) {
	for range rounds(300) {
		g, err := unimem.NewGrid(64, workers, unimem.OnHeap(), unimem.StaleOnClose())
		require.NoError(t, err)
		var held sync.Map
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for {
					c, err := g.Take()
					if err == nil {
						held.Store(w, c)
						err = g.Give(c)
					}
					if err == unimem.ErrClosed {
						return
					}
				}
			})
		}
		require.NoError(t, g.Close())
		wg.Wait()
		_, err = g.Take()
		require.Equal(t, unimem.ErrClosed, err)
		held.Range(func(_, c any) bool {
			require.Nil(t, c.(unimem.Cell).Bytes())
			require.Error(t, g.Give(c.(unimem.Cell)))
			return true
		})
		require.Zero(t, g.Free())
	}
}

// A Grid that is closed during takes and gives stays open until no cell is taken. A refused Close
// changes nothing: no Take finds an open Grid with free cells full, and Free counts them.
func TestGridCloseWaitsForCells(t *testing.T) {
	for round := range rounds(100) {
		g, err := unimem.NewGrid(64, workers, unimem.OnHeap())
		require.NoError(t, err)
		c, err := g.Take()
		require.NoError(t, err)
		block := c.Block()
		require.NoError(t, g.Give(c))
		retained := round%2 == 0
		if retained {
			require.NoError(t, block.Retain())
		}
		var wrong atomic.Int64
		var refused atomic.Int64
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for range 200 { // then no cell is taken, and Close succeeds
					c, err := g.Take()
					switch {
					case err == unimem.ErrClosed:
						return
					case err != nil:
						wrong.Add(1)
						return
					}
					fill(c.Bytes(), byte(w))
					for _, v := range c.Bytes() {
						if v != byte(w) {
							wrong.Add(1)
						}
					}
					if g.Give(c) != nil {
						wrong.Add(1)
					}
				}
			})
		}
		for range 2 {
			wg.Go(func() {
				for g.Close() != nil {
					if refused.Add(1) == 20 && retained {
						block.Release()
					}
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		require.Zero(t, wrong.Load())
		require.Zero(t, g.Free())
	}
}

// A Tape that is closed during takes and clears stays closed.
func TestTapeCloseRace(t *testing.T) {
	for range rounds(300) {
		tape, err := unimem.Start(page, unimem.OnHeap())
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for {
					_, err := tape.Take(64, 64)
					if err == unimem.ErrClosed {
						return
					}
					tape.Clear()
				}
			})
		}
		require.NoError(t, tape.Close())
		wg.Wait()
		_, err = tape.Take(0, 1)
		require.Equal(t, unimem.ErrClosed, err)
	}
}
