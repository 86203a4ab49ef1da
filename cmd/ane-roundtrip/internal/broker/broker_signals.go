package broker

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/engine/broker/server"
)

// cutTime is how long a broker may take to end after its calls were cut. A text that is being read has no steps to
// stop between, and a run that does not come back is stuck.
const cutTime = 15 * time.Second

// brokerSignals are the signals to a broker besides the first that ends it, which is its context's.
type brokerSignals struct {
	hurry chan struct{} // closed by the second
	stop  func()
}

// listen listens to signals, until stop. From now on an interrupt ends the process when drain and cutTime are
// over.
func listen(a *cli.App, ctx context.Context, drain time.Duration) *brokerSignals {
	a.Drains.Store(true)
	s := &brokerSignals{hurry: make(chan struct{})}
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	s.stop = func() {
		signal.Stop(ends)
		close(over)
	}
	go func() {
		var late <-chan time.Time // when the broker has cut calls by itself
		interrupted := ctx.Done()
		for n, cut := 0, false; !cut; {
			select {
			case <-over:
				return
			case <-ends:
				if n++; n == 2 {
					close(s.hurry)
					cut = true
				}
			case <-interrupted:
				interrupted, late = nil, time.After(drain)
			case <-late:
				cut = true
			}
		}
		select {
		case <-over:
		case <-time.After(cutTime):
			err := fmt.Errorf("the broker does not end %v after its calls were cut: %w", cutTime, server.ErrCut)
			os.Exit(a.End(ctx, err))
		}
	}()
	return s
}
