package unimem_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

func TestLayout(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		l, err := unimem.NewLayout(page, 2*page, 3*page, memory)
		require.NoError(t, err)
		require.Equal(t, 6*page, l.Total())
		for i, tape := range []*unimem.Tape{l.Weights(), l.Scratch(), l.History()} {
			_, err := tape.Take(100*(i+1), 1)
			require.NoError(t, err)
			require.ErrorIs(t, tape.Close(), unimem.ErrInUse, "the Layout owns its Tapes")
			require.ErrorIs(t, tape.Block().Close(), unimem.ErrInUse)
		}
		used := func() [3]int { return [3]int{l.Weights().Used(), l.Scratch().Used(), l.History().Used()} }
		require.Equal(t, [3]int{100, 200, 300}, used())
		require.Equal(t, [3]int{page, 2 * page, 3 * page},
			[3]int{l.Weights().Total(), l.Scratch().Total(), l.History().Total()})
		l.ClearPass()
		require.Equal(t, [3]int{100, 0, 300}, used())
		_, err = l.Scratch().Take(1, 1)
		require.NoError(t, err)
		l.ClearTalk()
		require.Equal(t, [3]int{100, 0, 0}, used())

		require.NoError(t, l.History().Block().Retain())
		require.ErrorIs(t, l.Close(), unimem.ErrInUse)
		_, err = l.Weights().Take(1, 1)
		require.NoError(t, err, "a refused Close changes nothing")
		l.History().Block().Release()
		require.NoError(t, l.Close())
		require.NoError(t, l.Close())
		for _, tape := range []*unimem.Tape{l.Weights(), l.Scratch(), l.History()} {
			_, err := tape.Take(1, 1)
			require.Equal(t, unimem.ErrClosed, err)
			require.NoError(t, tape.Close())
		}
		require.Equal(t, 6*page, l.Total())
	})
}

func TestLayoutRefusals(t *testing.T) {
	for _, c := range []struct {
		weights, scratch, history int
		want                      error
	}{
		{0, 1, 1, unimem.ErrZeroSize},
		{1, 0, 1, unimem.ErrZeroSize},
		{1, 1, 0, unimem.ErrZeroSize},
		{1, 1, -1, unimem.ErrSize},
		{1, math.MaxInt, 1, unimem.ErrSize},
		{1, 1, 1 << 60, unimem.ErrCreate},
		{math.MaxInt / 2, math.MaxInt / 2, math.MaxInt / 2, unimem.ErrSize},
	} {
		before := unimem.Live()
		l, err := unimem.NewLayout(c.weights, c.scratch, c.history)
		require.ErrorIs(t, err, c.want)
		require.Nil(t, l)
		require.Equal(t, before, unimem.Live(), "all or none")
	}
	// Each Tape alone fits into the machine, the three together do not.
	third := int(unimem.MachineMemory()/3) + 1
	before := unimem.LastID()
	_, err := unimem.NewLayout(third, third, third)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.ErrorIs(t, err, unimem.ErrSize)
	require.Equal(t, before, unimem.LastID(), "nothing was opened")
	_, err = unimem.NewLayout(1, 1, 1, unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrOption)
	var l *unimem.Layout
	require.NoError(t, l.Close())
	require.NoError(t, new(unimem.Layout).Close())
}

// The last surface fails: the ones before it are freed.
func TestAllOrNothing(t *testing.T) {
	for name, open := range map[string]func(unimem.Option) error{
		"layout": func(o unimem.Option) error { _, err := unimem.NewLayout(1, 1, 1, o); return err },
		"grid": func(o unimem.Option) error {
			_, err := unimem.NewGrid(64, 3, o, unimem.SurfacePerCell())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := unimem.Live()
			f := surfacetest.New(t)
			f.Fail("IOSurfaceLock", 3)
			require.ErrorIs(t, open(blockoption.On(f.Table())), unimem.ErrLock)
			require.Zero(t, f.Live())
			require.Equal(t, before, unimem.Live())
		})
	}
}
