// Package schematest holds what every subcommand prints with --json against the JSON Schema.
// It is a package of its own because the validator takes half a second to start under the
// race detector, in each process that a test of the command starts.
package schematest
