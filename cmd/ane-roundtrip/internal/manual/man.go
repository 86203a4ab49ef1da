package manual

import (
	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// Command returns the command manual.
func Command(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Print the manual page",
		Long: `man prints the manual page of ane-roundtrip, or of one of its commands, in the
format of man(1). The page contains the same text as --help.`,
		Example: `  ane-roundtrip man | man -l -
  ane-roundtrip man run >/usr/local/share/man/man1/ane-roundtrip-run.1`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return cli.CommandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return man(a, args) },
	}
}

// man prints the page of a command.
func man(a *cli.App, args []string) error {
	root := a.Tree()
	page := root
	if len(args) > 0 {
		found, err := cli.FindCommand(root, args)
		if err != nil {
			return err
		}
		page = found
	}
	return WriteManual(a.Out, page, cli.Built())
}
