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

// watchSignals returns a channel that the second signal to end closes; the first ends ctx. From now on the process ends
// when drain and cutTime have passed since, unless stop was called.
func watchSignals(a *cli.App, ctx context.Context, drain time.Duration) (hurry chan struct{}, stop func()) {
	a.Drains.Store(true)
	hurry = make(chan struct{})
	ends, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(ends)
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		late := time.After(drain) // when the broker has cut calls by itself
		for n := 1; n <= 2; n++ {
			select {
			case <-over:
				return
			case <-ends:
				if n == 2 {
					close(hurry)
				}
			case <-late:
				n = 2
			}
		}
		select {
		case <-over:
		case <-time.After(cutTime):
			err := fmt.Errorf("the broker does not end %v after its calls were cut: %w", cutTime, server.ErrCut)
			os.Exit(a.End(ctx, err))
		}
	}()
	return hurry, func() { close(over) }
}
