package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/near"
)

// app is one run of the command.
type app struct {
	out, err io.Writer // data; logs and progress
	json     bool
	engine   string
	apple    bool // --require-ane
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errw io.Writer) int {
	a := &app{out: out, err: errw}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	explain(ctx, errw, err)
	return exitCode(ctx, err)
}

// root builds the command tree. Without a subcommand it is check.
func (a *app) root() *cobra.Command {
	root := a.checkCommand()
	root.Use = "ane-roundtrip"
	root.Short = "Show that tensors reach the Neural Engine and come back without a copy"
	root.Long = `ane-roundtrip runs small programs on the Neural Engine, or on the software
engine where there is none, and measures that the values are right and that
nobody copied them. Without a command it does check.

Exit status: 0 all checks passed, 1 a check failed or the run did not finish,
2 wrong usage or bad input, 3 the demanded engine is not available,
130 interrupted.`
	root.Version = version()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(wrongFlag)
	p := root.PersistentFlags()
	p.BoolVar(&a.json, "json", false, "print one JSON object instead of tables")
	p.StringVar(&a.engine, "engine", engine.Auto, strings.Join(engine.Names(), "|"))
	p.BoolVar(&a.apple, "require-ane", false, "fail with status 3 unless Apple's Neural Engine answers")
	root.AddCommand(a.checkCommand(), a.runCommand(), a.imageCommand(), a.infoCommand(), a.benchCommand(), a.brokerCommand(), a.inspectCommand(), a.formatCommand(), a.manCommand())
	a.completions(root)
	return root
}

// noArgs refuses operands with a hint.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return noSuch(cmd, args[0])
}

// open opens the engine that the flags ask for.
func (a *app) open(wrap func(ane.Engine) ane.Engine) (*ane.Device, error) {
	d, err := engine.Open(context.Background(), a.engine, engine.Wrap(wrap))
	if errors.Is(err, ane.ErrName) {
		return nil, badf("there is no engine %q; %schoose one of %s", a.engine, near.Hint(a.engine, engine.Names()), strings.Join(engine.Names(), ", "))
	}
	if err != nil {
		return nil, err
	}
	if r := d.Receipt(); a.apple && r.Engine != engine.Apple {
		why := r.Fallback
		if why == "" {
			why = "--engine " + a.engine + " is not Apple's"
		}
		return nil, errors.Join(&ane.Error{Op: "open", Engine: engine.Apple, Err: ane.ErrUnavailable, Detail: why,
			Hint: "run without --require-ane to use the software engine"}, d.Close())
	}
	return d, nil
}

// logf writes a line for people, not for machines.
func (a *app) logf(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }
