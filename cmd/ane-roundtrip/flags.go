package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand lists a command and all below it.
func everyCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, below := range cmd.Commands() {
		all = append(all, everyCommand(below)...)
	}
	return all
}

// reportFlag adds --json to a command.
func (a *app) reportFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", a.json, "print one JSON object instead of tables")
	cmd.Flags().Lookup("json").DefValue = "false"
}

// noArgs rejects operands with a hint.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownOperand(cmd, args[0])
}

// repeatFlag says how often a command measures.
const repeatFlag = "repeat"

// takeFormerNames has a command accept the flag's former names, which its help does not show.
func takeFormerNames(cmd *cobra.Command) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "iterations" || name == "rounds" {
			name = repeatFlag
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

// giveOnce rejects a second value of flags, except switches, and lists such as --in.
func giveOnce(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list && f.Value.Type() != "bool" {
			f.Value = &onceValue{Value: f.Value}
		}
	})
}

// maxRepeat bounds --repeat.
const maxRepeat = 1_000_000

// quietJSON refuses --quiet beside --json.
func quietJSON() error {
	return badf("--quiet has no effect beside --json, which prints no tables; leave one of them out")
}

// oneFile accepts exactly one operand.
func oneFile(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return badf("operands: %d; give one, %s or -", len(args), name)
		}
		return nil
	}
}
