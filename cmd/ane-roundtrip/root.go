package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// root builds the command tree. Without a subcommand the root runs check.
func rootCommand(a *app) *cobra.Command {
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
