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
	// Unsupported: a disabled path, or a missing entitlement (docs/FACTS.md, Errors).
	Unsupported Return = 0xe00002c7
	// NotOpen: the client is closed or closing. IOReturn.h has this value as kIOReturnExclusiveAccess, and another one
	// as kIOReturnNotOpen. This package follows the driver.
	NotOpen Return = 0xe00002c5
	// UnsupportedUsage is the code 24 that usage type 2 of the open handshake is
	// answered with (text below table 27.3). It is no IOReturn of the header.
	UnsupportedUsage Return = 24

	NoResources Return = 0xe00002be
	// NotPrivileged: a privilege is missing.
	NotPrivileged Return = 0xe00002c1
	Busy          Return = 0xe00002d5
	Timeout       Return = 0xe00002d6
	NotReady      Return = 0xe00002d8
	NoSpace       Return = 0xe00002db
	// NotPermitted: signature or trust refused (docs/FACTS.md, Errors).
	NotPermitted Return = 0xe00002e2
	DeviceError  Return = 0xe00002e9
	Aborted      Return = 0xe00002eb
)

// String is the code's name in IOReturn.h, or what the driver means by it, and the value: "kIOReturnBusy (0xe00002d5)".
func (r Return) String() string {
	value := "0x" + strconv.FormatUint(uint64(r), 16)
	for _, n := range [...]struct {
		code Return
		name string
	}{
		{Success, "kIOReturnSuccess"},
		{BadArgument, "kIOReturnBadArgument"},
		{Unsupported, "kIOReturnUnsupported"},
		{NotOpen, "closed or closing client"},
		{UnsupportedUsage, "unsupported usage type"},
		{NoResources, "kIOReturnNoResources"},
		{NotPrivileged, "kIOReturnNotPrivileged"},
		{Busy, "kIOReturnBusy"},
		{Timeout, "kIOReturnTimeout"},
		{NotReady, "kIOReturnNotReady"},
		{NoSpace, "kIOReturnNoSpace"},
		{NotPermitted, "kIOReturnNotPermitted"},
		{DeviceError, "kIOReturnDeviceError"},
		{Aborted, "kIOReturnAborted"},
	} {
		if n.code == r {
			return n.name + " (" + value + ")"
		}
	}
	return value
}

// Error is String.
func (r Return) Error() string { return r.String() }
