package driverabi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// named are the documented fields of s as the source prints them.
func named(s Structure) map[string]int {
	out := map[string]int{}
	for _, f := range s.Fields() {
		out[f.Name] = f.Offset
	}
	return out
}

func TestListing272Names(t *testing.T) {
	require.Equal(t, map[string]int{"asyncWakePort": 0x08, "scalarInput": 0x10, "scalarInputCount": 0x20,
		"structureInput": 0x30, "structureInputSize": 0x38, "scalarOutput": 0x48, "scalarOutputCount": 0x50,
		"structureOutput": 0x58, "structureOutputSize": 0x60}, named(new(ArgsBlock)))
}

func TestListing274Names(t *testing.T) {
	require.Equal(t, map[string]int{"function": 0x00, "checkScalarInputCount": 0x08, "checkStructureInputSize": 0x0c,
		"checkScalarOutputCount": 0x10, "checkStructureOutputSize": 0x14}, named(new(DispatchRecord)))
}

func TestTable273Names(t *testing.T) {
	require.Equal(t, map[string]int{"session token; in the input the usage type, one byte": 0x00,
		"callback function pointer or board id": 0x08, "receiver context pointer": 0x10, "timeout": 0x18,
		"ANE version": 0x48, "number of engines": 0x50, "CPU subtype": 0x60}, named(new(DeviceInfo)))
	require.Equal(t, uint64(0x1111222233334444), HandshakeBoardID)
	require.Equal(t, []uint32{0x2710, 0x20, 256, 1, 4},
		[]uint32{HandshakeTimeout, HandshakeVersion, HandshakeVersionSecond, HandshakeEngines, HandshakeCPUSubtype})
}

func TestTable276Names(t *testing.T) {
	require.Equal(t, map[string]int{"program / instance token": 0x000, "sequence number": 0x008, "priority": 0x010,
		"quality of service": 0x014, "io category": 0x01c, "surface identifier array": 0x020}, named(new(SendRequest)))
	require.Equal(t, map[string]int{"sequence": 0x00, "result": 0x04, "echoed token": 0x08, "status flag": 0x20},
		named(new(SendReply)))
}

// Text below listing 27.6, and the gates of that listing in its order.
func TestCapabilities(t *testing.T) {
	require.Equal(t, []Capability{{"isPrivileged", "com.apple.ane.iokit-user-access"},
		{"allowDataChaining", "com.apple.ane.allow-dataChaining-access"}}, Capabilities())
	for i, e := range KernelGates() {
		require.Equal(t, e.Key, Capabilities()[i].Entitlement)
	}
}

// Text below table 27.8.
func TestInstanceArguments(t *testing.T) {
	var names []string
	for _, a := range InstanceArguments() {
		names = append(names, a.Name)
	}
	require.Equal(t, []string{"enable power saving", "aggressive power saving", "opt out of model memory unwiring",
		"queue depth"}, names)
	require.Equal(t, []string{"base-model identifier", "weight-file count"}, AdapterArguments())
}

// The structures of which the source gives a size alone have no field, and every byte of
// them is kept and marked unknown.
func TestOpaqueStructures(t *testing.T) {
	opaque := 0
	for name, fresh := range every() {
		s := fresh()
		if len(s.Fields()) > 0 {
			continue
		}
		opaque++
		require.Equal(t, []Range{{0, s.Size()}}, s.Unknown(), name)
		require.Len(t, rest(t, s), s.Size(), name)
	}
	require.Equal(t, 16, opaque)
}
