package manual

import (
	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// Command returns the command man.
func Command(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Print the manual page",
		Long: `man prints the manual page of ane-roundtrip, or of one of its commands, in the
format of man(1). The page contains the same text as --help.`,
		Example: `  ane-roundtrip man | man -l -
  ane-roundtrip man run >/usr/local/share/man/man1/ane-roundtrip-run.1`,
		RunE: func(_ *cobra.Command, args []string) error {
			page, err := cli.FindCommand(a.Tree(), args)
			if err != nil {
				return err
			}
			return WriteManual(a.Out, page, cli.Built())
		},
	}
}
