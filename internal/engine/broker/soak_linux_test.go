//go:build !macrules

package broker

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
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
