package wire

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
)

// sentinels are the errors that a Fault can name. A number is a place in the list, and
// 0 is none; numbers never change their meaning within a Version.
var sentinels = [...]error{
	nil,
	ane.ErrUnavailable, ane.ErrClosed, ane.ErrInUse, ane.ErrNotLoaded, ane.ErrBusy, ane.ErrDeadline,
	ane.ErrCompile, ane.ErrShape, ane.ErrType, ane.ErrShort, ane.ErrOffset, ane.ErrAligned, ane.ErrName,
	ane.ErrUnbound, ane.ErrMismatch, ane.ErrAlias, ane.ErrStale, ane.ErrLength, ane.ErrEngine,
	ane.ErrExhausted, ane.ErrStuck, ane.ErrLost, ane.ErrDenied, ane.ErrForeign,
	context.Canceled, context.DeadlineExceeded,
	ane.ErrCancelled, ane.ErrAttributes,
}

// codes are the numbers of all sentinels that err matches.
func codes(err error) []uint32 {
	var found []uint32
	for n := 1; n < len(sentinels) && len(found) <= MaxCauses; n++ {
		if errors.Is(err, sentinels[n]) {
			found = append(found, uint32(n))
		}
	}
	return found
}

// sentinel is the error of a number, nil for 0 and for those of a later version.
func sentinel(code uint32) error {
	if code >= uint32(len(sentinels)) {
		return nil
	}
	return sentinels[code]
}
