package metal

import (
	"testing"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/mactypes"
)

// The files for macOS with cgo and their tests, which no compiler sees here, are correct Go with the types of
// darwinkit.
func TestMacFilesTypeCheck(t *testing.T) {
	effort.NeedsFull(t, "seconds for the imports")
	mactypes.Check(t)
}
