package driverabi

// Fields of the open handshake, whose input is echoed but for the token and for what is
// output only (table 27.3). The table gives no width but that of the token and of the
// usage type; numbers are read as 32 bits and pointers as 64.
const (
	DeviceUsage              = 0x00 // input: a UsageType, one byte
	DeviceToken      Field64 = 0x00 // output: the session token, which every later request holds
	DeviceCallback   Field64 = 0x08 // callback function pointer, or HandshakeBoardID
	DeviceContext    Field64 = 0x10 // receiver context pointer
	DeviceTimeout    Field32 = 0x18
	DeviceVersion    Field32 = 0x48 // output: the first of the two numbers of the ANE version
	DeviceRevision   Field32 = 0x4c // output: the second
	DeviceEngines    Field32 = 0x50 // output; appendix C of the guide has 0, 1 from here
	DeviceCPUSubtype Field32 = 0x60 // output
)

// Values seen in the open handshake on an M1 (table 27.3).
const (
	// HandshakeBoardID stood at +0x08, where the callback goes.
	HandshakeBoardID uint64 = 0x1111222233334444
	// HandshakeTimeout is 0x2710; its unit is not documented.
	HandshakeTimeout    uint32 = 10000
	HandshakeVersion    uint32 = 32
	HandshakeRevision   uint32 = 256
	HandshakeEngines    uint32 = 1
	HandshakeCPUSubtype uint32 = 4
)

// UsageType is the client profile asked for in the open handshake (table 27.3).
type UsageType uint8

// The usage types that are documented.
const (
	UsageStandard    UsageType = 1 // opens
	UsageUnsupported UsageType = 2 // answered with UnsupportedUsage
)

// Check is the answer to a handshake of this usage type: Success or UnsupportedUsage. This package chose BadArgument
// for the undocumented types.
func (u UsageType) Check() Return {
	switch u {
	case UsageStandard:
		return Success
	case UsageUnsupported:
		return UnsupportedUsage
	}
	return BadArgument
}
