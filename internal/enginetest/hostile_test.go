package enginetest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/enginetest"
	"github.com/anekit/anekit/unimem"
)

// hostile replaces parts of the soft engine.
type hostile struct {
	ane.Engine
	compile func(context.Context, ane.Source) (ane.Executable, error)
	close   func() error
}

func (h *hostile) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	if h.compile != nil {
		return h.compile(ctx, src)
	}
	return h.Engine.Compile(ctx, src)
}

func (h *hostile) Close() error {
	return errors.Join(h.Engine.Close(), h.close())
}

// only runs one check and returns the texts of its failures.
func only(t *testing.T, check string, open func() ane.Engine, opts ...enginetest.Option) []string {
	t.Helper()
	var texts []string
	for _, f := range enginetest.Check(t.Context(), open, append(opts, enginetest.Only(check))...) {
		require.Equal(t, check, f.Check)
		texts = append(texts, f.Text)
	}
	return texts
}

func fine() error { return nil }

func TestPanicIsAFailure(t *testing.T) {
	texts := only(t, "layouts", func() ane.Engine {
		return &hostile{Engine: newSoft(), close: fine,
			compile: func(context.Context, ane.Source) (ane.Executable, error) { panic("no such luck") }}
	})
	require.NotEmpty(t, texts)
	require.Contains(t, texts[0], "panic: no such luck")
}

func TestHangIsAFailure(t *testing.T) {
	for limit := 20 * time.Millisecond; ; limit *= 2 { // on a busy machine the check needs some time to reach the call
		release, ended := make(chan struct{}), make(chan struct{})
		var opened, hung atomic.Bool
		texts := only(t, "layouts", func() ane.Engine {
			opened.Store(true)
			return &hostile{Engine: newSoft(), close: func() error { close(ended); return nil },
				compile: func(context.Context, ane.Source) (ane.Executable, error) {
					hung.Store(true)
					<-release
					return nil, errors.New("released")
				}}
		}, enginetest.Limit(limit))
		close(release)
		if opened.Load() {
			<-ended
		}
		if hung.Load() {
			require.Len(t, texts, 1)
			require.Contains(t, texts[0], "did not return")
			return
		}
	}
}

func TestErrorOfCloseIsAFailure(t *testing.T) {
	texts := only(t, "layouts", func() ane.Engine {
		return &hostile{Engine: newSoft(), close: func() error { return errors.New("cannot close") }}
	})
	require.Equal(t, []string{"closing: cannot close"}, texts)
}

func TestNilEngineIsAFailure(t *testing.T) {
	require.Contains(t, only(t, "reuse", func() ane.Engine { return nil })[0], "nil engine")
}

func TestGoroutineLeakIsAFailure(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	texts := only(t, "leaks", func() ane.Engine {
		return &hostile{Engine: newSoft(), close: func() error { go func() { <-stop }(); return nil }}
	}, enginetest.Settle(time.Second))
	require.Equal(t, []string{"1 goroutines are still running"}, texts)
}

func TestBlockLeakIsAFailure(t *testing.T) {
	var leaked *unimem.Block
	texts := only(t, "leaks", func() ane.Engine {
		return &hostile{Engine: newSoft(), close: func() (err error) {
			leaked, err = unimem.Open(1)
			return err
		}}
	})
	require.Equal(t, []string{"1 Blocks and 0 mappings are still open"}, texts)
	require.NoError(t, leaked.Close())
}

// Memory allocated while the program is compiled counts as a copy, too.
func TestEarlyCopyIsFound(t *testing.T) {
	for _, check := range runnable([]string{"copies-blocks", "copies-memory"}) {
		var taken *unimem.Block
		texts := only(t, check, func() ane.Engine {
			e := newSoft()
			return &hostile{Engine: e, close: func() error { return taken.Close() },
				compile: func(ctx context.Context, src ane.Source) (x ane.Executable, err error) {
					if taken, err = unimem.Open(16<<20, unimem.Warm()); err != nil {
						return nil, err
					}
					return e.Compile(ctx, src)
				}}
		})
		require.Len(t, texts, 1)
		require.Contains(t, texts[0], "grew by")
	}
}

func TestNames(t *testing.T) {
	require.NotEmpty(t, only(t, "info", newSoft, enginetest.Named("apple")))
	require.Empty(t, only(t, "info", newSoft, enginetest.Named("soft")))
}

func TestOptions(t *testing.T) {
	require.Equal(t, []enginetest.Failure{{Check: "nothing", Text: "no such check"}},
		enginetest.Check(t.Context(), newSoft, enginetest.Only("nothing")))
	require.Equal(t, "nothing: no such check", enginetest.Check(t.Context(), newSoft, enginetest.Only("info"),
		enginetest.Without("why", "nothing"))[0].String())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, "not run: context canceled", enginetest.Check(over, newSoft)[0].Text)
}
