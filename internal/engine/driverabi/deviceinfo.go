package driverabi

// DeviceInfoSize is the size of the open handshake, the same in and out (tables 27.2
// and 27.4: selector 0 of both clients).
const DeviceInfoSize = 104

// Offsets of the open handshake (table 27.3).
const (
	deviceInfoToken      = 0x00
	deviceInfoCallback   = 0x08
	deviceInfoContext    = 0x10
	deviceInfoTimeout    = 0x18
	deviceInfoVersion    = 0x48
	deviceInfoEngines    = 0x50
	deviceInfoCPUSubtype = 0x60
)

// Values seen in the open handshake on an M1 (table 27.3).
const (
	// HandshakeBoardID stood at +0x08, where the callback goes.
	HandshakeBoardID uint64 = 0x1111222233334444
	// HandshakeTimeout is 0x2710; its unit is not documented.
	HandshakeTimeout uint32 = 10000
	// HandshakeVersion is 0x20, the first of two numbers of the ANE version.
	HandshakeVersion uint32 = 32
	// HandshakeVersionSecond is the number beside it.
	HandshakeVersionSecond uint32 = 256
	HandshakeEngines       uint32 = 1
	HandshakeCPUSubtype    uint32 = 4
)

// UsageType is the client profile asked for in the open handshake: the byte at +0x00
// of its input (table 27.3).
type UsageType uint8

// The usage types that are documented.
const (
	UsageStandard    UsageType = 1 // opens
	UsageUnsupported UsageType = 2 // answered with UnsupportedUsage
)

// Check is the answer to a handshake of this usage type: Success, UnsupportedUsage, or
// BadArgument for the types that are not documented, which is this package's choice.
func (u UsageType) Check() Return {
	switch u {
	case UsageStandard:
		return Success
	case UsageUnsupported:
		return UnsupportedUsage
	}
	return BadArgument
}

// DeviceInfo is the open handshake, passed in and echoed back (table 27.3).
type DeviceInfo struct {
	// Token is the session token that every later request holds, in the output. In
	// the input its low byte is the usage type, and the other seven are unknown.
	Token      uint64
	Callback   uint64    // callback function pointer, or HandshakeBoardID
	Context    uint64    // receiver context pointer
	Timeout    uint32    // HandshakeTimeout
	Version    [2]uint32 // output only: HandshakeVersion, HandshakeVersionSecond
	Engines    uint32    // output only
	CPUSubtype uint32    // output only
	// Raw has the unknown bytes, each at its own offset.
	Raw [DeviceInfoSize]byte
}

// Usage is the usage type of an input.
func (d *DeviceInfo) Usage() UsageType { return UsageType(d.Token) }

// SetUsage sets the usage type of an input and leaves the other bytes of the word.
func (d *DeviceInfo) SetUsage(u UsageType) { d.Token = d.Token&^0xff | uint64(u) }

// Answer is what an input is answered with: d echoed, with the session token and what
// is output only. Unknown bytes are echoed too, which the source does not say of those
// after the header.
func (d *DeviceInfo) Answer(token uint64, version [2]uint32, engines, cpuSubtype uint32) DeviceInfo {
	out := *d
	out.Token, out.Version, out.Engines, out.CPUSubtype = token, version, engines, cpuSubtype
	return out
}

// Size returns DeviceInfoSize.
func (d *DeviceInfo) Size() int { return DeviceInfoSize }

// Encode writes d to b.
func (d *DeviceInfo) Encode(b []byte) error {
	if err := store("DeviceInfo", b, d.Raw[:]); err != nil {
		return err
	}
	put64(b, deviceInfoToken, d.Token)
	put64(b, deviceInfoCallback, d.Callback)
	put64(b, deviceInfoContext, d.Context)
	put32(b, deviceInfoTimeout, d.Timeout)
	put32(b, deviceInfoVersion, d.Version[0])
	put32(b, deviceInfoVersion+4, d.Version[1])
	put32(b, deviceInfoEngines, d.Engines)
	put32(b, deviceInfoCPUSubtype, d.CPUSubtype)
	return nil
}

// Decode reads d from b.
func (d *DeviceInfo) Decode(b []byte) error {
	if err := load("DeviceInfo", d.Raw[:], b); err != nil {
		return err
	}
	raw := d.Raw[:]
	d.Token = take64(raw, deviceInfoToken)
	d.Callback = take64(raw, deviceInfoCallback)
	d.Context = take64(raw, deviceInfoContext)
	d.Timeout = take32(raw, deviceInfoTimeout)
	d.Version[0] = take32(raw, deviceInfoVersion)
	d.Version[1] = take32(raw, deviceInfoVersion+4)
	d.Engines = take32(raw, deviceInfoEngines)
	d.CPUSubtype = take32(raw, deviceInfoCPUSubtype)
	return nil
}

// Fields are the rows of table 27.3.
func (d *DeviceInfo) Fields() []Field {
	const t = "table 27.3"
	return []Field{
		{"session token; in the input the usage type, one byte", deviceInfoToken, 8, t, ""},
		{"callback function pointer or board id", deviceInfoCallback, 8, t, ""},
		{"receiver context pointer", deviceInfoContext, 8, t, ""},
		{"timeout", deviceInfoTimeout, 4, t, read32},
		{"ANE version", deviceInfoVersion, 8, t, "the pair of numbers given, read as 32 bits each, in that order"},
		{"number of engines", deviceInfoEngines, 4, t,
			read32 + "; appendix C of the guide has 0, 1 from here, so it may be the second 32 bits"},
		{"CPU subtype", deviceInfoCPUSubtype, 4, t, read32},
	}
}

// Unknown are the bytes that table 27.3 leaves out.
func (d *DeviceInfo) Unknown() []Range { return gaps(DeviceInfoSize, d.Fields()) }
