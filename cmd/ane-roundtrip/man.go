package main

import (
	"github.com/spf13/cobra"
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

// man prints the page of a command.
func (a *app) man(args []string) error {
	root := a.tree()
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
