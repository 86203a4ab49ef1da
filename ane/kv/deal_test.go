package kv

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func TestInTurn(t *testing.T) {
	for _, two := range []bool{false, true} {
		var calls [100]atomic.Int32
		inTurn(len(calls), two, func(_, i int) bool {
			calls[i].Add(1)
			return true
		})
		for i := range calls {
			require.EqualValues(t, 1, calls[i].Load())
		}
		var most atomic.Int32
		inTurn(1<<30, two, func(_, i int) bool { return most.Add(1) < 3 })
		require.LessOrEqual(t, most.Load(), int32(4), "each goroutine ends after the call that returned false")
		inTurn(0, two, func(int, int) bool { panic("no i") })
	}
}

// A snapshot long enough for two goroutines, with heads shorter and longer than the stage.
func TestRestoreOfLongFiles(t *testing.T) {
	for name, c := range map[string]struct {
		Config
		tokens int
	}{
		"short heads":   {Config{Layers: 5, Heads: 8, HeadDim: 32, Context: 256}, 250},
		"long heads":    {Config{Layers: 2, Heads: 1, HeadDim: 1024, Context: 256}, 150},
		"longest heads": {Config{Layers: 1, Heads: 1, HeadDim: 2048, Context: 256}, 130},
		"padded heads":  {Config{Layers: 3, Heads: 7, HeadDim: 72, Context: 256}, 250},
		"window":        {Config{Layers: 5, Heads: 8, HeadDim: 32, Window: 250}, 260},
	} {
		t.Run(name, func(t *testing.T) {
			k := made(t, c.Config, unimem.OnHeap())
			add(t, k, c.tokens)
			from, to := k.Position()-k.Len(), k.Position()
			path := filepath.Join(t.TempDir(), "a")
			require.NoError(t, k.SaveFile(path, print1))
			h := k.header(print1)
			require.GreaterOrEqual(t, h.data(), minShared)
			whole, err := os.ReadFile(path)
			require.NoError(t, err)

			r := made(t, c.Config, unimem.OnHeap())
			require.NoError(t, r.RestoreFile(path, print1))
			holds(t, r, from, to)
			r.Clear()
			add(t, r, 3)
			require.NoError(t, r.RestoreFile(path, print1))
			holds(t, r, from, to)

			r.Clear()
			add(t, r, 7)
			empty := made(t, c.Config, unimem.OnHeap())
			before, zeros := image(r), image(empty)
			damaged := func(b []byte, tensor int) {
				require.NoError(t, os.WriteFile(path, b, 0o600))
				for _, x := range []*Cache{r, empty} {
					err := x.RestoreFile(path, print1)
					require.ErrorIs(t, err, ErrCorrupt)
					require.ErrorContains(t, err, tensorName(tensor))
				}
				require.Equal(t, before, image(r))
				require.Equal(t, zeros, image(empty))
			}
			last := 2*h.layers - 1
			at := len(whole) - h.total()
			for _, i := range []int{last, 0} { // the first one is named
				whole[at+i*h.tensor()+h.plane()/2] ^= 1
				damaged(whole, i)
			}
		})
	}
}
