package dlpack_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/dlpack"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// memory is a Block of a lifetime: opened, or imported from an export of another.
type memory struct {
	x      *ane.Tensor
	of     *lent // what it was imported from, or nil
	lent   int   // exports that nothing has deleted
	closed bool
}

// lent is an export that its owner has not deleted yet.
type lent struct {
	from      *memory
	versioned *dlpack.ManagedTensorVersioned
	legacy    *dlpack.ManagedTensor
	deletions int
}

func (l *lent) delete() {
	if l.legacy != nil {
		l.legacy.Delete()
	} else {
		l.versioned.Delete()
	}
}

// Any order of exports, imports, deletions and closes: memory closes only without exports, deleters run
// once, and at the end everything is closed.
func FuzzLifetimes(f *testing.F) {
	f.Add([]byte{0, 2, 1, 3, 1})
	f.Add([]byte{0, 2, 4, 1, 10, 5, 1, 13, 1, 9})
	f.Add([]byte{0, 8, 2, 10, 18, 4, 12, 12, 2, 5, 3, 3, 7, 1, 9, 17, 5, 6})
	f.Fuzz(func(t *testing.T, steps []byte) {
		before, blocks := dlpack.Live(), unimem.Live().Blocks
		var all []*memory
		var exports []*lent
		var last *lent // the last deleted export, until another takes its place
		refused := int64(0)

		remove := func(i int) *lent {
			l := exports[i]
			exports = append(exports[:i], exports[i+1:]...)
			return l
		}
		ended := func(l *lent) {
			require.Equal(t, 1, l.deletions)
			l.from.lent--
			last = l
		}
		end := func(m *memory) {
			err := m.x.Block().Close()
			switch {
			case m.closed:
				require.NoError(t, err)
			case m.lent > 0:
				require.ErrorIs(t, err, unimem.ErrInUse)
			default:
				require.NoError(t, err)
				m.closed = true
				if m.of != nil {
					ended(m.of)
				}
			}
		}
		for _, s := range steps[:min(len(steps), 200)] {
			op, i := s%8, int(s/8)
			switch {
			case op == 0 && len(all) < 8:
				l, err := ane.NewLayout("x", mil.FP16, 2, 3)
				require.NoError(t, err)
				b, err := unimem.Open(l.Bytes())
				require.NoError(t, err)
				x, err := ane.OnBlock(b, l)
				require.NoError(t, err)
				all = append(all, &memory{x: x})
			case op == 1 && len(all) > 0:
				end(all[i%len(all)])
			case (op == 2 || op == 6) && len(all) > 0 && len(exports) < 100:
				l := &lent{from: all[i%len(all)]}
				count := dlpack.OnDelete(func() { l.deletions++ })
				var err error
				if op == 2 {
					l.versioned, err = dlpack.Export(l.from.x, count)
				} else {
					l.legacy, err = dlpack.ExportLegacy(l.from.x, count)
				}
				if l.from.closed {
					require.ErrorIs(t, err, ane.ErrStale)
					continue
				}
				require.NoError(t, err)
				l.from.lent++
				exports, last = append(exports, l), nil
			case op == 3 && len(exports) > 0:
				l := remove(i % len(exports))
				l.delete()
				ended(l)
			case (op == 4 || op == 5) && len(exports) > 0:
				l := remove(i % len(exports))
				var x *ane.Tensor
				var err error
				if l.legacy != nil {
					x, err = dlpack.ImportLegacy(l.legacy)
				} else {
					x, err = dlpack.Import(l.versioned)
				}
				require.NoError(t, err)
				require.NoError(t, x.Set(float32(i), 1, 2))
				v, err := l.from.x.At(1, 2)
				require.NoError(t, err)
				require.Equal(t, float32(i), v)
				all = append(all, &memory{x: x, of: l})
			case op == 7 && last != nil:
				last.delete() // again
				refused++
			}
			live := int64(0)
			for _, m := range all {
				live += int64(m.lent)
				if m.closed {
					require.Nil(t, m.x.Bytes())
				}
			}
			require.Equal(t, dlpack.Stats{Exported: before.Exported + live, Refused: before.Refused + refused},
				dlpack.Live())
		}
		for len(exports) > 0 {
			l := remove(0)
			l.delete()
			ended(l)
		}
		for i := len(all) - 1; i >= 0; i-- { // what was imported follows what it was imported from
			end(all[i])
			require.True(t, all[i].closed)
		}
		require.Equal(t, before.Exported, dlpack.Live().Exported)
		require.Equal(t, blocks, unimem.Live().Blocks)
	})
}

// Goroutines export, import and delete at once; every deleter runs once.
func TestConcurrentLifetimes(t *testing.T) {
	before := dlpack.Live()
	x := tensor(t, 3, 5)
	var wait sync.WaitGroup
	for seed := range uint64(8) {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			var mine []*dlpack.ManagedTensorVersioned
			deletions, want := 0, 0
			count := dlpack.OnDelete(func() { deletions++ })
			for range 500 {
				if r.IntN(2) == 0 || len(mine) == 0 {
					m, err := dlpack.Export(x, count)
					if err != nil {
						t.Error(err)
						return
					}
					mine, want = append(mine, m), want+1
					continue
				}
				k := r.IntN(len(mine))
				m := mine[k]
				mine = append(mine[:k], mine[k+1:]...)
				if r.IntN(2) == 0 {
					m.Delete()
					continue
				}
				y, err := dlpack.Import(m)
				if err == nil {
					err = y.Block().Close()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
			for _, m := range mine {
				m.Delete()
			}
			if deletions != want {
				t.Errorf("%d deletions of %d exports", deletions, want)
			}
		})
	}
	wait.Wait()
	require.Equal(t, before, dlpack.Live())
}
