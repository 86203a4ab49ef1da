//go:build !macrules

package broker

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What command writes is what configured reads, whatever this process's own environment has.
func TestEnvironmentOfAPrivateBroker(t *testing.T) {
	t.Setenv(workVariable, "7")
	t.Setenv(cacheVariable, "/else")
	for _, o := range []Options{{}, {CacheDir: "/cache"}, {Workers: 1}, {CacheDir: "/cache", Workers: 3}} {
		env := map[string][]string{}
		for _, v := range command(os.Stderr, o).Env {
			name, value, _ := strings.Cut(v, "=")
			env[name] = append(env[name], value)
		}
		c := configured(func(name string) string { return strings.Join(env[name], " ") })
		require.Equal(t, o.CacheDir, c.CacheDir)
		require.Equal(t, o.Workers, c.Workers)
	}
}
