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
	ctx, hangups, release := catchHangups(context.Background(), args)
	defer release()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := cli.New(rootCommand, args, out, errw)
	a.Hangups = hangups
	defer context.AfterFunc(ctx, func() {
		if a.Drains.Load() {
			return // it has a deadline of its own
		}
		time.Sleep(cleanupTime)
		os.Exit(a.End(ctx, ctx.Err()))
	})()
	return a.Execute(ctx)
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

// isBroker reports whether the arguments choose broker itself, not a command below it.
func isBroker(args []string) bool {
	if !slices.Contains(args, "broker") {
		return false
	}
	root := cli.New(rootCommand, nil, nil, nil).Tree()
	cmd, _, err := root.Find(args)
	return err == nil && cmd.CommandPath() == root.Name()+" broker"
}

// hideBroker hides a process that will be a broker before the command line is read, which takes a fifth of a second on
// a busy machine: until then a process of this user may open its memory, and keep it open. It looks at no flags, and
// leaves out broker stats, whose executable a broker has to read. A broker that it does not recognize hides before it
// serves; that call also reports a failure.
func hideBroker(args []string) {
	if len(args) > 0 && args[0] == "broker" && !slices.Contains(args, "stats") {
		_ = server.Hide()
	}
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errw io.Writer) int {
	return cli.New(rootCommand, args, out, errw).Execute(ctx)
}
