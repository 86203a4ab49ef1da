package build_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/opsgen"
)

var update = flag.Bool("update", false, "write methods.go and the list of docs/PACKAGES.md from the table of operators")

// methods.go and the list of operators in docs/PACKAGES.md are those of the table.
func TestGenerated(t *testing.T) {
	fresh := func(path, want string) {
		t.Helper()
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		}
		have, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, strings.Split(want, "\n"), strings.Split(string(have), "\n"),
			"run go test ./ane/mil/build -run Generated -update")
	}
	methods, err := opsgen.Methods()
	require.NoError(t, err)
	fresh("methods.go", string(methods))

	const page = "../../../docs/PACKAGES.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, list, found := strings.Cut(string(text), "\nOperators: ")
	require.True(t, found)
	_, after, _ := strings.Cut(list, "\n")
	fresh(page, before+"\n"+opsgen.List()+after)
}
