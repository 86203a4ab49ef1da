//go:build linux && !macrules

package resources

import (
	"testing"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/stretchr/testify/require"
)

// plain is a program of an engine that never panics.
type plain struct{ ane.Executable }

func (plain) Footprint() (held, loaded, bound int64) { return 0, 0, 0 }
func (plain) Poisoned() bool                         { return false }
func (plain) Stateful() bool                         { return false }

// TestBudgetsOfOthersRefuseNoWaiter: a client that waits for a compile of another one compiles itself when the budget
// of that one did not suffice.
func TestBudgetsOfOthersRefuseNoWaiter(t *testing.T) {
	engine := soft.New()
	d := driver.New(0)
	defer func() {
		require.NoError(t, d.Close(t.Context()))
		require.NoError(t, engine.Close())
	}()
	live := NewResidents(d)
	at := ResidentKey{Identity: alice, Key: Key{1}}
	refuse := make(chan struct{})
	first := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		_, _, err := live.Acquire(t.Context(), at, func(r *Resident) error {
			close(begun)
			<-refuse
			return Exhausted("compile", "", "bytes of memory", 1, "close something")
		})
		first <- err
	}()
	await.Value(t, begun)
	type got struct {
		r      *Resident
		shared bool
		err    error
	}
	second := make(chan got, 1)
	go func() {
		r, shared, err := live.Acquire(t.Context(), at, func(r *Resident) error {
			x, err := engine.Compile(t.Context(), ane.Source{Text: []byte("program(1.3)\n{\n" +
				"func main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = add(x = x, y = x);\n} -> (y);\n}\n")})
			r.Exec = plain{x}
			return err
		})
		second <- got{r, shared, err}
	}()
	await.Until(t, "it waits", func() bool {
		live.mu.Lock()
		defer live.mu.Unlock()
		return live.open[at].users == 2
	})
	close(refuse)
	require.ErrorIs(t, await.Value(t, first), ane.ErrExhausted)
	r := await.Value(t, second)
	require.NoError(t, r.err)
	require.False(t, r.shared)
	require.NoError(t, live.Release(r.r))
}
