package apple_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEvaluateAllocatesNothing: a warm evaluation allocates nothing, with and
// without a context that can end.
func TestEvaluateAllocatesNothing(t *testing.T) {
	r := newRig(t, open(t), 1)
	cancellable, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), cancellable} {
		var err error
		n := testing.AllocsPerRun(1000, func() {
			if _, e := r.model.Evaluate(ctx, r.request); e != nil {
				err = e
			}
		})
		require.NoError(t, err)
		require.Zero(t, n)
	}
}
