package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// A run makes the commands that its arguments can reach, and no other.
func TestTreeOfArguments(t *testing.T) {
	of := func(args ...string) string {
		return strings.Join(cli.CommandNames(rootCommand(cli.New(rootCommand, args, nil, nil))), " ")
	}
	all := cli.CommandNames(cli.New(rootCommand, nil, nil, nil).Tree())
	for _, name := range all {
		if name != "completion" && name != "help" {
			require.Equal(t, name, of(name, "--json"), "the name in rootCommand is that of the command")
		}
	}
	for _, line := range []string{"help", "help run", "--help", "-h", "--json --help", "--json run", "-q", "chekc", "--",
		"completion bash", "__complete run --"} {
		require.Equal(t, strings.Join(all, " "), of(strings.Fields(line)...), "%s", line)
	}
	for _, line := range []string{"", "--version", "--json --engine=soft"} {
		require.Empty(t, of(strings.Fields(line)...), "%s", line)
	}
}

// The hint of an unknown flag knows the commands that the run does not have.
func TestFlagOfAnotherCommand(t *testing.T) {
	for _, args := range [][]string{{"--prompt=x"}, {"info", "--prompt=x"}} {
		var out, errw bytes.Buffer
		require.Equal(t, cli.CodeUsage, execute(t.Context(), args, &out, &errw))
		require.Contains(t, errw.String(), "generate", "%v: %s", args, &errw)
	}
}
