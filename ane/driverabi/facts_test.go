package driverabi

import (
	"errors"
	"fmt"
	"math"
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
	require.Equal(t, []string{"ANEProgramLegacyResource", "ANEProgramRTResource"}, []string{LegacyResource, RuntimeResource})
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

func TestReturns(t *testing.T) {
	// Text below listing 27.2, and below table 27.3 for the last.
	require.EqualValues(t, 0xe00002c2, BadArgument)
	require.EqualValues(t, 0xe00002c7, Unsupported)
	require.EqualValues(t, 0xe00002c5, NotOpen)
	require.EqualValues(t, 24, UnsupportedUsage)
	// Section 6 of the facts.
	require.EqualValues(t, 0xe00002e2, NotPermitted)
	for r, want := range map[Return]string{
		Success: "kIOReturnSuccess (0x0)", BadArgument: "kIOReturnBadArgument (0xe00002c2)",
		Unsupported: "kIOReturnUnsupported (0xe00002c7)", NotOpen: "closed or closing client (0xe00002c5)",
		UnsupportedUsage: "unsupported usage type (0x18)", 0xe00002bc: "kIOReturnError (0xe00002bc)",
		0xe00002bd: "kIOReturnNoMemory (0xe00002bd)", 0xe00002be: "kIOReturnNoResources (0xe00002be)",
		0xe00002c0: "kIOReturnNoDevice (0xe00002c0)", 0xe00002c1: "kIOReturnNotPrivileged (0xe00002c1)",
		0xe00002c9: "kIOReturnInternalError (0xe00002c9)", 0xe00002cc: "kIOReturnCannotLock (0xe00002cc)",
		0xe00002d5: "kIOReturnBusy (0xe00002d5)", 0xe00002d6: "kIOReturnTimeout (0xe00002d6)",
		0xe00002d7: "kIOReturnOffline (0xe00002d7)", 0xe00002d8: "kIOReturnNotReady (0xe00002d8)",
		0xe00002db: "kIOReturnNoSpace (0xe00002db)", 0xe00002de: "kIOReturnCannotWire (0xe00002de)",
		0xe00002e2: "kIOReturnNotPermitted (0xe00002e2)", 0xe00002e8: "kIOReturnOverrun (0xe00002e8)",
		0xe00002e9: "kIOReturnDeviceError (0xe00002e9)", 0xe00002eb: "kIOReturnAborted (0xe00002eb)",
		0xe00002f0: "kIOReturnNotFound (0xe00002f0)", 0xffffffff: "0xffffffff",
	} {
		require.Equal(t, want, r.String())
		require.EqualError(t, r, want)
		if r == Success {
			require.NoError(t, r.Err())
		} else {
			require.ErrorIs(t, fmt.Errorf("call: %w", r.Err()), r)
		}
	}
}

// Listing 27.5 and the text below table 27.6.
func TestDoorbell(t *testing.T) {
	require.Equal(t, 32, Doorbells)
	for i := range uint32(32) {
		mask, err := Doorbell(i)
		require.NoError(t, err)
		require.Equal(t, uint32(math.Pow(2, float64(i))), mask)
	}
	for _, i := range []uint32{32, 33, 64, math.MaxUint32} {
		mask, err := Doorbell(i)
		require.ErrorIs(t, err, ErrRange)
		require.Zero(t, mask)
		require.EqualError(t, err, fmt.Sprintf("driverabi: doorbell index: out of range: want 31, have %d; use an index from 0 to 31", i))
	}
	require.Equal(t, []string{"H11ANEInUserClient::externalMethod", "IOUserClient2022::dispatchExternalMethod",
		"ANE_ProgramSendRequest", "ANEClientDevice::programSendRequest", "ANEDriver::ANE_ProgramSendRequest",
		"ANEHWDevice::doorBellRing", "ANERegisterControl::write32"}, SubmitPath())
}

// Text below table 27.6.
func TestStoreBack(t *testing.T) {
	require.Equal(t, "S3_3_C15_C8_0", PostedWriteRegister)
	require.Equal(t, 39, PostedWriteBit)
	for status, want := range map[uint64][2]bool{0: {}, 2: {true, false}, 0x80: {false, true}, 0x82: {true, true},
		math.MaxUint64: {true, true}, ^uint64(0x82): {}} {
		cache, rejected := StoreFailed(status)
		require.Equal(t, want, [2]bool{cache, rejected}, "%#x", status)
	}
}

// The table of section 7 of the facts.
func TestQoS(t *testing.T) {
	for _, c := range []struct {
		qos, priority, queue uint32
		known                bool
		name                 string
	}{
		{0, 2, 2, true, "real time"}, {33, 3, 0, false, "user interactive"}, {25, 4, 0, false, "user initiated"},
		{21, 5, 0, false, "default"}, {17, 5, 0, false, "utility"}, {9, 6, 0, false, "background"},
		{1, 5, 5, true, "other"}, {22, 5, 5, true, "other"}, {math.MaxUint32, 5, 5, true, "other"},
	} {
		require.Equal(t, c.priority, Priority(c.qos), "QoS %d", c.qos)
		queue, known := QueueIndex(c.qos)
		require.Equal(t, c.queue, queue, "QoS %d", c.qos)
		require.Equal(t, c.known, known, "QoS %d", c.qos)
		require.Equal(t, c.name, Class(c.qos).Name)
	}
	require.Len(t, QoSClasses(), 6)
	for i, c := range QoSClasses() {
		require.Equal(t, c, Class(c.QoS))
		if i > 0 {
			require.GreaterOrEqual(t, c.Priority, QoSClasses()[i-1].Priority)
		}
	}
	QoSClasses()[0].Priority = 99
	require.EqualValues(t, 2, Priority(0), "the table is a copy")
	require.Equal(t, Class(ObservedQoS).Priority, ObservedPriority, "the pair of table 27.6")
	require.Equal(t, [3]int{8, 2, 127}, [3]int{Queues, FirstNormalQueue, QueueDepth})
}

// Section 6 of the facts.
func TestClientErrors(t *testing.T) {
	var codes []int
	for _, e := range ClientErrors() {
		codes = append(codes, e.Code)
		require.NotEmpty(t, e.Meaning)
	}
	want := []int{29}
	for i := 27; i >= 1; i-- {
		want = append([]int{i}, want...)
	}
	require.Equal(t, want, codes)
	for driver, want := range map[int]int{14: 23, 15: 3} {
		code, known := ClientErrorOf(driver)
		require.True(t, known)
		require.Equal(t, want, code)
	}
	_, known := ClientErrorOf(13)
	require.False(t, known)
	require.Equal(t, [6]int{0x2, 0x12, 0x1d, 8, 9, 19},
		[6]int{StatusBadIndex, StatusMapRefused, StatusBadGeometry, StatusTypeFinished, StatusTypeError, StatusTypeOverflow})
	require.Equal(t, ErrorDomain+".compiler", CompilerErrorDomain)
}

func TestErrorText(t *testing.T) {
	err := new(SendRequest).Decode(make([]byte, 2375))
	require.EqualError(t, err, "driverabi: SendRequest: wrong size: want 2376, have 2375; pass a buffer of exactly that many bytes")
	require.False(t, errors.Is(err, ErrRange))
	require.NotContains(t, (&Error{Structure: "x", Err: ErrTable, Hint: "y"}).Error(), "want")
}
