// Command testrun runs go test, prints its output, and records which tests ran and which were
// skipped:
//
//	testrun -notes FILE [-busy] go test ARGUMENT..
//	testrun -notes FILE -report
//
// With -busy spinners keep every core busy while the tests run. With -report it prints, on one
// line, the tests that were skipped in all recorded runs, with the reasons.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

func main() {
	notes := flag.String("notes", "", "`file` that records which tests ran and which were skipped")
	busy := flag.Bool("busy", false, "keep every core busy while the tests run")
	report := flag.Bool("report", false, "print the skipped tests")
	flag.Parse()
	var code int
	var err error
	if *report {
		err = printReport(os.Stdout, *notes)
	} else {
		if *busy {
			spin()
		}
		code, err = run(flag.Args(), *notes)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		code = max(code, 1)
	}
	os.Exit(code) // the spinners end with the process
}

// run starts the command and returns its exit status.
func run(args []string, notes string) (code int, err error) {
	i := slices.Index(args, "test")
	if i < 1 {
		return 2, errors.New("no command to run; write testrun -notes FILE go test, and its arguments")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], slices.Insert(slices.Clone(args[1:]), i, "-json")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	log := newLog(os.Stdout)
	read := log.read(out)
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code, err = max(1, exit.ExitCode()), nil
	}
	return code, errors.Join(err, read, log.note(notes))
}
