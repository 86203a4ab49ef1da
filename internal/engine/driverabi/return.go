package driverabi

import "strconv"

// Return is what a selector answers: an IOReturn. It is an error, but for Success.
type Return uint32

// Return codes. The first three codes after Success recur in every shim of the driver
// (text below listing 27.2); the others are from the public header IOReturn.h.
const (
	Success Return = 0
	// BadArgument: a size or null-pointer check failed.
	BadArgument Return = 0xe00002c2
	// Unsupported: a disabled path. Section 6 of the facts also names it as the
	// answer to a missing entitlement.
	Unsupported Return = 0xe00002c7
	// NotOpen: the client is closed or closing. IOReturn.h has this value as
	// kIOReturnExclusiveAccess, and another one as kIOReturnNotOpen; the driver's
	// use is the one that is followed here.
	NotOpen Return = 0xe00002c5
	// UnsupportedUsage is the code 24 that usage type 2 of the open handshake is
	// answered with (text below table 27.3). It is no IOReturn of the header.
	UnsupportedUsage Return = 24

	GeneralError Return = 0xe00002bc
	NoMemory     Return = 0xe00002bd
	NoResources  Return = 0xe00002be
	NoDevice     Return = 0xe00002c0
	// NotPrivileged: a privilege is missing.
	NotPrivileged Return = 0xe00002c1
	InternalError Return = 0xe00002c9
	CannotLock    Return = 0xe00002cc
	Busy          Return = 0xe00002d5
	Timeout       Return = 0xe00002d6
	Offline       Return = 0xe00002d7
	NotReady      Return = 0xe00002d8
	NoSpace       Return = 0xe00002db
	CannotWire    Return = 0xe00002de
	// NotPermitted: signature or trust refused (facts, section 6).
	NotPermitted Return = 0xe00002e2
	Overrun      Return = 0xe00002e8
	DeviceError  Return = 0xe00002e9
	Aborted      Return = 0xe00002eb
	NotFound     Return = 0xe00002f0
)

// Name is the code's name in IOReturn.h, or what the driver means by it, or "".
func (r Return) Name() string {
	for _, n := range [...]struct {
		code Return
		name string
	}{
		{Success, "kIOReturnSuccess"},
		{BadArgument, "kIOReturnBadArgument"},
		{Unsupported, "kIOReturnUnsupported"},
		{NotOpen, "closed or closing client"},
		{UnsupportedUsage, "unsupported usage type"},
		{GeneralError, "kIOReturnError"},
		{NoMemory, "kIOReturnNoMemory"},
		{NoResources, "kIOReturnNoResources"},
		{NoDevice, "kIOReturnNoDevice"},
		{NotPrivileged, "kIOReturnNotPrivileged"},
		{InternalError, "kIOReturnInternalError"},
		{CannotLock, "kIOReturnCannotLock"},
		{Busy, "kIOReturnBusy"},
		{Timeout, "kIOReturnTimeout"},
		{Offline, "kIOReturnOffline"},
		{NotReady, "kIOReturnNotReady"},
		{NoSpace, "kIOReturnNoSpace"},
		{CannotWire, "kIOReturnCannotWire"},
		{NotPermitted, "kIOReturnNotPermitted"},
		{Overrun, "kIOReturnOverrun"},
		{DeviceError, "kIOReturnDeviceError"},
		{Aborted, "kIOReturnAborted"},
		{NotFound, "kIOReturnNotFound"},
	} {
		if n.code == r {
			return n.name
		}
	}
	return ""
}

// String is the name and the value: "kIOReturnBusy (0xe00002d5)".
func (r Return) String() string {
	value := "0x" + strconv.FormatUint(uint64(r), 16)
	if name := r.Name(); name != "" {
		return name + " (" + value + ")"
	}
	return value
}

// Error is String.
func (r Return) Error() string { return r.String() }
