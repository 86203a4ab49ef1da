package driverabi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable271(t *testing.T) {
	require.Equal(t, "9.511.3", KextBuild)
	var rows []string
	for _, k := range Kexts() {
		rows = append(rows, strings.Join([]string{k.Role, k.Bundle, k.Class, k.Register, k.Match}, " | "))
	}
	require.Equal(t, []string{
		"interface and hardware driver | AppleH11ANEInterface | ANEHWDevice | H11ANEIn | RTBuddyService, role ANE",
		"per-die abstraction layer | AppleT8132ANEHAL | AppleT8132ANEHAL |  | IOResources",
		"multi-engine arbiter | AppleANELoadBalancer | ANEDriver | H1xANELoadBalancer | IOResources, IOKit",
	}, rows)
}

func TestListings271And273(t *testing.T) {
	var classes, roles []string
	selectors := 0
	for _, c := range UserClients() {
		classes, roles = append(classes, c.Class), append(roles, c.Role)
		if c.Methods != nil {
			selectors += len(c.Methods())
		} else {
			require.Empty(t, c.Array)
		}
	}
	require.Equal(t, []string{"H11ANEInUserClient", "H11ANEInDirectPathClient", "ANEClientHints"}, classes)
	require.Equal(t, []string{"program lifecycle and inference", "enqueue, memory map, session hint",
		"scheduling hints (setClientHint)"}, roles)
	require.Equal(t, 26, selectors)
	c := UserClients()
	require.Equal(t, "_sANEDriverClientMethods", c[0].Array)
	require.EqualValues(t, 0xc08, c[0].ArrayPage)
	require.Equal(t, "_sANEDriverDirectPathClientMethods", c[1].Array)
	require.EqualValues(t, 0xeb0, c[1].ArrayPage)
}

func TestTable275(t *testing.T) {
	rows := `
ANE_PowerOn / ANE_PowerOff / ANE_IsPowered | power domain
ANE_LoadFirmware / ANE_ForgetFirmware | firmware image
ANE_SendCommand | raw firmware command
ANE_SetPowerManagement / ANE_SetDynamicPowerGating / ANE_SetPowerGatingHysteresisTime | power policy
ANE_SetThrottlingPercentage | thermal throttle
ANE_SetDARTCacheTTL / ANE_FlushInactiveDARTMappings / ANE_UnmapDartBuffers | address translation
ANE_ReadANERegister / ANE_WriteANERegister | raw register access
ANE_FWSharedEventDoorbellRing | shared-event doorbell of the firmware
ANE_AddPersistentClient / ANE_RemovePersistentClient | residency of the device
ANE_MPMMemoryMapRequest / ANE_MPMMemoryUnmapRequest | memory managed for several processes
ANE_ExclaveCycle / ANE_ExclaveLoad / ANE_ExclaveEvaluate / ANE_ExclaveUnload | secure-world load and evaluate
ANE_ExclaveReadPropertyValue / ANE_ExclaveWritePropertyValue | secure-world properties
ANE_GetClientsInfo / ANE_ShowSharedMemoryAllocations / ANE_ShowModelMemoryStatus | diagnostics`
	var b strings.Builder
	gated := map[string]bool{}
	for _, r := range Catalogue() {
		b.WriteString("\n" + strings.Join(r.Methods, " / ") + " | " + r.Role)
		for _, m := range r.Methods {
			if r.Gated {
				gated[m] = true
			}
		}
	}
	require.Equal(t, rows, b.String())
	require.Equal(t, map[string]bool{"ANE_SendCommand": true, "ANE_ReadANERegister": true, "ANE_WriteANERegister": true,
		"ANE_ExclaveCycle": true, "ANE_ExclaveLoad": true, "ANE_ExclaveEvaluate": true, "ANE_ExclaveUnload": true,
		"ANE_ExclaveReadPropertyValue": true, "ANE_ExclaveWritePropertyValue": true}, gated)
}

func TestEntitlements(t *testing.T) {
	have := map[string]string{}
	var gates []string
	for _, e := range Entitlements() {
		have[e.Source] += "\n" + e.Key + " | " + e.Capability + " | " + e.Holders
		require.Equal(t, strings.HasPrefix(e.Key, "com.apple.aned."), e.Enforcer == Broker, e.Key)
		if e.Enforcer == Kernel && e.Source == "table 27.8" {
			gates = append(gates, e.Key)
		}
	}
	require.Equal(t, []string{"com.apple.ane.iokit-user-access", "com.apple.ane.allow-dataChaining-access"}, gates,
		"listing 27.6")
	require.Equal(t, map[string]string{"table 27.7": `
com.apple.ane.realtime-priority-client | real-time priority | 
com.apple.ane.allow-system-reserved-priorities | priorities reserved to the system | 
com.apple.ane.memory | memory access | 
com.apple.ane.allow-data | data access | 
com.apple.private.ane.allow-set-client-hints | hints for each client | 
com.apple.private.ane.allow-share-coalition-hints | hints shared in a coalition | `, "table 27.8": `
com.apple.ane.iokit-user-access | opening the user client: the hard gate | 2: the broker and its per-user sibling
com.apple.ane.allow-dataChaining-access | resident data chaining on the direct path | kernel-checked at client init
com.apple.aned.private.allow | compile, load and instantiate through the broker | 18
com.apple.aned.private.ANEAccess.allow | variant of the baseline for inference clients | 14
com.apple.aned.private.adapterWeight.allow | adapter weights on a resident base model | 5
com.apple.aned.private.processModelShare.allow | one resident model for several processes | 4
com.apple.aned.private.secondaryANECompilerServiceAccess.allow | the compiler service for large models, which may take longer | 1
com.apple.aned.private.aggressivePowerSaving | the execution mode that saves power aggressively | gate helper only
com.apple.aned.private.modelPurgeInAllPartitions | purging models in all cache partitions | gate helper only
com.apple.security.temporary-exception.iokit-user-client-class | a direct-path client of one's own | 27
com.apple.security.ts.ane-client | a slot in the trust cache for clients that need low latency | 5`}, have)
}

func TestTable279(t *testing.T) {
	want := []DeviceProperty{
		{"architecture type string", "ANEDevicePropertyTypeANEArchitectureTypeStr", "h13g",
			"family of the microarchitecture, which code is generated for"},
		{"version", "ANEDevicePropertyANEVersion", "96",
			"major version of the hardware"},
		{"minor version", "ANEDevicePropertyANEMinorVersion", "17",
			"minor revision"},
		{"board type", "ANEDevicePropertyANEHWBoardType", "96",
			"board and system on chip"},
		{"board subtype", "ANEDevicePropertyANEHWBoardSubType", "0",
			"variant of the board"},
		{"number of cores", "ANEDevicePropertyNumANECores", "16",
			"cores of this engine: a topology count, not the width of its multiply array"},
		{"number of engines", "ANEDevicePropertyNumANEs", "1",
			"engines; with one the load balancer passes through"},
		{"CPU subtype", "ANEDevicePropertyANECPUSubType", "4",
			"gate of the program ABI"},
		{"internal build", "ANEDevicePropertyIsInternalBuild", "No",
			"release build, gates the debug surfaces"},
	}
	require.Equal(t, want, DeviceProperties())
}
