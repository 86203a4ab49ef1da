//go:build !macrules

package uring

import (
	"os"
	"strconv"
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/ringtest"
)

func TestMain(m *testing.M) {
	ringtest.Main()
	leaktest.Main(m, descriptors())
}

// descriptors lists files that the tests have left open.
func descriptors() func() []string {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0
		}
		return len(list)
	}
	before := count()
	return func() []string {
		if after := count(); after > before+2 { // the runtime's own, which it opens at its first need
			return []string{strconv.Itoa(after-before) + " descriptors"}
		}
		return nil
	}
}
