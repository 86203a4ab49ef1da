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
	var classes []string
	selectors := 0
	for _, c := range UserClients() {
		classes = append(classes, c.Class)
		if c.Methods != nil {
			selectors += len(c.Methods())
		} else {
			require.Empty(t, c.Array)
		}
	}
	require.Equal(t, []string{"H11ANEInUserClient", "H11ANEInDirectPathClient", "ANEClientHints"}, classes)
	require.Equal(t, 26, selectors)
	c := UserClients()
	require.Equal(t, "_sANEDriverClientMethods", c[0].Array)
	require.EqualValues(t, 0xc08, c[0].ArrayPage)
	require.Equal(t, "_sANEDriverDirectPathClientMethods", c[1].Array)
	require.EqualValues(t, 0xeb0, c[1].ArrayPage)
}

func TestTable275(t *testing.T) {
	rows := `
ANE_PowerOn / ANE_PowerOff / ANE_IsPowered
ANE_LoadFirmware / ANE_ForgetFirmware
ANE_SendCommand
ANE_SetPowerManagement / ANE_SetDynamicPowerGating / ANE_SetPowerGatingHysteresisTime
ANE_SetThrottlingPercentage
ANE_SetDARTCacheTTL / ANE_FlushInactiveDARTMappings / ANE_UnmapDartBuffers
ANE_ReadANERegister / ANE_WriteANERegister
ANE_FWSharedEventDoorbellRing
ANE_AddPersistentClient / ANE_RemovePersistentClient
ANE_MPMMemoryMapRequest / ANE_MPMMemoryUnmapRequest
ANE_ExclaveCycle / ANE_ExclaveLoad / ANE_ExclaveEvaluate / ANE_ExclaveUnload
ANE_ExclaveReadPropertyValue / ANE_ExclaveWritePropertyValue
ANE_GetClientsInfo / ANE_ShowSharedMemoryAllocations / ANE_ShowModelMemoryStatus`
	var b strings.Builder
	gated := map[string]bool{}
	for _, r := range Catalogue() {
		require.NotEmpty(t, r.Role)
		b.WriteString("\n" + strings.Join(r.Methods, " / "))
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
		have[e.Source] += "\n" + e.Key + " | " + e.Holders
		require.NotEmpty(t, e.Capability)
		require.Equal(t, strings.HasPrefix(e.Key, "com.apple.aned."), e.Enforcer == Broker, e.Key)
		if e.Enforcer == Kernel && e.Source == "table 27.8" {
			gates = append(gates, e.Key)
		}
	}
	require.Equal(t, []string{"com.apple.ane.iokit-user-access", "com.apple.ane.allow-dataChaining-access"}, gates,
		"listing 27.6")
	require.Equal(t, map[string]string{"table 27.7": `
com.apple.ane.realtime-priority-client | 
com.apple.ane.allow-system-reserved-priorities | 
com.apple.ane.memory | 
com.apple.ane.allow-data | 
com.apple.private.ane.allow-set-client-hints | 
com.apple.private.ane.allow-share-coalition-hints | `, "table 27.8": `
com.apple.ane.iokit-user-access | 2: the broker and its per-user sibling
com.apple.ane.allow-dataChaining-access | kernel-checked at client init
com.apple.aned.private.allow | 18
com.apple.aned.private.ANEAccess.allow | 14
com.apple.aned.private.adapterWeight.allow | 5
com.apple.aned.private.processModelShare.allow | 4
com.apple.aned.private.secondaryANECompilerServiceAccess.allow | 1
com.apple.aned.private.aggressivePowerSaving | gate helper only
com.apple.aned.private.modelPurgeInAllPartitions | gate helper only
com.apple.security.temporary-exception.iokit-user-client-class | 27
com.apple.security.ts.ane-client | 5`}, have)
}

func TestTable279(t *testing.T) {
	want := []struct{ name, key, value string }{
		{"architecture type string", "ANEDevicePropertyTypeANEArchitectureTypeStr", "h13g"},
		{"version", "ANEDevicePropertyANEVersion", "96"},
		{"minor version", "ANEDevicePropertyANEMinorVersion", "17"},
		{"board type", "ANEDevicePropertyANEHWBoardType", "96"},
		{"board subtype", "ANEDevicePropertyANEHWBoardSubType", "0"},
		{"number of cores", "ANEDevicePropertyNumANECores", "16"},
		{"number of engines", "ANEDevicePropertyNumANEs", "1"},
		{"CPU subtype", "ANEDevicePropertyANECPUSubType", "4"},
		{"internal build", "ANEDevicePropertyIsInternalBuild", "No"},
	}
	have := DeviceProperties()
	require.Len(t, have, len(want))
	for i, w := range want {
		require.Equal(t, w, struct{ name, key, value string }{have[i].Name, have[i].Key, have[i].Value})
		require.NotEmpty(t, have[i].Meaning)
	}
}
