package driverabi

// Selectors of the control client, H11ANEInUserClient (table 27.2).
const (
	ControlDeviceOpen                   = 0
	ControlDeviceClose                  = 1
	ControlSendRequest                  = 2
	ControlProgramCreate                = 3
	ControlProgramPrepare               = 4
	ControlProgramUnprepare             = 5
	ControlProgramDestroy               = 6
	ControlGetStatus                    = 7
	ControlProgramCreateInstance        = 8
	ControlProgramChainingPrepare       = 9
	ControlGetVersion                   = 10
	ControlRegisterDebugWorkProcessor   = 11
	ControlUnregisterDebugWorkProcessor = 12
	ControlGetDebugWorkItem             = 13
	ControlCompleteDebugWorkItem        = 14
	ControlReleaseDebugWorkBuffers      = 15
	ControlLoadFirmware                 = 16
)

// ControlCount is how many selectors the control client has (listing 27.3: 0x11).
const ControlCount = 17

// ControlMethods is table 27.2, in the order of its selectors. LoadFirmware is disabled
// on the documented build: firmware is loaded inside the driver when it starts (text
// below table 27.3).
func ControlMethods() []Method {
	return append(shared(),
		Method{Selector: 3, Handler: "ANE_ProgramCreate", StructIn: ProgramCreateSize},
		Method{Selector: 4, Handler: "ANE_ProgramPrepare", StructIn: ProgramPrepareSize, StructOut: ProgramPrepareSize},
		Method{Selector: 5, Handler: "ANE_ProgramUnprepare", StructIn: ProgramUnprepareSize},
		Method{Selector: 6, Handler: "ANE_ProgramDestroy", StructIn: ProgramDestroySize},
		Method{Selector: 7, Handler: "ANE_GetStatus", StructOut: StatusSize},
		Method{Selector: 8, Handler: "ANE_ProgramCreateInstance", StructIn: CreateInstanceSize},
		Method{Selector: 9, Handler: "ANE_ProgramChainingPrepare", StructIn: ChainingPrepareSize,
			StructOut: ChainingPrepareReplySize},
		Method{Selector: 10, Handler: "ANE_GetVersion", ScalarOut: 1},
		Method{Selector: 11, Handler: "ANE_RegisterDebugWorkProcessor", StructIn: DebugWorkProcessorSize},
		Method{Selector: 12, Handler: "ANE_UnregisterDebugWorkProcessor"},
		Method{Selector: 13, Handler: "ANE_GetDebugWorkProcessorItem", ScalarIn: 2},
		Method{Selector: 14, Handler: "ANE_CompleteDebugWorkProcessorItem", ScalarIn: 2},
		Method{Selector: 15, Handler: "ANE_ReleaseDebugWorkProcessorBuffers"},
		Method{Selector: 16, Handler: "ANE_LoadFirmware", ScalarIn: 3, Disabled: true},
	)
}
