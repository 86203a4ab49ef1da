package gpu

import (
	"testing"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/mactypes"
)

// The side for macOS with cgo, which no compiler sees here, is correct Go.
func TestMacFilesTypeCheck(t *testing.T) {
	effort.NeedsFull(t, "seconds for the imports")
	mactypes.Check(t)
}
