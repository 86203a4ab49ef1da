package driverabi

// Method is one selector of a user client: counts of 64-bit scalars and sizes of
// structures in bytes, all exact. No record of the driver has 0xffffffff, which tells the
// kernel's dispatcher not to check (text below listing 27.4).
type Method struct {
	Selector  int
	Handler   string
	ScalarIn  uint32
	StructIn  uint32
	ScalarOut uint32
	StructOut uint32
}

// Disabled methods answer Unsupported to every client. LoadFirmware is the only one: on the documented build the driver
// loads firmware when it starts (text below table 27.3).
func (m *Method) Disabled() bool { return m.Handler == "ANE_LoadFirmware" }

// Async methods use the asynchronous machinery: completion arrives at the wake port, as a
// callback (text below table 27.6). All others refuse a port, which is what the public
// header IOUserClient.h has its flag allowAsync for.
func (m *Method) Async() bool { return m.Handler == "ANE_ProgramSendRequest" }

// Sizes in bytes of the structures that this module names. Of most structures the source
// documents the size alone.
const (
	DeviceInfoSize  = 104
	SendRequestSize = 2376
	SendReplySize   = 40
	InputsReadySize = 3104
	MemoryMapSize   = 2080
)

// Selectors of the control client, H11ANEInUserClient (table 27.2).
const (
	ControlDeviceOpen = iota
	ControlDeviceClose
	ControlSendRequest
	ControlProgramCreate
	ControlProgramPrepare
	ControlProgramUnprepare
	ControlProgramDestroy
	ControlGetStatus
	ControlProgramCreateInstance
	ControlProgramChainingPrepare
	ControlGetVersion
	ControlRegisterDebugWorkProcessor
	ControlUnregisterDebugWorkProcessor
	ControlGetDebugWorkItem
	ControlCompleteDebugWorkItem
	ControlReleaseDebugWorkBuffers
	ControlLoadFirmware
)

// ControlMethods is table 27.2.
func ControlMethods() []Method {
	return []Method{
		{0, "ANE_DeviceOpen", 0, DeviceInfoSize, 0, DeviceInfoSize},
		{1, "ANE_DeviceClose", 0, 0, 0, 0},
		{2, "ANE_ProgramSendRequest", 1, SendRequestSize, 0, SendReplySize},
		{3, "ANE_ProgramCreate", 0, 32, 0, 0},
		{4, "ANE_ProgramPrepare", 0, 56, 0, 56},
		// The symbol of the next handler in public kernel caches has an ANEProgramPrepareArgs,
		// the type of selector 4.
		{5, "ANE_ProgramUnprepare", 0, 56, 0, 0},
		{6, "ANE_ProgramDestroy", 0, 16, 0, 0},
		{7, "ANE_GetStatus", 0, 0, 0, 32},
		{8, "ANE_ProgramCreateInstance", 0, 32, 0, 0},
		{9, "ANE_ProgramChainingPrepare", 0, 16, 0, 24},
		{10, "ANE_GetVersion", 0, 0, 1, 0},
		{11, "ANE_RegisterDebugWorkProcessor", 0, 24, 0, 0},
		{12, "ANE_UnregisterDebugWorkProcessor", 0, 0, 0, 0},
		{13, "ANE_GetDebugWorkProcessorItem", 2, 0, 0, 0},
		{14, "ANE_CompleteDebugWorkProcessorItem", 2, 0, 0, 0},
		{15, "ANE_ReleaseDebugWorkProcessorBuffers", 0, 0, 0, 0},
		{16, "ANE_LoadFirmware", 3, 0, 0, 0},
	}
}

// Selectors of the direct-path client, H11ANEInDirectPathClient (table 27.4).
const (
	DirectDeviceOpen = iota
	DirectDeviceClose
	DirectSendRequest
	DirectOutputSetEnqueue
	DirectInputsReady
	DirectMemoryMap
	DirectMemoryUnmap
	DirectSessionHint
	DirectSetActiveProcedure
)

// DirectMethods is table 27.4. The first three have the handlers of the control client
// (text above the table); the scalar that selector 5 answers with is the device address.
func DirectMethods() []Method {
	return append(ControlMethods()[:3],
		Method{3, "ANE_ProgramOutputSetEnqueue", 0, 40, 0, 0},
		Method{4, "ANE_ProgramInputsReady", 0, InputsReadySize, 0, 0},
		Method{5, "ANE_MemoryMapRequest", 1, MemoryMapSize, 1, 0},
		Method{6, "ANE_MemoryUnMapRequest", 0, MemoryMapSize, 0, 0},
		Method{7, "ANE_SessionHintRequest", 0, 16, 0, 24},
		Method{8, "ANE_ProgramChainingSetActiveProcedure", 0, 32, 0, 0})
}
