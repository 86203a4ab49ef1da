package main

import "github.com/spf13/cobra"

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		Long:  `help prints the help of a command, as COMMAND --help does.`,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			if len(args) > 0 {
				var err error
				if about, err = findCommand(about, args); err != nil {
					return err
				}
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
