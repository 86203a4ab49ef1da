package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// loading describes how a shell loads its completion script.
type loading struct {
	now    string // the command for the current shell
	always string // what to do for every new shell
}

// loadings are the descriptions by shell, in lines of 80 columns.
var loadings = map[string]loading{
	"bash": {"source <(ane-roundtrip completion bash)",
		`For every new shell, write the script to /etc/bash_completion.d/ane-roundtrip;
on macOS to $(brew --prefix)/etc/bash_completion.d/ane-roundtrip. The script
needs the package bash-completion.`},
	"fish": {"ane-roundtrip completion fish | source",
		`For every new shell, write the script to
~/.config/fish/completions/ane-roundtrip.fish.`},
	"powershell": {"ane-roundtrip completion powershell | Out-String | Invoke-Expression",
		`For every new shell, add that line to your PowerShell profile.`},
	"zsh": {"source <(ane-roundtrip completion zsh)",
		`For every new shell, write the script to "${fpath[1]}/_ane-roundtrip"; on macOS
to $(brew --prefix)/share/zsh/site-functions/_ane-roundtrip. The script needs
compinit: add "autoload -U compinit; compinit" to ~/.zshrc.`},
}

// CompletionCommand adds cobra's command completion with help of 80 columns. Unlike cobra's it fails
// for an unknown shell.
func CompletionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		cmd.Use = "completion SHELL"
		cmd.Short = "Print the completion script of a shell"
		cmd.Long = `completion prints a script with which a shell completes commands, flags, files,
functions, tensors and checks. The help of each shell describes how to load the
script.`
		var shells []string
		for _, shell := range cmd.Commands() {
			name := shell.Name()
			shells = append(shells, name)
			shell.Short = "Print the completion script of " + name
			l := loadings[name]
			shell.Long = fmt.Sprintf("%s prints the completion script of %s.\n\n"+
				"Load it into the current shell with\n\n  %s\n\n%s", name, name, l.now, l.always)
			shell.Args = cli.NoArgs
		}
		cmd.RunE = func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Badf("no shell; choose one of %s", strings.Join(shells, ", "))
			}
			return cli.NoSuch("script for", args[0], shells)
		}
		cmd.Args = cobra.ArbitraryArgs
	}
}
