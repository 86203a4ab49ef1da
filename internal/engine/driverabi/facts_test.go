package driverabi

import (
	"fmt"
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
	require.Equal(t, 26, SelectorCount)
	c := UserClients()
	require.Equal(t, "_sANEDriverClientMethods", c[0].Array)
	require.EqualValues(t, 0xc08, c[0].ArrayPage)
	require.Equal(t, "_sANEDriverDirectPathClientMethods", c[1].Array)
	require.EqualValues(t, 0xeb0, c[1].ArrayPage)
	require.Equal(t, 0x40, ConnectionOffset)
	require.Equal(t, uint32(0xe00002c5), OpenType)
	require.Equal(t, []string{"ANEServicesDevice", "ANEHWDevice"}, []string{InferenceFrontEnd, AdminFrontEnd})
	require.Equal(t, []string{"ANEProgramLegacyResource", "ANEProgramRTResource"},
		[]string{LegacyResource, RuntimeResource})
}

// Text below listing 27.1; every number has the same meaning in table 27.2.
func TestUserSpaceSelectors(t *testing.T) {
	handlers := map[string]string{"device open": "ANE_DeviceOpen", "send request": "ANE_ProgramSendRequest",
		"create": "ANE_ProgramCreate", "prepare": "ANE_ProgramPrepare", "destroy": "ANE_ProgramDestroy",
		"version query": "ANE_GetVersion", "firmware load": "ANE_LoadFirmware"}
	var numbers []int
	for _, s := range UserSpaceSelectors() {
		numbers = append(numbers, s.Selector)
		require.Equal(t, handlers[s.Call], ControlMethods()[s.Selector].Handler)
	}
	require.Equal(t, []int{0, 2, 3, 4, 6, 10, 16}, numbers)
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
	role := ""
	gated := map[string]bool{}
	for _, m := range Catalogue() {
		require.NotEmpty(t, m.Role)
		require.Equal(t, RoutingOpen, m.Routing)
		if m.Role == role {
			b.WriteString(" / " + m.Name)
		} else {
			b.WriteString("\n" + m.Name)
		}
		role = m.Role
		if m.Gate != NoFurtherGate {
			require.EqualValues(t, "privileged-virtual-machine-access", m.Gate)
			gated[m.Name] = true
		}
	}
	require.Equal(t, rows, b.String())
	require.Len(t, Catalogue(), 29)
	require.Equal(t, map[string]bool{"ANE_SendCommand": true, "ANE_ReadANERegister": true, "ANE_WriteANERegister": true,
		"ANE_ExclaveCycle": true, "ANE_ExclaveLoad": true, "ANE_ExclaveEvaluate": true, "ANE_ExclaveUnload": true,
		"ANE_ExclaveReadPropertyValue": true, "ANE_ExclaveWritePropertyValue": true}, gated)
}

