package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/near"
)

// UnknownOperand rejects an operand of a command that takes none.
func UnknownOperand(cmd *cobra.Command, word string) error {
	if names := CommandNames(cmd); cmd.HasParent() && len(names) > 0 {
		return Badf("%s has no command %q; %ssee %s --help", cmd.Name(), word, near.Hint(word, names),
			cmd.CommandPath())
	}
	if cmd.HasParent() {
		return Badf("%s takes no operand, not %q; see %s --help", cmd.Name(), word, cmd.CommandPath())
	}
	return Badf("unknown command or operand %q; %ssee ane-roundtrip --help", word,
		near.Hint(word, CommandNames(cmd.Root())))
}

// OpenEngineOrHint opens the engine that the flags select. If it is not available, the error names the
// software engine as an alternative, unless --broker rules it out.
func (a *App) OpenEngineOrHint(ctx context.Context) (*ane.Device, error) {
	d, err := a.OpenEngine(ctx, nil)
	if errors.Is(err, ane.ErrUnavailable) && !a.RequireApple && a.Engine != engine.Soft && a.Socket == "" {
		return nil, &alternative{err, "give --engine " + engine.Soft + " to compute it in software"}
	}
	return d, err
}

// alternative is an error with one more hint.
type alternative struct {
	err  error
	hint string
}

func (e *alternative) Error() string { return e.err.Error() + "; " + e.hint }
func (e *alternative) Unwrap() error { return e.err }

// NoSuch is the error for a name that is none of the choices.
func NoSuch(kind, name string, choices []string) error {
	return Badf("there is no %s %q; %s", kind, name, near.Choices(name, "choose one of", choices))
}

// FlagError adds a hint to an error of cobra about a flag: which commands have the flag, or the
// flag with the nearest name.
func FlagError(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	help := "ane-roundtrip --help"
	if cmd.HasParent() {
		help = cmd.CommandPath() + " --help"
	}
	word, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return Badf("%s; see %s", text, help)
	}
	word, _, _ = strings.Cut(word, "=")
	if before := cmd.Flags().Args(); len(before) > 0 && near.Word(before[0], CommandNames(cmd)) != "" {
		return UnknownOperand(cmd, before[0]) // the flag belongs to the command that was meant
	}
	if others := commandsWith(cmd.Root(), word); len(others) > 0 {
		return Badf("%s has no flag --%s (a flag of %s); leave it out, or see %s", cmd.Name(), word,
			strings.Join(others, ", "), help)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := ""
	if w := near.Word(word, names); w != "" {
		hint = "did you mean --" + w + "? "
	}
	return Badf("%s; %ssee %s", text, hint, help)
}

// commandsWith lists the commands that have the flag, those below other commands with both names: broker stats.
func commandsWith(root *cobra.Command, flag string) (names []string) {
	for _, c := range EveryCommand(root) {
		if c != root && c.IsAvailableCommand() && c.LocalFlags().Lookup(flag) != nil {
			names = append(names, strings.TrimPrefix(c.CommandPath(), root.Name()+" "))
		}
	}
	return names
}

// Conflict rejects a flag that has no effect beside another one.
func Conflict(cmd *cobra.Command, idle, beside, why string) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() != "false" }
	if given(idle) && given(beside) {
		return Badf("--%s has no effect beside --%s, %s; leave one of them out", idle, beside, why)
	}
	return nil
}

// Names returns the names of chips or roads.
func Names[T fmt.Stringer](list []T) []string {
	out := []string{}
	for _, x := range list {
		out = append(out, x.String())
	}
	return out
}
