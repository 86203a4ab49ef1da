package main

import (
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// schemaText is the JSON Schema of what --json prints.
//
//go:embed ane-roundtrip-1.schema.json
var schemaText []byte

func schemaCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of what --json prints",
		Long: `schema prints the JSON Schema (draft 2020-12) of ` + cli.Schema + `, the
object that --json prints. A new field keeps the number in the name; removing
a field or changing its meaning raises it.`,
		Example: `  ane-roundtrip schema >ane-roundtrip-1.schema.json`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Out.Write(schemaText)
			return err
		},
	}
}
