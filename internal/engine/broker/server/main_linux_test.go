//go:build !macrules

package server

import (
	"os"
	"testing"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) {
	if f := child[os.Getenv(childEnv)]; f != nil {
		os.Exit(f())
	}
	leaktest.NeedsProcesses()
	leaktest.Main(m, openFiles(len(files())))
}

// files lists the descriptors of this process.
func files() []string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return []string{err.Error()}
	}
	var open []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil { // the folder itself is closed by now
			open = append(open, to)
		}
	}
	return open
}

// openFiles reports descriptors that were not there before. The poller of the
// runtime opens some for itself.
func openFiles(before int) func() []string {
	const poller = 3
	return func() []string {
		return await.Left(func() []string {
			if now := files(); len(now) > before+poller {
				return now
			}
			return nil
		})
	}
}
