package manual

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// loading says how each shell loads its completion script, now and always, in lines of 80 columns.
var loading = map[string]string{
	"bash": `  source <(ane-roundtrip completion bash)

For every new shell, write the script to /etc/bash_completion.d/ane-roundtrip;
on macOS to $(brew --prefix)/etc/bash_completion.d/ane-roundtrip. The script
needs the package bash-completion.`,
	"fish": `  ane-roundtrip completion fish | source

For every new shell, write the script to
~/.config/fish/completions/ane-roundtrip.fish.`,
	"powershell": `  ane-roundtrip completion powershell | Out-String | Invoke-Expression

For every new shell, add that line to your PowerShell profile.`,
	"zsh": `  source <(ane-roundtrip completion zsh)

For every new shell, write the script to "${fpath[1]}/_ane-roundtrip"; on macOS
to $(brew --prefix)/share/zsh/site-functions/_ane-roundtrip. The script needs
compinit: add "autoload -U compinit; compinit" to ~/.zshrc.`,
}

// AddCompletion adds cobra's command completion with help of 80 columns. Unlike cobra's it fails for an unknown shell.
func AddCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, _ := root.Find([]string{"completion"})
	cmd.Use = "completion SHELL"
	cmd.Short = "Print the completion script of a shell"
	cmd.Long = `completion prints a script with which a shell completes commands, flags, files,
functions, tensors and checks. The help of each shell describes how to load the
script.`
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		shells := cli.CommandNames(cmd)
		if len(args) == 0 {
			return cli.Badf("no shell; choose one of %s", strings.Join(shells, ", "))
		}
		return cli.NoSuch("script for", args[0], shells)
	}
	for _, shell := range cmd.Commands() {
		name := shell.Name()
		shell.Short = "Print the completion script of " + name
		shell.Long = name + " prints the completion script of " + name +
			".\n\nLoad it into the current shell with\n\n" + loading[name]
		shell.Args = cli.NoArgs
	}
}

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
