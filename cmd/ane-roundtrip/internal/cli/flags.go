package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// EveryCommand lists a command and all below it.
func EveryCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, below := range cmd.Commands() {
		all = append(all, EveryCommand(below)...)
	}
	return all
}

// JSONFlag adds --json to a command.
func (a *App) JSONFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.JSON, "json", a.JSON, "print one JSON object instead of tables")
	cmd.Flags().Lookup("json").DefValue = "false"
}

// NoArgs rejects operands with a hint.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return UnknownOperand(cmd, args[0])
}

// RepeatFlag says how often a command measures.
const RepeatFlag = "repeat"

// AcceptOldNames has a command accept the flag's former names, which its help does not show.
func AcceptOldNames(cmd *cobra.Command) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "iterations" || name == "rounds" {
			name = RepeatFlag
		}
		return pflag.NormalizedName(name)
	})
}

// onceValue is a flag with one value. It rejects another one, since the first would have no effect. It
// accepts the same one again: cobra reads the flags twice to complete a line.
type onceValue struct {
	pflag.Value
	given bool
	text  string
}

func (v *onceValue) Set(s string) error {
	if v.given && s != v.text {
		return errors.New("it is given twice")
	}
	v.given, v.text = true, s
	return v.Value.Set(s)
}

// RejectRepeatedFlags rejects a second value of flags, except switches, and lists such as --in.
func RejectRepeatedFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list && f.Value.Type() != "bool" {
			f.Value = &onceValue{Value: f.Value}
		}
	})
}

// MaxRepeat bounds --repeat.
const MaxRepeat = 1_000_000

// Operands rejects fewer operands than least and more than most; give says how many and what to give.
func Operands(least, most int, give string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Badf("operands: %d; give %s", len(args), give)
		}
		return nil
	}
}
