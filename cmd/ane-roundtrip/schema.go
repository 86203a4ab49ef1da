package main

import (
	_ "embed"

	"github.com/spf13/cobra"
)

// schemaText is the JSON Schema of what --json prints.
//
//go:embed ane-roundtrip-1.schema.json
var schemaText []byte

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of what --json prints",
		Long: `schema prints the JSON Schema (draft 2020-12) of ` + schema + `, the
object that --json prints. A new field keeps the number in the name; removing
a field or changing its meaning raises it.`,
		Example: `  ane-roundtrip schema >ane-roundtrip-1.schema.json`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(schemaText)
			return err
		},
	}
}
