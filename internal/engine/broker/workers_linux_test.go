//go:build !macrules

package broker

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What command writes is what serveChild reads, whatever this process's own environment has.
func TestEnvironmentOfAPrivateBroker(t *testing.T) {
	t.Setenv(childVariable, `{"Workers": 7}`)
	for _, o := range []Options{{}, {CacheDir: "/cache"}, {Workers: 1}, {CacheDir: "/cache", Workers: 3}} {
		c := command(os.Stderr, o)
		var got childConfig
		for _, v := range c.Environ() {
			if value, ok := strings.CutPrefix(v, childVariable+"="); ok {
				require.NoError(t, json.Unmarshal([]byte(value), &got))
			}
		}
		require.Equal(t, childConfig{o.CacheDir, o.Workers}, got)
	}
}
