package driverabi

// Placement says where a structure travels: the client, its selector and the direction.
type Placement struct {
	Client   string // ControlClient or DirectClient
	Selector int
	Output   bool // from the kernel to the client
	New      func() Structure
}

// Placements are all structures of tables 27.2 and 27.4, by client and selector.
// Methods whose size is 0 have none.
func Placements() []Placement {
	info := func() Structure { return new(DeviceInfo) }
	request := func() Structure { return new(SendRequest) }
	reply := func() Structure { return new(SendReply) }
	prepare := func() Structure { return new(ProgramPrepare) }
	return []Placement{
		{ControlClient, ControlDeviceOpen, false, info},
		{ControlClient, ControlDeviceOpen, true, info},
		{ControlClient, ControlSendRequest, false, request},
		{ControlClient, ControlSendRequest, true, reply},
		{ControlClient, ControlProgramCreate, false, func() Structure { return new(ProgramCreate) }},
		{ControlClient, ControlProgramPrepare, false, prepare},
		{ControlClient, ControlProgramPrepare, true, prepare},
		{ControlClient, ControlProgramUnprepare, false, func() Structure { return new(ProgramUnprepare) }},
		{ControlClient, ControlProgramDestroy, false, func() Structure { return new(ProgramDestroy) }},
		{ControlClient, ControlGetStatus, true, func() Structure { return new(Status) }},
		{ControlClient, ControlProgramCreateInstance, false, func() Structure { return new(CreateInstance) }},
		{ControlClient, ControlProgramChainingPrepare, false, func() Structure { return new(ChainingPrepare) }},
		{ControlClient, ControlProgramChainingPrepare, true, func() Structure { return new(ChainingPrepareReply) }},
		{ControlClient, ControlRegisterDebugWorkProcessor, false, func() Structure { return new(DebugWorkProcessor) }},
		{DirectClient, DirectDeviceOpen, false, info},
		{DirectClient, DirectDeviceOpen, true, info},
		{DirectClient, DirectSendRequest, false, request},
		{DirectClient, DirectSendRequest, true, reply},
		{DirectClient, DirectOutputSetEnqueue, false, func() Structure { return new(OutputSetEnqueue) }},
		{DirectClient, DirectInputsReady, false, func() Structure { return new(InputsReady) }},
		{DirectClient, DirectMemoryMap, false, func() Structure { return new(MemoryMap) }},
		{DirectClient, DirectMemoryUnmap, false, func() Structure { return new(MemoryUnmap) }},
		{DirectClient, DirectSessionHint, false, func() Structure { return new(SessionHint) }},
		{DirectClient, DirectSessionHint, true, func() Structure { return new(SessionHintReply) }},
		{DirectClient, DirectSetActiveProcedure, false, func() Structure { return new(SetActiveProcedure) }},
	}
}
