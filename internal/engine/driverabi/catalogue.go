package driverabi

// Gate is the access check of a method beyond the entitlement that opens the client.
type Gate string

// Gates of the method catalogue (text below table 27.5).
const (
	// NoFurtherGate: no other check is documented.
	NoFurtherGate Gate = ""
	// PrivilegedVM is the privileged-virtual-machine-access property, probed when the
	// client is opened. Its key is not documented.
	PrivilegedVM Gate = "privileged-virtual-machine-access"
)

// Routing says how a method of the catalogue gets to the kernel.
type Routing string

// RoutingOpen is the routing of the whole catalogue: through one of the nine selectors
// of the direct path or through an entry point of its own; which one each method takes
// is not documented (text above table 27.5).
const RoutingOpen Routing = "one of the nine direct-path selectors, or a separate entry point"

// CatalogueMethod is a method of table 27.5. None is a selector of its own.
type CatalogueMethod struct {
	Name    string
	Role    string
	Routing Routing
	Gate    Gate
}

// Catalogue is table 27.5, a method a row, in its order. The gate is that of the text
// below it: raw register access, command injection and the exclave methods.
func Catalogue() []CatalogueMethod {
	var out []CatalogueMethod
	add := func(role string, gate Gate, names ...string) {
		for _, name := range names {
			out = append(out, CatalogueMethod{name, role, RoutingOpen, gate})
		}
	}
	add("power domain", NoFurtherGate, "ANE_PowerOn", "ANE_PowerOff", "ANE_IsPowered")
	add("firmware image", NoFurtherGate, "ANE_LoadFirmware", "ANE_ForgetFirmware")
	add("raw firmware command", PrivilegedVM, "ANE_SendCommand")
	add("power policy", NoFurtherGate,
		"ANE_SetPowerManagement", "ANE_SetDynamicPowerGating", "ANE_SetPowerGatingHysteresisTime")
	add("thermal throttle", NoFurtherGate, "ANE_SetThrottlingPercentage")
	add("address translation", NoFurtherGate,
		"ANE_SetDARTCacheTTL", "ANE_FlushInactiveDARTMappings", "ANE_UnmapDartBuffers")
	add("raw register access", PrivilegedVM, "ANE_ReadANERegister", "ANE_WriteANERegister")
	add("shared-event doorbell of the firmware", NoFurtherGate, "ANE_FWSharedEventDoorbellRing")
	add("residency of the device", NoFurtherGate, "ANE_AddPersistentClient", "ANE_RemovePersistentClient")
	add("memory managed for several processes", NoFurtherGate,
		"ANE_MPMMemoryMapRequest", "ANE_MPMMemoryUnmapRequest")
	add("secure-world load and evaluate", PrivilegedVM,
		"ANE_ExclaveCycle", "ANE_ExclaveLoad", "ANE_ExclaveEvaluate", "ANE_ExclaveUnload")
	add("secure-world properties", PrivilegedVM, "ANE_ExclaveReadPropertyValue", "ANE_ExclaveWritePropertyValue")
	add("diagnostics", NoFurtherGate,
		"ANE_GetClientsInfo", "ANE_ShowSharedMemoryAllocations", "ANE_ShowModelMemoryStatus")
	return out
}
