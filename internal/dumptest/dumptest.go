// Package dumptest reads the dumps of Macs in tests that judge by them.
package dumptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Data decodes the data of testdata/dumps/NAME.json. It looks in the folders above the test's.
func Data(tb testing.TB, name string, data any) {
	tb.Helper()
	dir, err := os.Getwd()
	require.NoError(tb, err)
	for {
		text, err := os.ReadFile(filepath.Join(dir, "testdata", "dumps", name+".json"))
		if err == nil {
			require.NoError(tb, json.Unmarshal(text, &struct{ Data any }{data}))
			return
		}
		require.ErrorIs(tb, err, os.ErrNotExist)
		require.NotEqual(tb, dir, filepath.Dir(dir), "no folder above the test has the dump %s", name)
		dir = filepath.Dir(dir)
	}
}
