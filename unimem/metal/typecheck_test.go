package metal

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/mactypes"
)

// The files for macOS with cgo and their tests, which no compiler sees here, are correct Go with the types of
// darwinkit.
func TestMacFilesTypeCheck(t *testing.T) {
	leaktest.SkipEmulated(t)
	mactypes.Check(t)
}
