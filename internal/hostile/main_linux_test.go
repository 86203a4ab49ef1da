//go:build !macrules

package hostile

import (
	"os"
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(attackEnv) != "":
		os.Exit(attackMain())
	case os.Getenv(cacheEnv) != "":
		os.Exit(brokerMain())
	case programs[os.Getenv(programEnv)] != nil:
		os.Exit(programs[os.Getenv(programEnv)]())
	}
	leaktest.NeedsProcesses()
	leaktest.Main(m)
}
