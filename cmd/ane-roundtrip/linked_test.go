package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
)

// The command does not link what made it 31 MB.
func TestLinkedPackages(t *testing.T) {
	effort.SkipShort(t)
	leaktest.SkipEmulated(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command in PATH to list dependencies: install Go, then run this test again")
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	linked := strings.Fields(string(out))
	require.Contains(t, linked, "github.com/spf13/cobra", "else the list says nothing")
	for _, heavy := range []string{"crypto/tls", "net/http", "github.com/xeipuuv/gojsonschema", "gonum.org/v1/plot",
		"gonum.org/v1/plot/font/liberation", "github.com/bep/imagemeta", "github.com/spf13/cobra/doc"} {
		require.NotContains(t, linked, heavy)
	}
	// A program of a user has a broker in it, but no client connects to its socket, and it reads no policy.
	out, err = exec.CommandContext(t.Context(), "go", "list", "-deps", "../../examples/processes").CombinedOutput()
	require.NoError(t, err, "%s", out)
	linked = strings.Fields(string(out))
	require.Contains(t, linked, "github.com/anekit/anekit/internal/engine/broker", "else the list says nothing")
	for _, heavy := range []string{"crypto/tls", "net/http", "net", "github.com/go-json-experiment/json",
		"github.com/klauspost/cpuid/v2"} {
		require.NotContains(t, linked, heavy)
	}
}
