package unimem_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func TestGenerationChangesWithClear(t *testing.T) {
	tape, err := unimem.Start(4096)
	require.NoError(t, err)
	require.Zero(t, tape.Generation())
	_, err = tape.Take(10, 1)
	require.NoError(t, err)
	require.Zero(t, tape.Generation())
	for range 3 {
		before := tape.Generation()
		tape.Clear()
		require.Greater(t, tape.Generation(), before)
	}
	require.NoError(t, tape.Close())
	require.Zero(t, (*unimem.Tape)(nil).Generation())
}

// Spans taken during a Clear that belong to the generation after it do not overlap.
func TestGenerationsKeepSpansApart(t *testing.T) {
	tape, err := unimem.Start(1<<14, unimem.OnHeap())
	require.NoError(t, err)
	defer tape.Close()
	type taken struct {
		offset     int
		generation uint64
	}
	for range 200 {
		var all [4][]taken
		var wg sync.WaitGroup
		for g := range all {
			wg.Go(func() {
				for range 20 {
					generation := tape.Generation()
					span, err := tape.Take(64, 64)
					if err != nil {
						continue
					}
					_, at, err := tape.Place(span)
					if err != nil {
						t.Error(err)
						return
					}
					all[g] = append(all[g], taken{at, generation})
				}
			})
		}
		wg.Go(tape.Clear)
		wg.Go(tape.Clear)
		wg.Wait()
		seen := map[taken]bool{}
		for _, list := range all {
			for _, one := range list {
				if one.generation == tape.Generation() {
					require.False(t, seen[one], "%+v twice", one)
					seen[one] = true
				}
			}
		}
	}
}
