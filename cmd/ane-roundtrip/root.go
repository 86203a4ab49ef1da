package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/near"
)

// app is one run of the command.
type app struct {
	args     []string
	out, err io.Writer // data; logs and progress
	json     bool
	engine   string
	socket   string // --broker
	apple    bool   // --require-ane
	injected string // the fault that check injects

	result    *report // what --json prints, once the command has it
	concluded atomic.Bool
}

// newApp is a run that is about to start. Whether it prints JSON is known before its
// flags are read, since an error in those is printed so too.
func newApp(args []string, out, errw io.Writer) *app {
	return &app{args: append([]string{}, args...), out: out, err: errw, json: asksForJSON(args)}
}

// asksForJSON looks for --json.
func asksForJSON(args []string) (yes bool) {
	for _, arg := range args {
		switch value, given := strings.CutPrefix(arg, "--json="); {
		case arg == "--":
			return yes
		case arg == "--json":
			yes = true
		case given:
			yes, _ = strconv.ParseBool(value)
		}
	}
	return yes
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errw io.Writer) int {
	return newApp(args, out, errw).execute(ctx)
}

func (a *app) execute(ctx context.Context) int {
	root := a.root()
	root.SetArgs(a.args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	return a.end(ctx, root.ExecuteContext(ctx))
}

// end prints the report of a command and its error, and returns the exit code.
func (a *app) end(ctx context.Context, err error) int {
	err = a.conclude(ctx, err)
	if !a.json || a.out != a.err { // where JSON goes nothing else does
		explain(ctx, a.err, err)
	}
	return exitCode(ctx, err)
}

// command is the name of the command that the arguments choose.
func (a *app) command() string {
	root := (&app{}).root()
	cmd, _, err := root.Find(a.args)
	if err != nil || cmd == root {
		return "check"
	}
	return cmd.Name()
}

// root builds the command tree. Without a subcommand it is check.
func (a *app) root() *cobra.Command {
	root := a.checkCommand()
	root.Use = "ane-roundtrip"
	root.Short = "Show that tensors reach the Neural Engine and come back without a copy"
	root.Long = `ane-roundtrip runs small programs on the Neural Engine, or on the software
engine where there is none, and measures that the values are right and that
nothing copied them. Without a command it does check.

--json prints one object, also on failure; ane-roundtrip schema prints its
JSON Schema. SOURCE_DATE_EPOCH sets the time in it. COLUMNS sets the width of
tables, NO_COLOR turns colour off.

Exit status: 0 all checks passed, 1 a check failed or the run did not finish,
2 wrong usage or bad input, 3 the demanded engine is not available,
130 interrupted.`
	root.Version = version()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(a.checkCommand(), a.runCommand(), a.imageCommand(), a.infoCommand(), a.benchCommand(),
		a.brokerCommand(), a.inspectCommand(), a.formatCommand(), a.manCommand(), a.schemaCommand())
	// Help of 80 columns, whatever reads it.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 80 "))
	a.completions(root)
	return root
}

// reportFlag gives a command --json.
func (a *app) reportFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", a.json, "print one JSON object instead of tables")
	cmd.Flags().Lookup("json").DefValue = "false"
}

// engineFlags gives a command the flags that choose an engine.
func (a *app) engineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.engine, "engine", engine.Auto, strings.Join(engine.Names(), "|"))
	f.StringVar(&a.socket, "broker", "",
		"socket of a shared broker, for --engine broker (default: $"+brokerVariable+", else a private broker)")
	f.BoolVar(&a.apple, "require-ane", false, "fail with status 3 unless Apple's Neural Engine answers")
}

// noArgs refuses operands with a hint.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return noSuch(cmd, args[0])
}

// chosen is the engine that the flags ask for, and how it is opened.
func (a *app) chosen() (name string, opts []engine.Option, err error) {
	name = a.engine
	if a.socket != "" {
		if name != engine.Auto && name != engine.Broker {
			return name, nil, badf("--broker is for --engine %s, not for %s; leave one of them out", engine.Broker,
				name)
		}
		name, opts = engine.Broker, append(opts, engine.BrokerPath(a.socket))
	}
	if a.apple {
		opts = append(opts, engine.RequireApple())
	}
	return name, opts, nil
}

// open opens the engine that the flags ask for.
func (a *app) open(ctx context.Context, wrap func(ane.Engine) ane.Engine) (*ane.Device, error) {
	name, opts, err := a.chosen()
	if err != nil {
		return nil, err
	}
	d, err := engine.Open(ctx, name, append(opts, engine.Wrap(wrap))...)
	var e *ane.Error
	switch {
	case errors.Is(err, ane.ErrName):
		return nil, badf("there is no engine %q; %s", name, near.Choices(name, "choose one of", engine.Names()))
	case a.apple && errors.Is(err, ane.ErrUnavailable) && errors.As(err, &e):
		e.Hint = "leave --require-ane out to use another engine"
		if name != engine.Auto && name != engine.Apple {
			e.Detail = "--engine " + name + " is not Apple's"
		}
	}
	return d, err
}

// logf writes a line for people, not for machines.
func (a *app) logf(format string, args ...any) {
	fmt.Fprintln(a.err, page.Fold(fmt.Sprintf(format, args...), page.Width(a.err), 2))
}

// printf writes lines of the report for people.
func (a *app) printf(format string, args ...any) error {
	_, err := io.WriteString(a.out, page.Fold(fmt.Sprintf(format, args...), page.Width(a.out), 2))
	return err
}
