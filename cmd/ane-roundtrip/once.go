package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
