package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every dump of a Mac has a row in the table of testdata/dumps/README.md, with the files that judge by it. Each of these
// names the dump.
func TestEveryDumpIsUsed(t *testing.T) {
	root := filepath.Join("..", "..")
	dumps, err := filepath.Glob(filepath.Join(root, "testdata", "dumps", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, dumps)
	readme, err := os.ReadFile(filepath.Join(root, "testdata", "dumps", "README.md"))
	require.NoError(t, err)
	rows := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([\\w.-]+)` \\| (.+) \\| (.+) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(readme), -1) {
		rows[m[1]] = m[3]
	}
	for _, file := range dumps {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		users := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(rows[name], -1)
		require.NotEmpty(t, users, "testdata/dumps/README.md says nothing of the use of %s", name)
		for _, user := range users {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(user[1])))
			require.NoError(t, err, name)
			require.Contains(t, string(text), name, "%s does not use %s", user[1], name)
		}
		delete(rows, name)
	}
	require.Empty(t, rows, "rows without a file")
}
