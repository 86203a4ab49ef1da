// Package schematest validates the output of every subcommand with --json against the JSON Schema. It is a separate
// package because the validator takes half a second to initialize under the race detector. Every process that a test of
// the command starts would wait for it.
package schematest
