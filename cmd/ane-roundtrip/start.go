package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted command may take to tidy up. One that waits for a
// pipe without a writer cannot notice the interrupt.
const patience = 3 * time.Second

// start runs the command line until it ends or is interrupted, and returns the exit code.
func start(args []string, out, errw io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp(args, out, errw)
	defer context.AfterFunc(ctx, func() {
		time.Sleep(patience)
		os.Exit(a.end(ctx, ctx.Err()))
	})()
	return a.execute(ctx)
}
