package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/engine/broker/server"
)

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

// hideBroker hides a process that will be a broker before the command line is read, which takes a fifth of a second on
// a busy machine: until then a process of this user may open its memory, and keep it open. It leaves out broker stats,
// whose executable a broker has to read. A broker that it does not recognize hides before it serves; that call also
// reports a failure.
func hideBroker(args []string) {
	if len(args) > 0 && args[0] == "broker" && !slices.Contains(args, "stats") {
		_ = server.Hide()
	}
}
