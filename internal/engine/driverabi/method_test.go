package driverabi

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows as the source prints them: selector, handler, scalar in, struct in, scalar out,
// struct out.
const (
	table272 = `
| 0 | ANE_DeviceOpen | 0 | 104 | 0 | 104 |
| 1 | ANE_DeviceClose | 0 | 0 | 0 | 0 |
| 2 | ANE_ProgramSendRequest | 1 | 2376 | 0 | 40 |
| 3 | ANE_ProgramCreate | 0 | 32 | 0 | 0 |
| 4 | ANE_ProgramPrepare | 0 | 56 | 0 | 56 |
| 5 | ANE_ProgramUnprepare | 0 | 56 | 0 | 0 |
| 6 | ANE_ProgramDestroy | 0 | 16 | 0 | 0 |
| 7 | ANE_GetStatus | 0 | 0 | 0 | 32 |
| 8 | ANE_ProgramCreateInstance | 0 | 32 | 0 | 0 |
| 9 | ANE_ProgramChainingPrepare | 0 | 16 | 0 | 24 |
| 10 | ANE_GetVersion | 0 | 0 | 1 | 0 |
| 11 | ANE_RegisterDebugWorkProcessor | 0 | 24 | 0 | 0 |
| 12 | ANE_UnregisterDebugWorkProcessor | 0 | 0 | 0 | 0 |
| 13 | ANE_GetDebugWorkProcessorItem | 2 | 0 | 0 | 0 |
| 14 | ANE_CompleteDebugWorkProcessorItem | 2 | 0 | 0 | 0 |
| 15 | ANE_ReleaseDebugWorkProcessorBuffers | 0 | 0 | 0 | 0 |
| 16 | ANE_LoadFirmware | 3 | 0 | 0 | 0 |`
	table274 = `
| 0 | ANE_DeviceOpen | 0 | 104 | 0 | 104 |
| 1 | ANE_DeviceClose | 0 | 0 | 0 | 0 |
| 2 | ANE_ProgramSendRequest | 1 | 2376 | 0 | 40 |
| 3 | ANE_ProgramOutputSetEnqueue | 0 | 40 | 0 | 0 |
| 4 | ANE_ProgramInputsReady | 0 | 3104 | 0 | 0 |
| 5 | ANE_MemoryMapRequest | 1 | 2080 | 1 | 0 |
| 6 | ANE_MemoryUnMapRequest | 0 | 2080 | 0 | 0 |
| 7 | ANE_SessionHintRequest | 0 | 16 | 0 | 24 |
| 8 | ANE_ProgramChainingSetActiveProcedure | 0 | 32 | 0 | 0 |`
)

// printed is a table as the source prints it.
func printed(methods []Method) string {
	var b strings.Builder
	for _, m := range methods {
		b.WriteString("\n| " + strconv.Itoa(m.Selector) + " | " + m.Handler + " |")
		for _, n := range []uint32{m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut} {
			b.WriteString(" " + strconv.Itoa(int(n)) + " |")
		}
	}
	return b.String()
}

func TestTable272(t *testing.T) {
	m := ControlMethods()
	require.Equal(t, table272, printed(m))
	require.Len(t, m, 0x11, "listing 27.3")
	for _, x := range m {
		require.Equal(t, x.Selector == 16, x.Disabled(), "text below table 27.3: only selector 16 is inactive")
		require.Equal(t, x.Selector == 2, x.Async(), "text below table 27.6: selector 2 alone is asynchronous")
	}
}

func TestTable274(t *testing.T) {
	m := DirectMethods()
	require.Equal(t, table274, printed(m))
	require.Len(t, m, 0x9, "listing 27.3")
	require.Equal(t, ControlMethods()[:3], m[:3], "text above table 27.4: the first three are the control client's")
	for _, x := range m {
		require.False(t, x.Disabled())
		require.Equal(t, x.Selector == 2, x.Async())
	}
}

func TestSelectorNames(t *testing.T) {
	control, direct := ControlMethods(), DirectMethods()
	for selector, handler := range map[int]string{
		ControlDeviceOpen: "ANE_DeviceOpen", ControlDeviceClose: "ANE_DeviceClose",
		ControlSendRequest: "ANE_ProgramSendRequest", ControlProgramCreate: "ANE_ProgramCreate",
		ControlProgramPrepare: "ANE_ProgramPrepare", ControlProgramUnprepare: "ANE_ProgramUnprepare",
		ControlProgramDestroy: "ANE_ProgramDestroy", ControlGetStatus: "ANE_GetStatus",
		ControlProgramCreateInstance:        "ANE_ProgramCreateInstance",
		ControlProgramChainingPrepare:       "ANE_ProgramChainingPrepare",
		ControlGetVersion:                   "ANE_GetVersion",
		ControlRegisterDebugWorkProcessor:   "ANE_RegisterDebugWorkProcessor",
		ControlUnregisterDebugWorkProcessor: "ANE_UnregisterDebugWorkProcessor",
		ControlGetDebugWorkItem:             "ANE_GetDebugWorkProcessorItem",
		ControlCompleteDebugWorkItem:        "ANE_CompleteDebugWorkProcessorItem",
		ControlReleaseDebugWorkBuffers:      "ANE_ReleaseDebugWorkProcessorBuffers",
		ControlLoadFirmware:                 "ANE_LoadFirmware",
	} {
		require.Equal(t, handler, control[selector].Handler)
	}
	for selector, handler := range map[int]string{
		DirectDeviceOpen: "ANE_DeviceOpen", DirectDeviceClose: "ANE_DeviceClose",
		DirectSendRequest: "ANE_ProgramSendRequest", DirectOutputSetEnqueue: "ANE_ProgramOutputSetEnqueue",
		DirectInputsReady: "ANE_ProgramInputsReady", DirectMemoryMap: "ANE_MemoryMapRequest",
		DirectMemoryUnmap: "ANE_MemoryUnMapRequest", DirectSessionHint: "ANE_SessionHintRequest",
		DirectSetActiveProcedure: "ANE_ProgramChainingSetActiveProcedure",
	} {
		require.Equal(t, handler, direct[selector].Handler)
	}
}

// A table is the caller's: changing it changes no other.
func TestTablesAreFresh(t *testing.T) {
	m := ControlMethods()
	m[0].StructIn = 1
	d := DirectMethods()
	d[2].StructIn = 1
	require.Equal(t, table272, printed(ControlMethods()))
	require.Equal(t, table274, printed(DirectMethods()))
}

// Text below listing 27.4: no entry of either client uses the sentinel.
func TestNoSentinel(t *testing.T) {
	for _, m := range append(ControlMethods(), DirectMethods()...) {
		sizes := []uint32{m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut}
		require.NotContains(t, sizes, uint32(0xffffffff), m.Handler)
	}
}
