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
	r := newRig(t, Options{})
	c, other := r.opened(privileged), r.opened(privileged)
	a, b := r.surface(20000), r.surface(1)
	at, ret := map1(c, 0, a, b)
	require.Equal(t, ok, ret)
	require.Equal(t, uint64(deviceStart), at)
	second, ret := map1(other, 0, b)
	require.Equal(t, ok, ret)
	require.Equal(t, at+32<<10, second, "its range, whichever client maps it; 16 KiB pages")
	again, ret := map1(c, 1, b, a)
	require.Equal(t, ok, ret)
	require.Equal(t, at, again)
	require.Equal(t, 2, r.driver.Stats().Mapped)

	require.ErrorIs(t, r.driver.RemoveSurface(a), ane.ErrInUse)
	require.Equal(t, ok, unmap1(c, a, b))
	require.Equal(t, ok, unmap1(c, a, b))
	require.Equal(t, bad, unmap1(c, a), "no more claims")
	require.Equal(t, 1, r.driver.Stats().Mapped, "the other client's")
	require.NoError(t, r.driver.RemoveSurface(a))
	require.NoError(t, other.Close(context.Background()))
	require.Zero(t, r.driver.Stats().Mapped, "unmapped when the client goes")
	require.NoError(t, r.driver.RemoveSurface(b))
}

func TestMapRefusals(t *testing.T) {
	r := newRig(t, Options{})
	c := r.opened(privileged)
	a, b := r.surface(1), r.surface(1)
	_, ret := map1(c, 1, a)
	require.Equal(t, bad, ret, "answers for a surface that is not listed")
	_, ret = map1(c, 0)
	require.Equal(t, bad, ret, "none")
	_, ret = map1(c, 0, a, a+b+1)
	require.Equal(t, bad, ret, "one is unknown")
	require.Zero(t, r.driver.Stats().Mapped, "all or none")
	_, ret = map1(c, 0, a)
	require.Equal(t, ok, ret)
	require.Equal(t, bad, unmap1(c, a, a), "one claim is not two")
	require.Equal(t, ok, unmap1(c, a))
	many := make([]uint32, driverabi.MaxSurfaces)
	for i := range many {
		many[i] = a
	}
	_, ret = map1(c, 127, many...)
	require.Equal(t, ok, ret)
	require.Equal(t, bad, unmap1(c, a, b), "one is not mapped")
	require.Equal(t, ok, unmap1(c, many...))
	require.Zero(t, r.driver.Stats().Mapped)

	s := Memory(many...)
	le.PutUint32(s, driverabi.MaxSurfaces+1)
	require.Equal(t, bad, c.Direct(5, &driverabi.Args{ScalarIn: []uint64{0}, StructIn: s, ScalarOut: []uint64{0}}))
	require.Equal(t, bad, c.Direct(6, &driverabi.Args{StructIn: s}))
}

func TestDeviceSpaceFull(t *testing.T) {
	r := newRig(t, Options{})
	c := r.opened(privileged)
	a, b := r.surface(1), r.surface(1)
	whole := r.driver.iommu
	one := dart.Range{At: deviceStart, Size: dart.PageSize}
	r.driver.iommu = dart.NewTable(one)
	_, ret := map1(c, 0, a, a, b)
	require.Equal(t, driverabi.NoSpace, ret)
	require.Equal(t, []dart.Range{one}, r.driver.iommu.Free(), "all or none")
	require.Zero(t, r.driver.Stats().Mapped)
	r.driver.iommu = whole
}

// The address of a surface is memory of the device, until the last claim goes.
func TestDeviceReachesSurfaces(t *testing.T) {
	r := newRig(t, Options{})
	c, other := r.opened(privileged), r.opened(privileged)
	id := r.surface(3 * dart.PageSize)
	at, ret := map1(c, 0, id)
	require.Equal(t, ok, ret)
	again, ret := map1(other, 0, id)
	require.Equal(t, ok, ret)
	require.Equal(t, at, again)
	bytes := r.driver.surfaces[id].block.Bytes()
	iommu := r.driver.iommu
	require.NoError(t, iommu.Store(at+dart.PageSize-1, []byte{1, 2, 3}))
	require.Equal(t, []byte{0, 1, 2, 3, 0}, bytes[dart.PageSize-2:dart.PageSize+3])
	require.Equal(t, ok, unmap1(c, id))
	require.NoError(t, iommu.Reach(at, 3*dart.PageSize, dart.Read|dart.Write), "the other client has it")
	require.Equal(t, ok, unmap1(other, id))
	r.driver.iommu = dart.NewTable(dart.Range{}) // whose faults the rig does not count
	var fault *dart.Fault
	require.ErrorAs(t, iommu.Reach(at, 1, dart.Read), &fault)
	require.Equal(t, dart.Fault{At: at, Access: dart.Read}, *fault)
	r.driver.iommu = newIOMMU()
}

func TestUnmapWhileInFlight(t *testing.T) {
	r := newRig(t, Options{})
	begun, let := r.hold()
	c := r.opened(func() ClientInfo { i := privileged; i.Wake = func(Completion) {}; return i }())
	token := r.prepared(c, r.program())
	surfaces, spare := r.pair(c), r.pair(c)
	_, ret := ask{token: token, port: 1, surfaces: surfaces}.send(c)
	require.Equal(t, ok, ret)
	within(t, begun)
	require.Equal(t, driverabi.Busy, unmap1(c, surfaces[0]))
	require.Equal(t, driverabi.Busy, unprepare1(c, token))
	require.Equal(t, ok, unmap1(c, spare...), "others may go")
	_, ret = map1(c, 0, surfaces[0])
	require.Equal(t, ok, ret)
	require.Equal(t, ok, unmap1(c, surfaces[0]), "a claim that is not the last")
	let()
	soon(t, func() bool { return r.driver.Stats().Completed == 1 }, "completion")
	require.Equal(t, 1, r.driver.Stats().Bound)
	require.Equal(t, ok, unmap1(c, surfaces[0]))
	require.Zero(t, r.driver.Stats().Bound, "what was bound to it went first")
	_, ret = ask{token: token, sequence: 1, surfaces: surfaces}.send(c)
	require.Equal(t, bad, ret, "not mapped")
}

// TestBlockIsHeld: a surface keeps its Block open, and only that long.
func TestBlockIsHeld(t *testing.T) {
	r := newRig(t, Options{})
	b, err := unimem.Open(1)
	require.NoError(t, err)
	id, err := r.driver.AddSurface(b)
	require.NoError(t, err)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.NoError(t, r.driver.RemoveSurface(id))
	require.NoError(t, b.Close())
	_, err = r.driver.AddSurface(b)
	require.ErrorIs(t, err, ane.ErrStale)

	// A driver that closes gives back what it has; a session that removes its surfaces after that has no error.
	b, err = unimem.Open(1)
	require.NoError(t, err)
	id, err = r.driver.AddSurface(b)
	require.NoError(t, err)
	require.NoError(t, r.driver.Close(t.Context()))
	require.NoError(t, r.driver.RemoveSurface(id))
	require.NoError(t, b.Close())
}
