package main

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/bench"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/broker"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cost"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/format"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/generate"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/image"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/info"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/inspect"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/lint"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/manual"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/probe"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/run"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/weights"
)

// root builds the command tree. Without a subcommand the root runs check.
func rootCommand(a *cli.App) *cobra.Command {
	root := check.Command(a)
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
	root.Version = cli.VersionText()
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print version, module version, commit and compiler"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(a.FlagError)
	whole := a.AddNeeded(root, map[string]func(*cli.App) *cobra.Command{
		"check": check.Command, "run": run.Command, "image": image.Command, "info": info.Command, "bench": bench.Command,
		"broker": broker.Command, "generate": generate.Command, "actor": generate.ActorCommand,
		"inspect": inspect.Command, "lint": lint.Command, "cost": cost.Command, "fmt": format.Command,
		"weights": weights.Command, "probe": probe.Command, "man": manual.Command, "schema": schemaCommand,
	})
	// Help has 80 columns, on a terminal and in a file. The flags of check are those of its own help.
	usage := root.UsageTemplate()
	for _, change := range [][2]string{ // without a Replacer, which takes 0.5 ms
		{"Flags.FlagUsages ", "Flags.FlagUsagesWrapped 80 "},
		{"{{if .HasAvailableLocalFlags}}", "{{if and .HasParent .HasAvailableLocalFlags}}"},
		{" for more information about a command.", " for the help of a command."},
	} {
		usage = strings.ReplaceAll(usage, change[0], change[1])
	}
	root.SetUsageTemplate(usage)
	root.SetHelpCommand(cli.HelpCommand())
	if whole {
		completions(root)
		manual.AddCompletion(root)
	}
	for _, cmd := range cli.EveryCommand(root) {
		cli.RejectRepeatedFlags(cmd)
		if cmd.Name() != "run" && cmd.Flags().Lookup(cli.RepeatFlag) != nil { // run never had another name for it
			cli.AcceptOldNames(cmd, cli.RepeatFlag, "iterations", "rounds")
		}
	}
	return root
}

// schemaText is the JSON Schema of what --json prints.
//
//go:embed ane-roundtrip-1.schema.json
var schemaText []byte

func schemaCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of what --json prints",
		Long: `schema prints the JSON Schema (draft 2020-12) of ` + cli.Schema + `, the
object that --json prints. A new field keeps the number in the name; removing
a field or changing its meaning raises it.`,
		Example: `  ane-roundtrip schema >ane-roundtrip-1.schema.json`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Out.Write(schemaText)
			return err
		},
	}
}
