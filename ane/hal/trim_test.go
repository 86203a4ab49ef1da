package hal_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
)

// lingering is an engine whose first Unload takes until end is closed, and whose programs have a remark.
type lingering struct {
	ane.Engine
	unloads    atomic.Int64
	begun, end chan struct{}
}

func (l *lingering) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := l.Engine.Compile(ctx, src)
	return &lingers{x, l}, err
}

type lingers struct {
	ane.Executable
	engine *lingering
}

func (x *lingers) Notes() []string { return []string{"remark"} }

func (x *lingers) Unload(ctx context.Context) error {
	if x.engine.unloads.Add(1) == 1 {
		close(x.engine.begun)
		<-x.engine.end
	}
	return x.Executable.Unload(ctx)
}

// While a program beyond CacheLimit is being closed, the end of another Executable closes no further one.
func TestLimitCountsNoProgramThatIsBeingClosed(t *testing.T) {
	l := &lingering{begun: make(chan struct{}), end: make(chan struct{})}
	e, err := engine.Open(t.Context(), engine.Soft, engine.Wrap(func(e ane.Engine) ane.Engine {
		l.Engine = e
		return l
	}))
	require.NoError(t, err)
	d := deviceOn(t, e, hal.CacheLimit(2))
	first, second, third := prepare(t, d, scaleText(1)), prepare(t, d, scaleText(2)), prepare(t, d, scaleText(3))
	closed := make(chan error)
	go func() { closed <- first.Close(context.Background()) }()
	<-l.begun
	require.NoError(t, second.Close(t.Context()))
	unloads := l.unloads.Load()
	close(l.end)
	require.NoError(t, <-closed)
	require.EqualValues(t, 1, unloads, "2 programs are left")
	require.True(t, prepare(t, d, scaleText(2)).Receipt().Cached)

	notes := third.Receipt().Notes
	require.Equal(t, []string{"remark"}, notes)
	notes[0] = "changed"
	require.Equal(t, []string{"remark"}, third.Receipt().Notes, "the caller has notes of its own")
}
