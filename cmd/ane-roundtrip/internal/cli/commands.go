package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anekit/anekit/internal/near"
)

// AddNeeded adds commands to root, by their names, and reports whether it added all. A command that is the first argument
// comes alone, and none beside mere flags of root: the 300 flags of all commands would cost each run 0.6 ms.
func (a *App) AddNeeded(root *cobra.Command, all map[string]func(*App) *cobra.Command) bool {
	if len(a.args) > 0 && all[a.args[0]] != nil {
		root.AddCommand(all[a.args[0]](a))
		root.CompletionOptions.DisableDefaultCmd = true
		return false
	}
	if a.args != nil && !slices.ContainsFunc(a.args, func(arg string) bool {
		return !strings.HasPrefix(arg, "--") || arg == "--" || strings.HasPrefix(arg, "--help")
	}) {
		return false
	}
	for _, command := range all {
		root.AddCommand(command(a))
	}
	return true
}

// HelpCommand returns the command help.
func HelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Print the help of a command",
		Long:              `help prints the help of a command, as COMMAND --help does.`,
		ValidArgsFunction: CompleteCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, err := FindCommand(cmd.Root(), args)
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// CompleteCommand completes names of commands.
func CompleteCommand(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return CommandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
}

// EveryCommand lists a command and all below it.
func EveryCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, below := range cmd.Commands() {
		all = append(all, EveryCommand(below)...)
	}
	return all
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

// FindCommand returns the command with the name that args are; the root for none.
func FindCommand(root *cobra.Command, args []string) (*cobra.Command, error) {
	found, rest, err := root.Find(args)
	if len(args) == 0 || err == nil && len(rest) == 0 && found != root {
		return found, nil
	}
	name, names := strings.Join(args, " "), CommandNames(root)
	wrong := name
	if own := CommandNames(found); len(own) > 0 && len(rest) > 0 {
		wrong, names = rest[0], own
	}
	return nil, Badf("there is no command %q; %s", name, near.Choices(wrong, "choose one of", names))
}

// UnknownOperand rejects an operand of a command that takes none.
func UnknownOperand(cmd *cobra.Command, word string) error {
	names := CommandNames(cmd)
	switch {
	case !cmd.HasParent():
		return Badf("unknown command or operand %q; %ssee %s --help", word, near.Hint(word, names), cmd.Name())
	case len(names) > 0:
		return Badf("%s has no command %q; %ssee %s --help", cmd.Name(), word, near.Hint(word, names), cmd.CommandPath())
	}
	return Badf("%s takes no operand, not %q; see %s --help", cmd.Name(), word, cmd.CommandPath())
}

// unknownCommand returns an error if the operands of a command with subcommands begin with no name of one. A command
// that takes other operands too, such as files, refuses those that are near to a name.
func unknownCommand(cmd *cobra.Command, operands []string) error {
	names := CommandNames(cmd)
	if len(operands) == 0 || len(names) == 0 ||
		cmd.ValidateArgs(operands[:1]) == nil && near.Word(operands[0], names) == "" {
		return nil
	}
	return UnknownOperand(cmd, operands[0])
}

// FlagError adds a hint to an error of cobra about a flag: which commands have the flag, or the flag with the nearest
// name.
func (a *App) FlagError(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	word, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return Badf("%s; see %s --help", text, cmd.CommandPath())
	}
	word, _, _ = strings.Cut(word, "=")
	if before := cmd.Flags().Args(); len(before) > 0 && near.Word(before[0], CommandNames(cmd)) != "" {
		return UnknownOperand(cmd, before[0]) // the flag belongs to the command that was meant
	}
	var others []string // the commands that have the flag, those below other commands with both names: broker stats
	for _, c := range EveryCommand(a.Tree())[1:] {
		if c.IsAvailableCommand() && c.LocalFlags().Lookup(word) != nil {
			others = append(others, strings.TrimPrefix(c.CommandPath(), cmd.Root().Name()+" "))
		}
	}
	if len(others) > 0 {
		return Badf("%s has no flag --%s (a flag of %s); leave it out, or see %s --help", cmd.Name(), word,
			strings.Join(others, ", "), cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := strings.Replace(near.Hint(word, names), "mean ", "mean --", 1)
	return Badf("%s; %ssee %s --help", text, hint, cmd.CommandPath())
}
