package house

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// page is how many lines go doc prints at most of a package: a page and a half of 60 lines.
const page = 90

// What go doc prints of a public package is read at once.
func TestDocOfEachPublicPackageIsShort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts go doc for each package: run without -short")
	}
	packages := map[string]bool{}
	for _, s := range sources(t) {
		if s.public() && s.Name.Name != "main" && s.folder != "objcbridge/src" { // where only a Mac has a package
			packages[s.folder] = true
		}
	}
	require.Greater(t, len(packages), 20)
	for folder := range packages {
		cmd := exec.CommandContext(t.Context(), "go", "doc", "./"+folder)
		cmd.Dir = filepath.Join("..", "..")
		text, err := cmd.Output()
		require.NoError(t, err, folder)
		if lines := bytes.Count(text, []byte("\n")); lines > page {
			t.Errorf("go doc ./%s prints %d lines, at most %d: hide what no user needs, or say less above the package",
				folder, lines, page)
		}
	}
}
