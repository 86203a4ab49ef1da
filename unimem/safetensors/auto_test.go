package safetensors

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func TestDecide(t *testing.T) {
	const gib = 1 << 30
	calm := surroundings{size: gib, need: gib, room: 2 * gib, available: 16 * gib, pressure: procmem.Pressure{Stalled: 0}}
	for name, c := range map[string]struct {
		change func(*surroundings)
		maps   bool
		why    string
	}{
		"cold": {func(*surroundings) {}, false, "Auto reads: 0% of the files are in the page cache"},
		"cool": {func(s *surroundings) { s.resident = 0.09 }, false, "Auto reads: 9% of the files are in the page cache"},
		"warm": {func(s *surroundings) { s.resident = 0.1 }, true, "Auto maps: 10% of the files are in the page cache"},
		"unknown cache": {func(s *surroundings) { s.resident = -1 }, true,
			"Auto maps: what the page cache has is unknown"},
		"no room": {func(s *surroundings) { s.room = gib / 2 }, true,
			"Auto maps: the tape has 512.0 MiB free, the files need 1024.0 MiB"},
		"tiny and cold": {func(s *surroundings) { s.size = 1000 }, true, "Auto maps: the files have less than 1 MiB"},
		"little memory": {func(s *surroundings) { s.available = gib }, true,
			"Auto maps: the files have 1024.0 MiB, the system has 1024.0 MiB available"},
		"little memory under pressure": {func(s *surroundings) { s.available, s.pressure.Stalled = gib, 90 }, true,
			"Auto maps: the files have 1024.0 MiB, the system has 1024.0 MiB available"},
		"Linux, some tasks wait": {func(s *surroundings) { s.resident, s.pressure.Stalled = 1, 10 }, true,
			"Auto maps: 100% of the files are in the page cache"},
		"Linux, pressure": {func(s *surroundings) { s.resident, s.pressure.Stalled = 1, 12 }, false,
			"Auto reads: tasks waited for memory for 12% of the last ten seconds"},
		"macOS, normal": {func(s *surroundings) { s.resident, s.pressure = 1, procmem.Pressure{Stalled: -1, Level: 1} },
			true, "Auto maps: 100% of the files are in the page cache"},
		"macOS, a warning": {func(s *surroundings) { s.resident, s.pressure = 1, procmem.Pressure{Stalled: -1, Level: 2} },
			false, "Auto reads: the system states memory pressure of level 2"},
		"unknown memory": {func(s *surroundings) { s.available, s.pressure.Stalled = math.MaxUint64, -1 }, false,
			"Auto reads: 0% of the files are in the page cache"},
	} {
		t.Run(name, func(t *testing.T) {
			s := calm
			c.change(&s)
			maps, why := s.decide()
			require.Equal(t, c.maps, maps)
			require.Equal(t, c.why, why)
		})
	}
}

func TestAutoSaysWhatItDid(t *testing.T) {
	path, data := large(t) // just written, so in the page cache
	f, err := Load(t.Context(), path, tape(t, 1), Auto())
	require.NoError(t, err)
	r := f.Report()
	require.Equal(t, Mapped, r.Access)
	require.Contains(t, r.Why, "the tape has")
	b, err := f.Tensor("b")
	require.NoError(t, err)
	require.True(t, bytes.Equal(data[1001:], b.Bytes()))
	require.NoError(t, f.Close())
	small := write(t)
	f, err = Load(t.Context(), small, tape(t, part), Auto())
	require.NoError(t, err)
	require.Equal(t, "Auto maps: the files have less than 1 MiB", f.Report().Why)
	require.NoError(t, f.Close())
}

// The surroundings are those of the system: a file that was just written is in the page cache.
func TestSurroundings(t *testing.T) {
	path, data := large(t)
	l := &loading{f: &File{path: path}}
	require.NoError(t, l.f.find("load"))
	s := l.surroundings()
	require.GreaterOrEqual(t, s.size, int64(len(data)))
	require.EqualValues(t, math.MaxInt64, s.room)
	require.Positive(t, s.available)
	if s.resident < 0 {
		t.Skip("the system does not say what the page cache has")
	}
	require.InDelta(t, 1, s.resident, 0.01)
}

func TestOpenAs(t *testing.T) {
	path, data := large(t)
	for mode, mapped := range map[Mode]bool{MapMode: true, ReadMode: false, AutoMode: true} {
		t.Run(mode.String(), func(t *testing.T) {
			before := unimem.Live().Blocks
			f, err := OpenAs(t.Context(), path, mode)
			require.NoError(t, err)
			if mode == AutoMode {
				mapped = f.Report().Access == Mapped // the page cache has the file, unless the system does not say
				require.Contains(t, f.Report().Why, "Auto ")
			}
			require.Equal(t, mapped, f.Report().Access == Mapped)
			b, err := f.Tensor("b")
			require.NoError(t, err)
			require.True(t, bytes.Equal(data[1001:], b.Bytes()))
			block, _, err := b.Block()
			require.NoError(t, err)
			require.NoError(t, block.Retain())
			require.ErrorIs(t, f.Close(), unimem.ErrInUse)
			require.NotNil(t, b.Bytes(), "Close has changed nothing")
			block.Release()
			require.NoError(t, f.Close())
			require.NoError(t, f.Close())
			require.Nil(t, b.Bytes())
			require.Equal(t, before, unimem.Live().Blocks, "Close frees the memory")
		})
	}
	require.Len(t, Modes(), 3)
}
