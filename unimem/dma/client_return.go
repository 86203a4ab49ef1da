package dma

import (
	"errors"
	"fmt"
)

// Return is the code of a failed call of IOKit: an IOReturn, or a kern_return_t of mach. It is the Cause of an Error.
type Return struct {
	Call string // the C function, with the selector's name for IOConnectCallMethod
	Code uint32
}

// Codes of IOKit/IOReturn.h that have a meaning here.
const (
	returnNoMemory      = 0xe00002bd
	returnNoResources   = 0xe00002be
	returnNotPrivileged = 0xe00002c1
	returnBadArgument   = 0xe00002c2
	returnUnsupported   = 0xe00002c7
	returnVMError       = 0xe00002c8
	returnNotAligned    = 0xe00002d0
	returnNoSpace       = 0xe00002db
	returnNotPermitted  = 0xe00002e2
	returnAborted       = 0xe00002eb
	returnNotFound      = 0xe00002f0
	sendInvalidDest     = 0x10000003 // MACH_SEND_INVALID_DEST of mach/message.h
)

// returnNames are the names of codes in the headers.
func returnNames() map[uint32]string {
	return map[uint32]string{
		returnNoMemory:      "kIOReturnNoMemory",
		returnNoResources:   "kIOReturnNoResources",
		0xe00002c0:          "kIOReturnNoDevice",
		returnNotPrivileged: "kIOReturnNotPrivileged",
		returnBadArgument:   "kIOReturnBadArgument",
		returnUnsupported:   "kIOReturnUnsupported",
		returnVMError:       "kIOReturnVMError",
		returnNotAligned:    "kIOReturnNotAligned",
		0xe00002d5:          "kIOReturnBusy",
		0xe00002d6:          "kIOReturnTimeout",
		0xe00002d8:          "kIOReturnNotReady",
		returnNoSpace:       "kIOReturnNoSpace",
		returnNotPermitted:  "kIOReturnNotPermitted",
		0xe00002e8:          "kIOReturnOverrun",
		returnAborted:       "kIOReturnAborted",
		returnNotFound:      "kIOReturnNotFound",
		sendInvalidDest:     "MACH_SEND_INVALID_DEST",
	}
}

// Error returns the text on one line.
func (r *Return) Error() string {
	if name := returnNames()[r.Code]; name != "" {
		return fmt.Sprintf("%s: %s (%#x)", r.Call, name, r.Code)
	}
	return fmt.Sprintf("%s: %#x", r.Call, r.Code)
}

// Is reports whether the code means the target. ErrExhausted is a lack of addresses or of memory, ErrClosed a
// connection or an extension that has ended.
func (r *Return) Is(target error) bool {
	switch r.Code {
	case returnNoSpace, returnNoResources, returnNoMemory:
		return target == ErrExhausted
	case sendInvalidDest, returnAborted:
		return target == ErrClosed
	}
	return false
}

// hintOf returns how a caller can fix an error of a call, empty if not known.
func hintOf(err error) string {
	var r *Return
	if !errors.As(err, &r) {
		return ""
	}
	switch r.Code {
	case returnNotPermitted, returnNotPrivileged:
		return "sign the program with the entitlement com.apple.developer.driverkit.userclient-access, see " +
			"dext/README.md"
	case returnUnsupported:
		return "the extension has no such call: build and install that of this version, see dext/README.md"
	case sendInvalidDest, returnAborted:
		return "the extension has ended: open it again"
	case returnVMError:
		return "the range has pages that are not mapped"
	}
	return ""
}

// returned makes an error of a code, nil for success.
func returned(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return &Return{Call: call, Code: uint32(code)}
}
