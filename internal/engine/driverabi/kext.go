package driverabi

// KextBuild is the build of all three kernel extensions on the M1 generation; they are
// locked to one version (text below table 27.1).
const KextBuild = "9.511.3"

// Kext is a row of table 27.1.
type Kext struct {
	Role     string
	Bundle   string
	Class    string // principal class
	Register string // the name the class registers under or goes by, if another
	Match    string // what its provider has to match
}

// Kexts is table 27.1, in its order.
func Kexts() []Kext {
	return []Kext{
		{"interface and hardware driver", "AppleH11ANEInterface", "ANEHWDevice", "H11ANEIn",
			"RTBuddyService, role ANE"},
		{"per-die abstraction layer", "AppleT8132ANEHAL", "AppleT8132ANEHAL", "", "IOResources"},
		{"multi-engine arbiter", "AppleANELoadBalancer", "ANEDriver", "H1xANELoadBalancer", "IOResources, IOKit"},
	}
}

// UserClient is a line of listing 27.1 with its dispatch array of listing 27.3.
type UserClient struct {
	Class string // vended by ANEHWDevice::newUserClient, by requested type
	Role  string
	// Array is the symbol of the dispatch array and ArrayPage its offset in its 4 KiB
	// page, on an M1 (T6000); empty and 0 for a client without selectors.
	Array     string
	ArrayPage uint32
	Methods   func() []Method // nil for a client without selectors
}

// UserClients is listing 27.1, in its order.
func UserClients() []UserClient {
	return []UserClient{
		{"H11ANEInUserClient", "program lifecycle and inference", "_sANEDriverClientMethods", 0xc08, ControlMethods},
		{"H11ANEInDirectPathClient", "enqueue, memory map, session hint", "_sANEDriverDirectPathClientMethods", 0xeb0,
			DirectMethods},
		{"ANEClientHints", "scheduling hints (setClientHint)", "", 0, nil},
	}
}

// SubmitPath is listing 27.5: what a submit on selector 2 of the control client, or on
// selector 4 of the direct path, passes on its way to the doorbell.
func SubmitPath() []string {
	return []string{
		"H11ANEInUserClient::externalMethod",
		"IOUserClient2022::dispatchExternalMethod",
		"ANE_ProgramSendRequest",
		"ANEClientDevice::programSendRequest",
		"ANEDriver::ANE_ProgramSendRequest",
		"ANEHWDevice::doorBellRing",
		"ANERegisterControl::write32",
	}
}

// CatalogueRow is a row of table 27.5: methods of the direct-path client that are no
// selectors of their own. Each goes through one of the nine selectors or an entry point of
// its own; which one is not documented (text above the table).
type CatalogueRow struct {
	Role string
	// Gated methods need the privileged-virtual-machine-access property, probed when the
	// client is opened, beside the entitlement that opens it (text below the table).
	Gated   bool
	Methods []string
}

// Catalogue is table 27.5, in its order.
func Catalogue() []CatalogueRow {
	return []CatalogueRow{
		{"power domain", false, []string{"ANE_PowerOn", "ANE_PowerOff", "ANE_IsPowered"}},
		{"firmware image", false, []string{"ANE_LoadFirmware", "ANE_ForgetFirmware"}},
		{"raw firmware command", true, []string{"ANE_SendCommand"}},
		{"power policy", false, []string{"ANE_SetPowerManagement", "ANE_SetDynamicPowerGating",
			"ANE_SetPowerGatingHysteresisTime"}},
		{"thermal throttle", false, []string{"ANE_SetThrottlingPercentage"}},
		{"address translation", false, []string{"ANE_SetDARTCacheTTL", "ANE_FlushInactiveDARTMappings",
			"ANE_UnmapDartBuffers"}},
		{"raw register access", true, []string{"ANE_ReadANERegister", "ANE_WriteANERegister"}},
		{"shared-event doorbell of the firmware", false, []string{"ANE_FWSharedEventDoorbellRing"}},
		{"residency of the device", false, []string{"ANE_AddPersistentClient", "ANE_RemovePersistentClient"}},
		{"memory managed for several processes", false, []string{"ANE_MPMMemoryMapRequest",
			"ANE_MPMMemoryUnmapRequest"}},
		{"secure-world load and evaluate", true, []string{"ANE_ExclaveCycle", "ANE_ExclaveLoad", "ANE_ExclaveEvaluate",
			"ANE_ExclaveUnload"}},
		{"secure-world properties", true, []string{"ANE_ExclaveReadPropertyValue", "ANE_ExclaveWritePropertyValue"}},
		{"diagnostics", false, []string{"ANE_GetClientsInfo", "ANE_ShowSharedMemoryAllocations",
			"ANE_ShowModelMemoryStatus"}},
	}
}

// DeviceProperty is a row of table 27.9.
type DeviceProperty struct {
	Name string
	// Key is that of dumps, in the dictionary DeviceProperties of the registry service
	// H11ANEIn, and for the number of engines of H1xANELoadBalancer.
	Key     string
	Value   string
	Meaning string
}

// DeviceProperties is table 27.9: what the driver of an M1 publishes.
func DeviceProperties() []DeviceProperty {
	const p = "ANEDeviceProperty"
	return []DeviceProperty{
		{"architecture type string", p + "TypeANEArchitectureTypeStr", "h13g",
			"family of the microarchitecture, which code is generated for"},
		{"version", p + "ANEVersion", "96", "major version of the hardware"},
		{"minor version", p + "ANEMinorVersion", "17", "minor revision"},
		{"board type", p + "ANEHWBoardType", "96", "board and system on chip"},
		{"board subtype", p + "ANEHWBoardSubType", "0", "variant of the board"},
		{"number of cores", p + "NumANECores", "16",
			"cores of this engine: a topology count, not the width of its multiply array"},
		{"number of engines", p + "NumANEs", "1", "engines; with one the load balancer passes through"},
		{"CPU subtype", p + "ANECPUSubType", "4", "gate of the program ABI"},
		{"internal build", p + "IsInternalBuild", "No", "release build, gates the debug surfaces"},
	}
}
