package gpu

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/mactypes"
)

// The side for macOS with cgo, which no compiler sees here, is correct Go.
func TestMacFilesTypeCheck(t *testing.T) {
	leaktest.SkipEmulated(t)
	mactypes.Check(t)
}
