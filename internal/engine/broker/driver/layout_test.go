package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Every message is as long as the structure of its selector.
func TestMessagesFillTheirStructures(t *testing.T) {
	control, direct := driverabi.ControlMethods(), driverabi.DirectMethods()
	for _, c := range []struct {
		message any
		size    uint32
	}{
		{Create{}, control[3].StructIn},
		{Prepare{}, control[4].StructIn},
		{Prepare{}, control[4].StructOut},
		{Unprepare{}, control[5].StructIn},
		{Destroy{}, control[6].StructIn},
		{Status{}, control[7].StructOut},
		{Instance{}, control[8].StructIn},
		{Chain{}, control[9].StructIn},
		{Chained{}, control[9].StructOut},
		{OutputSet{}, direct[3].StructIn},
		{Hint{}, direct[7].StructIn},
		{Hinted{}, direct[7].StructOut},
		{Procedure{}, direct[8].StructIn},
	} {
		require.Len(t, Bytes(c.message), int(c.size), "%T", c.message)
	}
	x := Instance{Base: 1 << 40, Resource: 2, Flags: KeepWired, Depth: 3}
	require.Equal(t, x, Parse[Instance](Bytes(x)))
}
