package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/near"
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
	programs  map[string][]byte // texts of the programs that the command read, by the name in messages
	hangups   chan os.Signal    // SIGHUP, for a broker
	drains    atomic.Bool       // an interrupt does not end the command within cleanupTime
}

// newApp returns an app for the arguments. It looks for --json before cobra reads the flags,
// because a flag error has to be printed as JSON too.
func newApp(args []string, out, errw io.Writer) *app {
	return &app{args: append([]string{}, args...), out: out, err: errw, json: asksForJSON(args)}
}

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

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errw io.Writer) int {
	return newApp(args, out, errw).execute(ctx)
}

func (a *app) execute(ctx context.Context) int {
	root := a.root()
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
	root := (&app{}).root()
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

// root builds the command tree. Without a subcommand the root runs check.
func (a *app) root() *cobra.Command {
	root := a.checkCommand()
	root.Use = "ane-roundtrip"
	root.Short = "Show that tensors reach the Neural Engine and come back without a copy"
	root.Long = `ane-roundtrip runs small programs on the Neural Engine, or on the software
engine where there is none. It checks that the values are correct and that no
tensor was copied. Without a command it runs check, with the flags of check,
such as --require-ane. --version prints version, commit and compiler.

--json prints one object, also on failure. SOURCE_DATE_EPOCH sets the time in
it, COLUMNS the width of tables, and NO_COLOR turns color off.

Exit status: 0 all checks passed, 1 a check failed or the run did not finish,
2 wrong usage or bad input, 3 the requested engine is not available, 4 a broker
cut calls, 130 interrupted by SIGINT, SIGTERM or SIGHUP.`
	root.Version = versionText()
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print version, module version, commit and compiler"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.checkCommand(), a.runCommand(), a.imageCommand(), a.infoCommand(), a.benchCommand(),
		a.brokerCommand(), a.generateCommand(), a.actorCommand(),
		a.inspectCommand(), a.lintCommand(), a.costCommand(), a.formatCommand(),
		a.weightsCommand(), a.probeCommand(), a.manCommand(), a.schemaCommand())
	// Help has 80 columns, on a terminal and in a file. The flags of check are those of its own help.
	root.SetUsageTemplate(strings.NewReplacer("Flags.FlagUsages ", "Flags.FlagUsagesWrapped 80 ",
		"{{if .HasAvailableLocalFlags}}", "{{if and .HasParent .HasAvailableLocalFlags}}",
		" for more information about a command.", " for the help of a command.").Replace(root.UsageTemplate()))
	root.SetHelpCommand(a.helpCommand())
	a.completions(root)
	for _, cmd := range everyCommand(root) {
		giveOnce(cmd)
		if cmd.Name() != "run" && cmd.Flags().Lookup(repeatFlag) != nil { // run never had another name for it
			takeFormerNames(cmd)
		}
	}
	return root
}

// everyCommand lists a command and all below it.
func everyCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, below := range cmd.Commands() {
		all = append(all, everyCommand(below)...)
	}
	return all
}

// reportFlag adds --json to a command.
func (a *app) reportFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", a.json, "print one JSON object instead of tables")
	cmd.Flags().Lookup("json").DefValue = "false"
}

// engineFlags adds the flags that choose an engine to a command.
func (a *app) engineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.engine, "engine", engine.Auto, "engine `NAME`: "+strings.Join(engine.Names(), ", "))
	f.StringVar(&a.socket, "broker", "", "`SOCKET` of a shared broker (default $"+brokerVariable+")")
	f.BoolVar(&a.apple, "require-ane", false, "exit with status 3 unless on Apple's engine")
}

// numericsFlag adds the flag that chooses the arithmetic to a command that has engineFlags.
func (a *app) numericsFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.mode, "numerics", numerics.Reference.String(),
		"arithmetic `MODE`: "+strings.Join(numerics.Names(), ", "))
}

// emulateFlag adds the flag that emulates what a chip refuses to a command that has engineFlags.
func (a *app) emulateFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.emulated, "emulate", "",
		"imitate the refusals of a `CHIP`: m1 to m6")
}

// noArgs rejects operands with a hint.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownOperand(cmd, args[0])
}

// chosen returns the name of the engine that the flags select, and the options to open it with.
func (a *app) chosen() (name string, opts []engine.Option, err error) {
	name = a.engine
	if !slices.Contains(engine.Names(), name) {
		return name, nil, badf("there is no engine %q; %s", name, near.Choices(name, "choose one of", engine.Names()))
	}
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
	mode, err := a.numerics(name)
	if err != nil {
		return name, nil, err
	}
	c, err := a.emulates(name)
	return name, append(opts, engine.Numerics(mode), engine.Emulate(c)), err
}

// emulates returns the chip that --emulate names, for the engine called name; 0 without the flag.
func (a *app) emulates(name string) (chip.Chip, error) {
	if a.emulated == "" {
		return 0, nil
	}
	c, err := chip.Parse(a.emulated)
	switch {
	case err != nil:
		return 0, bad(err)
	case a.apple || name == engine.Apple:
		return 0, badf("--emulate %s: Apple's engine refuses what its own chip does; use --engine %s", c, engine.Soft)
	case name == engine.StandIn:
		return 0, badf("--emulate %s: the stand-in emulates no chip; use --engine %s", c, engine.Soft)
	}
	return c, nil
}

// numerics returns the mode that --numerics names, for the engine called name.
func (a *app) numerics(name string) (numerics.Mode, error) {
	if a.mode == "" {
		return numerics.Reference, nil
	}
	m, err := numerics.Parse(a.mode)
	switch {
	case err != nil:
		return m, badf("there is no numerics mode %q; %s", a.mode,
			near.Choices(a.mode, "choose one of", numerics.Names()))
	case m == numerics.Reference:
	case a.apple || name == engine.Apple:
		return m, badf("--numerics %s: Apple's engine computes as its own chip does; use --engine %s", m, engine.Soft)
	case name == engine.StandIn:
		return m, badf("--numerics %s: the stand-in has no arithmetic to choose; use --engine %s", m, engine.Soft)
	}
	return m, nil
}

// open opens the engine that the flags select.
func (a *app) open(ctx context.Context, wrap func(ane.Engine) ane.Engine) (*ane.Device, error) {
	name, opts, err := a.chosen()
	if err != nil {
		return nil, err
	}
	d, err := engine.Open(ctx, name, append(opts, engine.Wrap(wrap))...)
	var e *ane.Error
	switch {
	case errors.Is(err, ane.ErrUnavailable) && errors.As(err, &e) && e.Engine == engine.Broker && !a.apple:
		idle := "leave --broker out"
		if a.socket == "" {
			idle = "unset " + brokerVariable
		}
		e.Hint = strings.Replace(e.Hint, "leave the path out", idle, 1)
	case a.apple && errors.Is(err, ane.ErrUnavailable) && errors.As(err, &e):
		e.Hint = "leave --require-ane out to use another engine"
		if name != engine.Auto && name != engine.Apple {
			e.Detail = "--engine " + name + " is not Apple's"
		}
	}
	return d, err
}

// logf prints a line to standard error for the reader, with control characters escaped; scripts do not
// parse it.
func (a *app) logf(format string, args ...any) {
	fmt.Fprintln(a.err, page.Fold(visible(fmt.Sprintf(format, args...)), page.Width(a.err), 2))
}

// printf prints lines of the readable report to standard output.
func (a *app) printf(format string, args ...any) error {
	_, err := io.WriteString(a.out, page.Fold(fmt.Sprintf(format, args...), page.Width(a.out), 2))
	return err
}
