package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/internal/near"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Print the manual page",
		Long: `man prints the manual page of ane-roundtrip, or of one of its commands, in the
format of man(1). The page contains the same text as --help.`,
		Example: `  ane-roundtrip man | man -l -
  ane-roundtrip man run >/usr/local/share/man/man1/ane-roundtrip-run.1`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.man(args) },
	}
}

// commandNames lists the commands of a command that the help shows.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// findCommand returns the command with the name that args are.
func findCommand(root *cobra.Command, args []string) (*cobra.Command, error) {
	found, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 || found == root {
		name, names := strings.Join(args, " "), commandNames(root)
		if own := commandNames(found); len(own) > 0 && len(rest) > 0 {
			return nil, badf("there is no command %q; %s", name, near.Choices(rest[0], "choose one of", own))
		}
		return nil, badf("there is no command %q; %s", name, near.Choices(name, "choose one of", names))
	}
	return found, nil
}

// man prints the page of a command.
func (a *app) man(args []string) error {
	root := (&app{}).root()
	page := root
	if len(args) > 0 {
		found, err := findCommand(root, args)
		if err != nil {
			return err
		}
		page = found
	}
	return writeManual(a.out, page, built())
}