func TestEntitlements(t *testing.T) {
	type row struct {
		key     string
		holders int
	}
	for name, c := range map[string]struct {
		have []Entitlement
		want []row
	}{
		"listing 27.6": {KernelGates(), []row{
			{"com.apple.ane.iokit-user-access", 2},
			{"com.apple.ane.allow-dataChaining-access", NotCounted}}},
		"table 27.7": {KernelEntitlements(), []row{
			{"com.apple.ane.realtime-priority-client", NotCounted},
			{"com.apple.ane.allow-system-reserved-priorities", NotCounted},
			{"com.apple.ane.memory", NotCounted},
			{"com.apple.ane.allow-data", NotCounted},
			{"com.apple.private.ane.allow-set-client-hints", NotCounted},
			{"com.apple.private.ane.allow-share-coalition-hints", NotCounted}}},
		"table 27.8": {EntitlementFamily(), []row{
			{"com.apple.ane.iokit-user-access", 2},
			{"com.apple.ane.allow-dataChaining-access", NotCounted},
			{"com.apple.aned.private.allow", 18},
			{"com.apple.aned.private.ANEAccess.allow", 14},
			{"com.apple.aned.private.adapterWeight.allow", 5},
			{"com.apple.aned.private.processModelShare.allow", 4},
			{"com.apple.aned.private.secondaryANECompilerServiceAccess.allow", 1},
			{"com.apple.aned.private.aggressivePowerSaving", NotCounted},
			{"com.apple.aned.private.modelPurgeInAllPartitions", NotCounted},
			{"com.apple.security.temporary-exception.iokit-user-client-class", 27},
			{"com.apple.security.ts.ane-client", 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			var have []row
			for _, e := range c.have {
				have = append(have, row{e.Key, e.Holders})
				require.Equal(t, name, e.Source)
				require.NotEmpty(t, e.Capability)
				require.Equal(t, strings.HasPrefix(e.Key, "com.apple.aned."), e.Enforcer == Broker, e.Key)
			}
			require.Equal(t, c.want, have)
		})
	}
}

// Every entitlement that an admission names is in a table, or is the one that is not.
func TestAdmissions(t *testing.T) {
	known := map[string]bool{"": true, EntitlementMutableWeightsBuffer: true}
	for _, e := range EntitlementFamily() {
		known[e.Key] = true
	}
	seen := map[string]Admission{}
	for _, a := range Admissions() {
		require.True(t, known[a.Entitlement], a.Method)
		require.NotContains(t, seen, a.Method)
		require.Contains(t, []Tier{"", "restricted", "unrestricted", "per-user"}, a.Tier)
		seen[a.Method] = a
	}
	for _, m := range []string{"compile", "load", "unload", "exists", "purge"} {
		require.Equal(t, Unrestricted, seen[m].Tier, m)
		require.Empty(t, seen[m].Entitlement, m)
	}
	for _, m := range []string{"begin real-time task", "end real-time task", "echo", "real-time load"} {
		require.Equal(t, Restricted, seen[m].Tier, m)
		require.Equal(t, "com.apple.aned.private.allow", seen[m].Entitlement, m)
	}
	for _, m := range []string{"adapter weights", "process model share", "aggressive power saving"} {
		require.Equal(t, Restricted, seen[m].Tier, "text below table 27.8: %s", m)
		require.NotEmpty(t, seen[m].Entitlement, m)
	}
	require.Equal(t, []string{"com.apple.appleneuralengine", "com.apple.appleneuralengine.private"},
		[]string{UnrestrictedService, RestrictedService})
	require.EqualValues(t, "per-user", PerUser)
	restricted := 0
	for _, a := range InstanceArguments() {
		if a.Tier == Restricted {
			restricted++
			require.Equal(t, "aggressive power saving", a.Name)
		}
	}
	require.Equal(t, 1, restricted)
	require.Len(t, InstanceArguments(), 4)
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
		{"CPU subtype", "ANEDevicePropertyCPUSubType", "4"},
		{"internal build", "ANEDevicePropertyIsInternalBuild", "No"},
	}
	have := DeviceProperties()
	require.Len(t, have, len(want))
	for i, w := range want {
		value := have[i].Text
		if value == "" {
			value = fmt.Sprint(have[i].Number)
		}
		require.Equal(t, w, struct{ name, key, value string }{have[i].Name, have[i].Key, value})
		require.NotEmpty(t, have[i].Meaning)
	}
	require.EqualValues(t, 0x60, have[1].Number)
	require.Equal(t, [3]int{0, 0, 1}, [3]int{ControlClientsAtRest, DirectClientsAtRest, HintsClientsAtRest})
	require.Equal(t, "H11ANEIn", DeviceService)
	require.Equal(t, "DeviceProperties", DevicePropertiesKey)
}

// Section 9 of the facts.
func TestBoards(t *testing.T) {
	want := map[uint32]string{1: "h11", 4: "h11", 2: "m9", 8: "h12", 32: "h13", 64: "h13g", 96: "h13g", 112: "h14",
		128: "h14g", 160: "h14g", 144: "h15", 176: "h15g", 192: "h15g", 224: "h15g", 208: "h16", 256: "h16g",
		272: "h16g", 240: "m11", 512: "h17", 528: "h17g", 768: "h18"}
	have := map[uint32]string{}
	for _, b := range Boards() {
		have[b.Type] = b.Subtype
		if b.G {
			have[b.Type] += "g"
		}
	}
	require.Equal(t, want, have)
	require.Len(t, Boards(), len(want))
}
