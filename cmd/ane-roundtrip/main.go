// Command ane-roundtrip shows that tensors reach the Neural Engine and come
// back without a copy.
//
// With no arguments it is the diagnostic: it opens memory, runs a set of small
// programs on the engine of this machine and prints what it measured. See
// ane-roundtrip --help for the other commands.
//
// Exit status: 0 all checks passed, 1 a check failed or the run did not finish,
// 2 wrong usage or bad input, 3 the demanded engine is not available, 130
// interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted command may take to tidy up. One that
// waits for a pipe nobody writes to cannot notice the interrupt.
const patience = 3 * time.Second

func main() {
	handOver(os.Args)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		time.Sleep(patience)
		explain(ctx, os.Stderr, ctx.Err())
		os.Exit(codeInterrupted)
	})
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
