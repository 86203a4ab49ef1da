package driver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/dart"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/unimem"
)

func TestMap(t *testing.T) {
	r := newRig(t)
	c, other := r.opened(privileged), r.opened(privileged)
	a, b := r.surface(20000), r.surface(1)
	at, ret := map1(c, a)
	require.NoError(t, ret)
	require.Equal(t, uint64(deviceStart), at)
	second, ret := map1(other, b)
	require.NoError(t, ret)
	require.Equal(t, at+32<<10, second, "16 KiB pages")
	again, ret := map1(c, b)
	require.NoError(t, ret)
	require.Equal(t, second, again, "its range, whichever client maps it")
	require.Equal(t, 2, r.driver.Stats().Mapped)

	require.ErrorIs(t, r.driver.Remove(uint64(a)), ane.ErrInUse)
	require.NoError(t, unmap1(c, a))
	require.NoError(t, unmap1(c, b))
	require.ErrorIs(t, unmap1(c, a), bad, "not mapped any more")
	require.Equal(t, 1, r.driver.Stats().Mapped, "the other client's")
	require.NoError(t, r.driver.Remove(uint64(a)))
	require.NoError(t, other.Close(context.Background()))
	require.Zero(t, r.driver.Stats().Mapped, "unmapped when the client goes")
	require.NoError(t, r.driver.Remove(uint64(b)))
}

func TestMapRefusals(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	a, program := r.surface(1), r.program()
	for _, number := range []uint32{0, a + 1, uint32(program)} {
		_, ret := map1(c, number)
		require.ErrorIs(t, ret, bad, "not a surface")
	}
	x := driverabi.Args{ScalarIn: []uint64{1}, StructIn: Bytes(Memory{Surface: a}), ScalarOut: []uint64{0}}
	require.ErrorIs(t, c.Direct(5, &x), bad, "another scalar")
	r.mapped(c, a)
	_, ret := map1(c, a)
	require.ErrorIs(t, ret, bad, "mapped already")
	require.NoError(t, unmap1(c, a))
	require.Zero(t, r.driver.Stats().Mapped)
}

func TestDeviceSpaceFull(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	a, b := r.surface(1), r.surface(1)
	whole := r.driver.iommu
	one := dart.Range{At: deviceStart, Size: dart.PageSize}
	r.driver.iommu = dart.NewTable(one)
	r.mapped(c, a)
	_, ret := map1(c, b)
	require.ErrorIs(t, ret, driverabi.NoSpace)
	require.NoError(t, unmap1(c, a))
	require.Equal(t, []dart.Range{one}, r.driver.iommu.Free())
	require.Zero(t, r.driver.Stats().Mapped)
	r.driver.iommu = whole
}

// The address of a surface is memory of the device, until the last claim goes.
func TestDeviceReachesSurfaces(t *testing.T) {
	r := newRig(t)
	c, other := r.opened(privileged), r.opened(privileged)
	id := r.surface(3 * dart.PageSize)
	at, ret := map1(c, id)
	require.NoError(t, ret)
	again, ret := map1(other, id)
	require.NoError(t, ret)
	require.Equal(t, at, again)
	bytes := r.driver.resources[uint64(id)].block.Bytes()
	iommu := r.driver.iommu
	require.NoError(t, iommu.Store(at+dart.PageSize-1, []byte{1, 2, 3}))
	require.Equal(t, []byte{0, 1, 2, 3, 0}, bytes[dart.PageSize-2:dart.PageSize+3])
	require.NoError(t, unmap1(c, id))
	require.NoError(t, iommu.Reach(at, 3*dart.PageSize, dart.Read|dart.Write), "the other client has it")
	require.NoError(t, unmap1(other, id))
	r.driver.iommu = dart.NewTable(dart.Range{}) // whose faults the rig does not count
	var fault *dart.Fault
	require.ErrorAs(t, iommu.Reach(at, 1, dart.Read), &fault)
	require.Equal(t, dart.Fault{At: at, Access: dart.Read}, *fault)
	r.driver.iommu = newIOMMU()
}

func TestUnmapWhileInFlight(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	c := r.opened(func() ClientInfo { i := privileged; i.Wake = func(Completion) {}; return i }())
	token := r.prepared(c, r.program())
	surfaces, spare := r.pair(c), r.pair(c)
	_, ret := ask{token: token, port: 1, surfaces: surfaces}.send(c)
	require.NoError(t, ret)
	within(t, begun)
	require.ErrorIs(t, unmap1(c, surfaces[0]), driverabi.Busy)
	require.ErrorIs(t, unprepare1(c, token), driverabi.Busy)
	require.NoError(t, unmap1(c, spare[0]), "others may go")
	let()
	soon(t, func() bool { return r.driver.Stats().Completed == 1 }, "completion")
	require.Equal(t, 1, r.driver.Stats().Bound)
	require.NoError(t, unmap1(c, surfaces[0]))
	require.Zero(t, r.driver.Stats().Bound, "what was bound to it went first")
	_, ret = ask{token: token, sequence: 1, surfaces: surfaces}.send(c)
	require.ErrorIs(t, ret, bad, "not mapped")
}

// TestBlockIsHeld: a surface keeps its Block open, and only that long.
func TestBlockIsHeld(t *testing.T) {
	r := newRig(t)
	b, err := unimem.Open(1)
	require.NoError(t, err)
	id, err := r.driver.AddSurface(b)
	require.NoError(t, err)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.NoError(t, r.driver.Remove(uint64(id)))
	require.NoError(t, b.Close())
	_, err = r.driver.AddSurface(b)
	require.ErrorIs(t, err, ane.ErrStale)

	// A driver that closes gives back what it has; a session that removes its surfaces after that has no error.
	b, err = unimem.Open(1)
	require.NoError(t, err)
	id, err = r.driver.AddSurface(b)
	require.NoError(t, err)
	require.NoError(t, r.driver.Close(t.Context()))
	require.NoError(t, r.driver.Remove(uint64(id)))
	require.NoError(t, b.Close())
}
