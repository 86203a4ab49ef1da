//go:build !macrules

package broker

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// More evaluations at once than the broker queues wait for their turn here.
func TestMoreThanTheQueue(t *testing.T) {
	const goroutines = 300
	r := newRig(t, Options{}, negation())
	var wg sync.WaitGroup
	for range goroutines {
		q, err := r.bind(memory(t, r.in.Layout()), memory(t, r.out.Layout()))
		require.NoError(t, err)
		wg.Go(func() {
			for range 5 {
				if _, err := r.model.Evaluate(context.Background(), q); err != nil {
					t.Error(err)
				}
			}
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Closing Blocks does not wait for a broker that is frozen, however many there are.
func TestBlocksCloseWhileFrozen(t *testing.T) {
	blocks := effort.Rounds(900, 75)
	f := newFake(t)
	r := newRig(t, Options{Path: f.path}, negation())
	var all []*unimem.Block
	for range blocks {
		b, err := unimem.Open(r.out.Layout().Bytes())
		require.NoError(t, err)
		x, err := ane.OnBlock(b, r.out.Layout())
		require.NoError(t, err)
		q, err := r.bind(r.in, x)
		require.NoError(t, err)
		require.NoError(t, q.Close())
		all = append(all, b)
	}
	f.on(wire.KindDrop, freeze)
	require.NoError(t, await.Done(t, func() (err error) {
		for _, b := range all {
			err = errors.Join(err, b.Close())
		}
		return err
	}))
	f.on(0, work)
	close(f.thaw)
	r.negates(t, 1)
	await.Until(t, "the broker hears of each", func() bool { return f.count(wire.KindDrop) == blocks })
}
