package trial

import (
	"errors"

	"github.com/anekit/anekit/unimem"
)

// Whether touched pages of a Block stay in memory, in JSON.
const (
	pinned    = "pinned"
	notPinned = "not pinned"
	unknown   = "unknown"
)

// Pinning says whether touched pages of b stay in memory: "pinned", "not pinned" or "unknown".
func Pinning(b *unimem.Block) string {
	switch {
	case b.Pinned():
		return pinned
	case errors.Is(b.Unpinned(), unimem.ErrPinUnknown):
		return unknown
	}
	return notPinned
}

// Words returns a Pinning for a line of text.
func Words(pinning string) string {
	if pinning == unknown {
		return "not known to be pinned"
	}
	return pinning
}
