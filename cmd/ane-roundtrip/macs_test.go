package main

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/gpu"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/models"
)

// docs/MACS.md tells of each check, in one row, what the owner of a Mac sees; each pattern there has a check.
func TestMacsPageHasEveryCheck(t *testing.T) {
	text, err := os.ReadFile("../../docs/MACS.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| checks | with a Neural Engine | without |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]string{} // by pattern, what is seen
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(line, " | ")
		require.Len(t, cells, 4, line)
		for _, seen := range cells[1:3] {
			require.Regexp(t, "^(pass|skip|the same|as with one)", seen)
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			require.NotContains(t, rows, m[1])
			rows[m[1]] = cells[1]
		}
	}
	all, err := models.All()
	require.NoError(t, err)
	used := map[string]bool{}
	for _, name := range append(append(checkNames(all, false), trial.UsesCheck), gpu.Names()...) {
		var of []string
		for pattern := range rows {
			if ok, err := path.Match(flat(pattern), flat(name)); ok || err != nil {
				require.NoError(t, err, pattern)
				of, used[pattern] = append(of, pattern), true
			}
		}
		require.Len(t, of, 1, "rows of docs/MACS.md for %s", name)
	}
	for pattern := range rows {
		require.True(t, used[pattern], "docs/MACS.md: no check is called %s", pattern)
	}
}
