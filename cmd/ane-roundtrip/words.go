package main

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

// noSuch refuses an operand of a command that takes none.
func noSuch(cmd *cobra.Command, word string) error {
	return badf("unknown command or operand %q; %ssee ane-roundtrip --help", word,
		near.Hint(word, commandNames(cmd.Root())))
}

// engineOrHint opens the engine that the flags ask for. Where it is not available,
// another can do the same work.
func (a *app) engineOrHint(ctx context.Context) (*ane.Device, error) {
	d, err := a.open(ctx, nil)
	if errors.Is(err, ane.ErrUnavailable) && !a.apple && a.engine != engine.Soft {
		return nil, fmt.Errorf("%w; give --engine %s to compute it in software", err, engine.Soft)
	}
	return d, err
}

// wrongFlag says what is wrong with a flag: it is of another command, or another flag was
// probably meant.
func wrongFlag(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	help := "ane-roundtrip --help"
	if cmd.HasParent() {
		help = cmd.CommandPath() + " --help"
	}
	word, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return badf("%s; see %s", text, help)
	}
	word, _, _ = strings.Cut(word, "=")
	if others := commandsWith(cmd.Root(), word); len(others) > 0 {
		return badf("%s does not serve --%s, a flag of %s; leave it out, or see %s", cmd.Name(), word,
			strings.Join(others, ", "), help)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := ""
	if w := near.Word(word, names); w != "" {
		hint = "did you mean --" + w + "? "
	}
	return badf("%s; %ssee %s", text, hint, help)
}

// commandsWith lists the commands that have a flag.
func commandsWith(root *cobra.Command, flag string) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.LocalFlags().Lookup(flag) != nil {
			names = append(names, c.Name())
		}
	}
	return names
}

// together refuses two flags of which one has no effect beside the other.
func together(cmd *cobra.Command, idle, beside, why string) error {
	if cmd.Flags().Changed(idle) && cmd.Flags().Changed(beside) {
		return badf("--%s has no effect beside --%s, %s; leave one of them out", idle, beside, why)
	}
	return nil
}
