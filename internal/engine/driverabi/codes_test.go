package driverabi

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReturns(t *testing.T) {
	// Text below listing 27.2, and below table 27.3 for the last.
	require.EqualValues(t, 0xe00002c2, BadArgument)
	require.EqualValues(t, 0xe00002c7, Unsupported)
	require.EqualValues(t, 0xe00002c5, NotOpen)
	require.EqualValues(t, 24, UnsupportedUsage)
	// docs/FACTS.md, Errors.
	require.EqualValues(t, 0xe00002e2, NotPermitted)
	for r, want := range map[Return]string{
		Success: "kIOReturnSuccess (0x0)", BadArgument: "kIOReturnBadArgument (0xe00002c2)",
		Unsupported: "kIOReturnUnsupported (0xe00002c7)", NotOpen: "closed or closing client (0xe00002c5)",
		UnsupportedUsage: "unsupported usage type (0x18)", NoResources: "kIOReturnNoResources (0xe00002be)",
		NotPrivileged: "kIOReturnNotPrivileged (0xe00002c1)", Busy: "kIOReturnBusy (0xe00002d5)",
		Timeout: "kIOReturnTimeout (0xe00002d6)", NotReady: "kIOReturnNotReady (0xe00002d8)",
		NoSpace: "kIOReturnNoSpace (0xe00002db)", NotPermitted: "kIOReturnNotPermitted (0xe00002e2)",
		DeviceError: "kIOReturnDeviceError (0xe00002e9)", Aborted: "kIOReturnAborted (0xe00002eb)",
		0xffffffff: "0xffffffff",
	} {
		require.Equal(t, want, r.String())
		require.EqualError(t, r, want)
		require.ErrorIs(t, fmt.Errorf("call: %w", r), r)
	}
}

// The table of docs/FACTS.md, with the queues that this package chose.
func TestQoS(t *testing.T) {
	for _, c := range []struct {
		qos, priority uint32
		queue         int
		name          string
	}{
		{0, 2, 2, "real time"}, {33, 3, 3, "user interactive"}, {25, 4, 4, "user initiated"},
		{21, 5, 5, "default"}, {17, 5, 6, "utility"}, {9, 6, 7, "background"},
		{1, 5, 5, "other"}, {22, 5, 5, "other"}, {math.MaxUint32, 5, 5, "other"},
	} {
		require.Equal(t, c.priority, Priority(c.qos), "QoS %d", c.qos)
		require.Equal(t, QoSClass{c.qos, c.name, c.priority, c.queue}, Class(c.qos))
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
	require.Equal(t, Class(21).Priority, uint32(5), "the pair of table 27.6")
	require.Equal(t, [4]int{8, 2, 127, 32}, [4]int{Queues, FirstNormalQueue, QueueDepth, Doorbells})
}

// docs/FACTS.md, Errors.
func TestStatuses(t *testing.T) {
	require.Equal(t, [7]int{0x01, 0x02, 0x05, 0x0e, 0x12, 0x15, 0x1d}, [7]int{StatusNoMemory, StatusBadIndex,
		StatusNoResources, StatusNotFound, StatusCancelled, StatusAborted, StatusBadGeometry})
	for status, want := range map[uint32]string{0x01: "no memory", 0x02: "symbol indices or procedure", 0x05: "resources",
		0x12: "cancelled", 0x15: "aborted", 0x1d: "shorter than the program needs", 0xe00002c2: "rejects an argument",
		0xe00002c7: "entitlement", 0xe00002e2: "signature"} {
		require.Contains(t, StatusMeaning(status), want)
	}
	require.Empty(t, StatusMeaning(0x0b))
}

// docs/FACTS.md, Errors.
func TestClientErrors(t *testing.T) {
	want := []int64{28, 29, 34, 42, 47, 53, 54}
	for i := range int64(27) {
		want = append(want, i+1)
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(clientErrors)))
	for code := range clientErrors {
		require.NotEmpty(t, ClientMeaning(code))
	}
	require.Empty(t, ClientMeaning(30))
	require.Equal(t, [3]int{0x2, 0x12, 0x1d}, [3]int{StatusBadIndex, StatusCancelled, StatusBadGeometry})
	require.Equal(t, ErrorDomain+".compiler", CompilerErrorDomain)
}
