package cli

import (
	"bufio"
	"context"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/host"
)

// App holds the arguments, writers and common flags of one run of the command, and what it has read, made and written.
type App struct {
	Out, Err io.Writer                 // Out: reports and data; Err: logs, notes and progress
	args     []string                  // nil for a tree to look at
	build    func(*App) *cobra.Command // the command tree

	JSON         bool       // the arguments contain --json
	ReportFile   ReportFile // of --report
	Engine       string     // --engine
	Socket       string     // --broker
	RequireApple bool       // --require-ane
	Mode         string     // --numerics; empty for a command without the flag
	emulated     string     // --emulate; empty for none
	Part         string     // --part; empty for none
	Pipelines    bool       // the command runs whole pipelines
	shapes       []string   // of --shape, INPUT=LENGTHS
	Injected     string     // name of the fault that check injects; empty for none

	result    *Report // the report that --json prints; nil until the command sets it
	concluded atomic.Bool

	// No output replaces an input. Files are compared by identity, never by name.
	sources  []source          // what the command reads
	programs map[string][]byte // texts of programs, by the name in messages
	stdin    string            // the flag that reads standard input, or empty
	stdout   string            // the flag that writes to standard output, or empty
	data     io.Writer         // standard output, if stdout is not empty

	Drains atomic.Bool // an interrupt does not end the command within the usual time
}

// New returns an app for the arguments. It looks for --json by itself, because a flag error has to be printed as JSON
// too.
func New(build func(*App) *cobra.Command, args []string, out, errw io.Writer) *App {
	return &App{build: build, args: append([]string{}, args...), Out: out, Err: errw, JSON: asksForJSON(args)}
}

// Tree returns the command tree of another run, to look at.
func (a *App) Tree() *cobra.Command { return a.build(&App{build: a.build}) }

// asksForJSON reports whether the arguments contain --json, also with a wrong value.
func asksForJSON(args []string) (yes bool) {
	for _, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if arg == "--" {
			break
		}
		if name == "--json" {
			set, err := strconv.ParseBool(value)
			yes = !given || set || err != nil
		}
	}
	return yes
}

// Execute runs the command and returns the exit code.
func (a *App) Execute(ctx context.Context) int {
	root := a.build(a)
	var unknown error // --help refuses an unknown command before it, for which cobra prints the help of the command above
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, line []string) {
		if unknown = unknownCommand(cmd, cmd.Flags().Args()); unknown == nil {
			help(cmd, line)
		}
	})
	root.SetArgs(a.args)
	printed := bufio.NewWriter(a.Out) // cobra ignores errors, which Flush returns
	root.SetOut(printed)
	root.SetErr(a.Err)
	err := printError(root.ExecuteContext(ctx))
	if err == nil {
		err = unknown
	}
	if unprinted := WriteError(Stdio, printed.Flush()); err == nil {
		err = unprinted
	}
	return a.End(ctx, err)
}

// logTime is how long a broker that ends waits for the reader of its log.
const logTime = time.Second

// End prints the report of a command and its error, and returns the exit code.
func (a *App) End(ctx context.Context, err error) int {
	err = a.Conclude(ctx, err)
	if !a.JSON || a.Out != a.Err { // the stream with the JSON object holds nothing else
		a.explain(ctx, err)
	}
	if log, ok := a.Err.(*server.LogWriter); ok {
		log.Close(logTime)
	}
	return ExitCode(ctx, err)
}

// command returns the name of the subcommand that the arguments choose.
func (a *App) command() string {
	root := a.Tree()
	root.InitDefaultHelpCmd() // as ExecuteContext does
	cmd, _, err := root.Find(a.args)
	if path := strings.Fields(cmd.CommandPath()); err == nil && len(path) > 1 {
		return path[1] // completion, not bash
	}
	return "check"
}

// Version is the module version that the linker recorded, or "devel".
func Version() string {
	if v := recorded().Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "devel"
}

// VersionText is what --version prints after the name of the command.
func VersionText() string { return Version() + "\n" + provenance(recorded()) }

// Built returns the time of the commit that the binary was built from; the time of a report if the binary does not
// record it.
func Built() time.Time {
	if t, err := time.Parse(time.RFC3339, setting(recorded(), "vcs.time")); err == nil {
		return t
	}
	return clock()
}

// recorded is what the linker recorded; empty if that is nothing.
func recorded() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// provenance returns the lines on module, commit and compiler. The Go command records the commit of a checkout unless
// it runs or tests the program at once; a version between tags names it too.
func provenance(info *debug.BuildInfo) string {
	module, commit := "unknown", setting(info, "vcs.revision")
	if info.Main.Path != "" {
		module = info.Main.Path + " " + info.Main.Version
	}
	if commit == "" {
		commit = "unknown"
		if m := regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})`).FindStringSubmatch(info.Main.Version); m != nil {
			commit = m[1]
		}
	}
	if setting(info, "vcs.modified") == "true" {
		commit += ", with changes"
	}
	return "module " + module + "\ncommit " + commit + "\nbuilt with " + runtime.Version() + " for " + host.Platform
}

// setting returns a recorded setting of the build; empty without it.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
