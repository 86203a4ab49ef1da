package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// cleanupTime is how long an interrupted command may take to clean up before start ends the
// process. A command that reads a pipe without a writer never returns by itself.
const cleanupTime = 3 * time.Second

// start runs the command line until it returns or is interrupted, and returns the exit code.
func start(args []string, out, errw io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp(args, out, errw)
	defer context.AfterFunc(ctx, func() {
		if a.drains.Load() {
			return // it has a deadline of its own
		}
		time.Sleep(cleanupTime)
		os.Exit(a.end(ctx, ctx.Err()))
	})()
	return a.execute(ctx)
}
