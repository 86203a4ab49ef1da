//go:build !macrules

package broker

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// What command writes is what ServeChild reads, whatever this process's own environment has.
func TestEnvironmentOfAPrivateBroker(t *testing.T) {
	t.Setenv(ChildVariable, "7")
	for _, workers := range []int{0, 1, 3} {
		env := command(os.Stderr, Options{Workers: workers}).Environ()
		require.Contains(t, env, fmt.Sprint(ChildVariable, "=", workers))
		require.NotContains(t, env, ChildVariable+"=7")
	}
}
