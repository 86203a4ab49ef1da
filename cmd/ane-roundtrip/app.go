package main

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/internal/engine/broker/server"
)

// app holds the arguments, writers and common flags of one run of the command.
type app struct {
	args     []string
	out, err io.Writer // out: reports and data; err: logs, notes and progress
	json     bool
	engine   string
	socket   string // --broker
	apple    bool   // --require-ane
	mode     string // --numerics; empty for a command without the flag
	emulated string // --emulate; empty for none
	injected string // name of the fault that check injects; empty for none

	saved     reportFile // of --report
	result    *report    // the report that --json prints; nil until the command sets it
	concluded atomic.Bool
	programs  map[string][]byte         // texts of the programs that the command read, by the name in messages
	hangups   chan os.Signal            // SIGHUP, for a broker
	build     func(*app) *cobra.Command // the command tree
	drains    atomic.Bool               // an interrupt does not end the command within cleanupTime
}

// newApp returns an app for the arguments. It looks for --json before cobra reads the flags,
// because a flag error has to be printed as JSON too.
func newApp(build func(*app) *cobra.Command, args []string, out, errw io.Writer) *app {
	return &app{build: build, args: append([]string{}, args...), out: out, err: errw, json: asksForJSON(args)}
}

// tree returns the command tree of another run, to look at.
func (a *app) tree() *cobra.Command { return a.build(&app{build: a.build}) }

// asksForJSON reports whether the arguments contain --json.
func asksForJSON(args []string) (yes bool) {
	for _, arg := range args {
		switch value, given := strings.CutPrefix(arg, "--json="); {
		case arg == "--":
			return yes
		case arg == "--json":
			yes = true
		case given:
			var err error
			yes, err = strconv.ParseBool(value)
			yes = yes || err != nil // the error of the flag is printed as JSON too
		}
	}
	return yes
}

func (a *app) execute(ctx context.Context) int {
	root := a.build(a)
	refused := helpFlag(root)
	root.SetArgs(a.args)
	printed := &checkedWriter{Writer: a.out}
	root.SetOut(printed)
	root.SetErr(a.err)
	err := unprinted(root.ExecuteContext(ctx))
	if err == nil {
		err = refused()
	}
	if err == nil {
		err = unwritten(stdio, printed.err)
	}
	a.json = a.json || err != nil && asksForJSON(a.args) // pflag sets a bad value to false
	return a.end(ctx, err)
}

// logTime is how long a broker that ends waits for the reader of its log.
const logTime = time.Second

// end prints the report of a command and its error, and returns the exit code.
func (a *app) end(ctx context.Context, err error) int {
	err = a.conclude(ctx, err)
	if !a.json || a.out != a.err { // the stream with the JSON object holds nothing else
		explain(ctx, a.err, err, a.programs)
	}
	if log, ok := a.err.(*server.LogWriter); ok {
		log.Close(logTime)
	}
	return exitCode(ctx, err)
}

// command returns the name of the subcommand that the arguments choose.
func (a *app) command() string {
	root := a.tree()
	root.InitDefaultHelpCmd() // as ExecuteContext does
	cmd, _, err := root.Find(a.args)
	if err != nil || cmd == root {
		return "check"
	}
	for cmd.Parent() != root {
		cmd = cmd.Parent() // completion, not bash
	}
	return cmd.Name()
}
