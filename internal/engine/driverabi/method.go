package driverabi

// Unchecked is the size in a dispatch record that tells the kernel's dispatcher not to
// check. No record of the driver has it (text below listing 27.4).
const Unchecked uint32 = 0xffffffff

// Method is one selector of a user client: counts of 64-bit scalars and sizes of
// structures in bytes, all exact.
type Method struct {
	Selector  int
	Handler   string
	ScalarIn  uint32
	StructIn  uint32
	ScalarOut uint32
	StructOut uint32
	// Disabled methods answer Unsupported to every client.
	Disabled bool
	// Async methods use the asynchronous machinery: completion arrives at the wake
	// port, as a callback. All others refuse a port, which is what the public header
	// IOUserClient.h has its flag allowAsync for.
	Async bool
}

// shared are selectors 0 to 2, which both clients have: the direct path reuses the
// handlers of the control client (text above table 27.4).
func shared() []Method {
	return []Method{
		{Selector: 0, Handler: "ANE_DeviceOpen", StructIn: DeviceInfoSize, StructOut: DeviceInfoSize},
		{Selector: 1, Handler: "ANE_DeviceClose"},
		{Selector: 2, Handler: "ANE_ProgramSendRequest", ScalarIn: 1, StructIn: SendRequestSize,
			StructOut: SendReplySize,
			Async:     true},
	}
}
