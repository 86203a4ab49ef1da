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
// process. A command that writes to a pipe whose reader has stopped never returns by itself.
const cleanupTime = 3 * time.Second

// start runs the command line until it returns or is interrupted, and returns the exit code.
func start(args []string, out, errw io.Writer) int {
	ctx, hangups, release := catchHangups(context.Background(), args)
	defer release()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp(args, out, errw)
	a.hangups = hangups
	defer context.AfterFunc(ctx, func() {
		if a.drains.Load() {
			return // it has a deadline of its own
		}
		time.Sleep(cleanupTime)
		os.Exit(a.end(ctx, ctx.Err()))
	})()
	return a.execute(ctx)
}

// catchHangups catches SIGHUP before the command line is read: by default it ends the process. A broker receives it on
// the channel, which is nil for another command: its context ends with SIGHUP, unless the command was started with
// SIGHUP ignored, as by nohup. The caller calls release.
func catchHangups(ctx context.Context, args []string) (_ context.Context, hangups chan os.Signal, release func()) {
	ignored, caught := signal.Ignored(syscall.SIGHUP), make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	release = func() { signal.Stop(caught) }
	if isBroker(args) {
		return ctx, caught, release
	}
	if ignored {
		signal.Ignore(syscall.SIGHUP)
		return ctx, nil, release
	}
	ctx, interrupt := context.WithCancel(ctx)
	go func() {
		select {
		case <-caught:
			interrupt()
		case <-ctx.Done():
		}
	}()
	return ctx, nil, func() {
		signal.Stop(caught)
		interrupt()
	}
}
