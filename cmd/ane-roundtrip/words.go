package main

import (
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
	return badf("unknown command or operand %q; %ssee ane-roundtrip --help", word, near.Hint(word, commandNames(cmd.Root())))
}

// engineOrHint opens the engine that the flags ask for. Where it is not available,
// another can do the same work.
func (a *app) engineOrHint() (*ane.Device, error) {
	d, err := a.open(nil)
	if errors.Is(err, ane.ErrUnavailable) && !a.apple && a.engine != engine.Soft {
		return nil, fmt.Errorf("%w; give --engine %s to compute it in software", err, engine.Soft)
	}
	return d, err
}

// wrongFlag says what is wrong with a flag, and which one was probably meant.
func wrongFlag(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	hint := ""
	if word, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		word, _, _ = strings.Cut(word, "=")
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if w := near.Word(word, names); w != "" {
			hint = "did you mean --" + w + "? "
		}
	}
	help := "ane-roundtrip --help"
	if cmd.HasParent() {
		help = cmd.CommandPath() + " --help"
	}
	return badf("%s; %ssee %s", text, hint, help)
}
