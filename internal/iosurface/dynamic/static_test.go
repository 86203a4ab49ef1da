package dynamic_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// On Linux package unimem does not need the C library, with and without cgo; on macOS it does.
func TestLinuxProgramsStayStatic(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command in PATH to list dependencies: install Go, then run this test again")
	}
	for _, c := range []struct {
		system, cgo string
		loader      bool
	}{{"linux", "0", false}, {"linux", "1", false}, {"windows", "0", false}, {"darwin", "0", true},
		{"darwin", "1", true}} {
		list := exec.Command("go", "list", "-deps", "github.com/anekit/anekit/unimem")
		list.Env = append(os.Environ(), "GOOS="+c.system, "CGO_ENABLED="+c.cgo)
		list.Stderr = os.Stderr
		out, err := list.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "anekit/internal/iosurface\n")
		if c.loader {
			require.Contains(t, string(out), "ebitengine/purego\n", "%s", c.system)
		} else {
			require.NotContains(t, string(out), "purego", "%s, cgo %s", c.system, c.cgo)
		}
	}
}
