package gpu

import (
	"testing"

	"github.com/anekit/anekit/internal/budget"
	"github.com/anekit/anekit/internal/mactypes"
)

// The side for macOS with cgo, which no compiler sees here, is correct Go.
func TestMacFilesTypeCheck(t *testing.T) {
	budget.SkipSlow(t)
	budget.Skip(t, "seconds for the imports")
	mactypes.Check(t)
}
