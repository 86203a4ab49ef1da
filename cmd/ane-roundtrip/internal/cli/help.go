package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/internal/near"
)

// helpFlag makes --help refuse an unknown command before it, for which cobra prints the help of the command above.
// cobra ends with success after --help, so the caller asks the returned function for the error.
func helpFlag(root *cobra.Command) (refused func() error) {
	var err error
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, line []string) {
		if err = unknownCommand(cmd, cmd.Flags().Args()); err == nil {
			usual(cmd, line)
		}
	})
	return func() error { return err }
}

// unknownCommand returns an error if the operands of a command with subcommands begin with no name of one. A command
// that takes other operands too, such as files, refuses those that are near to a name.
func unknownCommand(cmd *cobra.Command, operands []string) error {
	names := CommandNames(cmd)
	if len(operands) == 0 || len(names) == 0 {
		return nil
	}
	if cmd.ValidateArgs(operands[:1]) == nil && near.Word(operands[0], names) == "" {
		return nil
	}
	return UnknownOperand(cmd, operands[0])
}

func (a *App) HelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		Long:  `help prints the help of a command, as COMMAND --help does.`,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return CommandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			if len(args) > 0 {
				var err error
				if about, err = FindCommand(about, args); err != nil {
					return err
				}
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// CommandNames lists the commands of a command that the help shows.
func CommandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// FindCommand returns the command with the name that args are.
func FindCommand(root *cobra.Command, args []string) (*cobra.Command, error) {
	found, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 || found == root {
		name, names := strings.Join(args, " "), CommandNames(root)
		if own := CommandNames(found); len(own) > 0 && len(rest) > 0 {
			return nil, Badf("there is no command %q; %s", name, near.Choices(rest[0], "choose one of", own))
		}
		return nil, Badf("there is no command %q; %s", name, near.Choices(name, "choose one of", names))
	}
	return found, nil
}
