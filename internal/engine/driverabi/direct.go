package driverabi

// Selectors of the direct-path client, H11ANEInDirectPathClient (table 27.4).
const (
	DirectDeviceOpen         = 0
	DirectDeviceClose        = 1
	DirectSendRequest        = 2
	DirectOutputSetEnqueue   = 3
	DirectInputsReady        = 4
	DirectMemoryMap          = 5
	DirectMemoryUnmap        = 6
	DirectSessionHint        = 7
	DirectSetActiveProcedure = 8
)

// DirectCount is how many selectors the direct-path client has (listing 27.3: 0x9).
const DirectCount = 9

// DirectMethods is table 27.4, in the order of its selectors.
func DirectMethods() []Method {
	return append(shared(),
		Method{Selector: 3, Handler: "ANE_ProgramOutputSetEnqueue", StructIn: OutputSetEnqueueSize},
		Method{Selector: 4, Handler: "ANE_ProgramInputsReady", StructIn: InputsReadySize},
		Method{Selector: 5, Handler: "ANE_MemoryMapRequest", ScalarIn: 1, StructIn: MemoryMapSize, ScalarOut: 1},
		Method{Selector: 6, Handler: "ANE_MemoryUnMapRequest", StructIn: MemoryUnmapSize},
		Method{Selector: 7, Handler: "ANE_SessionHintRequest", StructIn: SessionHintSize,
			StructOut: SessionHintReplySize},
		Method{Selector: 8, Handler: "ANE_ProgramChainingSetActiveProcedure", StructIn: SetActiveProcedureSize},
	)
}
