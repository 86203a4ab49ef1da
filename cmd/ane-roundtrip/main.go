// Command ane-roundtrip shows that tensors reach the Neural Engine and come
// back without a copy.
//
// Without arguments it runs the diagnostic, check. This opens memory, runs a set of small programs on the engine of
// this machine and prints the measured values. Run ane-roundtrip --help for the other commands.
//
// Exit status: 0 all checks passed, 1 a check failed or the run did not finish, 2 wrong usage or bad input. Status 3
// means that the requested engine is not available, 4 that a broker cut calls, 130 an interrupt.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/probe"
	"github.com/anekit/anekit/internal/growthbench"
	"github.com/anekit/anekit/internal/tripbench"
	"github.com/anekit/anekit/internal/weightbench"
)

func main() {
	broker.ServeChild()
	tripbench.ServeSignals()
	growthbench.ServeClient()
	weightbench.ServeChild()
	probe.ServeLookup()
	handOver(os.Args)
	os.Exit(start(os.Args[1:], os.Stdout, os.Stderr))
}

// cleanupTime is how long an interrupted command may take to clean up before start ends the
// process. A command that writes to a pipe whose reader has stopped never returns by itself.
const cleanupTime = 3 * time.Second

// start runs the command line until it returns or is interrupted, and returns the exit code.
func start(args []string, out, errw io.Writer) int {
	ctx, release := catchSignals(context.Background())
	defer release()
	a := cli.New(rootCommand, args, out, errw)
	defer context.AfterFunc(ctx, func() {
		if a.Drains.Load() {
			return // it has a deadline of its own
		}
		time.Sleep(cleanupTime)
		os.Exit(a.End(ctx, ctx.Err()))
	})()
	return a.Execute(ctx)
}

// catchSignals returns a context that an interrupt ends. SIGHUP is one, unless the process was started with SIGHUP
// ignored, as by nohup.
func catchSignals(ctx context.Context) (context.Context, context.CancelFunc) {
	interrupts := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		interrupts = append(interrupts, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, interrupts...)
}
