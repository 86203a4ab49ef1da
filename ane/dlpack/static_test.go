package dlpack_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// On Linux only programs that import this package need the C library: the command does not.
func TestOthersStayStatic(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command in PATH to list dependencies: install Go, then run this test again")
	}
	for pkg, loader := range map[string]bool{"cmd/ane-roundtrip": false, "ane/dlpack": true} {
		list := exec.Command("go", "list", "-deps", "github.com/anekit/anekit/"+pkg)
		list.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "anekit/ane\n")
		if loader {
			require.Contains(t, string(out), "ebitengine/purego\n", pkg)
		} else {
			require.NotContains(t, string(out), "purego", pkg)
			require.NotContains(t, string(out), "ane/dlpack", pkg)
		}
	}
}
