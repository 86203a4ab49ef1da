package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/unimem/safetensors"
)

// JSONFlag adds --json to a command, for its help: New has read it.
func (a *App) JSONFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "print one JSON object instead of tables")
}

// ReportFlag adds --report to a command.
func (a *App) ReportFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.ReportFile.Path, "report", "", "write the report to `FILE`.json or FILE.html")
}

// Loaded is how a command brings weights to memory; it is part of the details of its report.
type Loaded struct {
	Mode   string             `json:"load"`   // of --load
	Access safetensors.Access `json:"access"` // how the bytes came to memory
	Why    string             `json:"why"`
}

// Flag adds --load to a command.
func (l *Loaded) Flag(cmd *cobra.Command, usual safetensors.Mode) {
	cmd.Flags().StringVar(&l.Mode, "load", usual.String(), "`WAY` to load weights: map, read or auto")
}

// Choice returns the way of --load, or bad input.
func (l *Loaded) Choice() (safetensors.Mode, error) {
	m := safetensors.Mode(l.Mode)
	if !slices.Contains(safetensors.Modes(), m) {
		return m, NoSuch("way to load", l.Mode, Names(safetensors.Modes()))
	}
	return m, nil
}

// Set notes how a file was loaded.
func (l *Loaded) Set(f *safetensors.File) { l.Access, l.Why = f.Report().Access, f.Report().Why }

// RepeatFlag says how often a command measures.
const RepeatFlag = "repeat"

// MaxRepeat bounds --repeat.
const MaxRepeat = 1_000_000

// AcceptOldNames has a command accept the former names of a flag, which its help does not show.
func AcceptOldNames(cmd *cobra.Command, flag string, old ...string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if slices.Contains(old, name) {
			name = flag
		}
		return pflag.NormalizedName(name)
	})
}

// RejectRepeatedFlags rejects a second value of flags, except switches, and lists such as --in.
func RejectRepeatedFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list && f.Value.Type() != "bool" {
			f.Value = &onceValue{Value: f.Value}
		}
	})
}

// onceValue is a flag with one value. It rejects another one, since the first would have no effect. It
// accepts the same one again: cobra reads the flags twice to complete a line.
type onceValue struct {
	pflag.Value
	given *string // nil before the first
}

// Set sets the value.
func (v *onceValue) Set(s string) error {
	if v.given != nil && *v.given != s {
		return errors.New("it is given twice")
	}
	v.given = &s
	return v.Value.Set(s)
}

// Conflict rejects a flag that has no effect beside another one.
func Conflict(cmd *cobra.Command, idle, beside, why string) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() != "false" }
	if given(idle) && given(beside) {
		return Badf("--%s has no effect beside --%s, %s; leave one of them out", idle, beside, why)
	}
	return nil
}

// NoSuch is the error for a name that is none of the choices.
func NoSuch(kind, name string, choices []string) error {
	return Badf("there is no %s %q; %s", kind, name, near.Choices(name, "choose one of", choices))
}

// NoArgs rejects operands with a hint.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return UnknownOperand(cmd, args[0])
}

// Operands rejects fewer operands than least and more than most; give says how many and what to give.
func Operands(least, most int, give string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Badf("operands: %d; give %s", len(args), give)
		}
		return nil
	}
}

// Names returns the names of chips or compilers.
func Names[T fmt.Stringer](list []T) []string { return Each(list, T.String) }

// Each returns the name of each of all.
func Each[T any](all []T, name func(T) string) []string {
	list := []string{}
	for _, x := range all {
		list = append(list, name(x))
	}
	return list
}
