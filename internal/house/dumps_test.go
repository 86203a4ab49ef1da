package house

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// Every source of a dump, and of a row of one, names a repository, so that a reader can look it up.
func TestEveryDumpHasItsSource(t *testing.T) {
	// what no search found again, with what is known of it
	unnamed := map[string]string{
		"anerrors-27 data.instances.0": "code 42 with 0x1D: no public file was found that has it",
		"anerrors-27 data.instances.1": "agent-mesh of redtrades: the index of public files has its texts without the repository",
	}
	dumps, err := filepath.Glob(filepath.Join("..", "..", "testdata", "dumps", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, dumps)
	repository := regexp.MustCompile(`(?:^|[ (;:])[A-Za-z0-9-]+/[\w.-]+`)
	nothing := regexp.MustCompile(`^(?:github |a )?public files?[:.]?$`)
	for _, file := range dumps {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var root map[string]any
		require.NoError(t, json.Unmarshal(text, &root), name)
		require.Contains(t, root, "source", name)
		eachSource(root, name, func(at, source string) {
			require.NotRegexp(t, nothing, strings.TrimSpace(source), at)
			if _, known := unnamed[at]; known {
				delete(unnamed, at)
				return
			}
			require.Regexp(t, repository, source, "%s: the source names no repository", at)
		})
	}
	require.Empty(t, unnamed, "allowed without a repository, but not in a dump")
}

// eachSource calls visit for every text under the key source, with the place of its object.
func eachSource(value any, at string, visit func(at, source string)) {
	step := func(key string) string {
		if strings.Contains(at, " ") {
			return at + "." + key
		}
		return at + " " + key
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if source, ok := inner.(string); ok && key == "source" {
				visit(at, source)
				continue
			}
			eachSource(inner, step(key), visit)
		}
	case []any:
		for i, inner := range v {
			eachSource(inner, step(strconv.Itoa(i)), visit)
		}
	}
}
