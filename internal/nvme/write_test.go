package nvme

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/internal/dart"
)

// kept is the media of a rig that can be written.
type kept struct {
	*disk
	fail  error // of WriteAt
	syncs int
	stuck error // of Sync
}

func (k *kept) WriteAt(p []byte, off int64) (int, error) {
	if k.fail != nil {
		return 0, k.fail
	}
	return copy(k.data[off:], p), nil
}

func (k *kept) Sync() error {
	k.syncs++
	return k.stuck
}

// writable is a rig whose namespace can be written.
func writable(t testing.TB, size int) (*rig, *kept) {
	k := &kept{disk: &disk{data: pattern(size)}}
	r := newRig(t, size, func(c *Config) { c.Media, c.Store = k, k })
	r.media = k.disk
	return r, k
}

// TestWrite writes parts of memory to any sectors, and reads the whole namespace again.
func TestWrite(t *testing.T) {
	const size = 3<<20 + 4096 - 100 // the last sector is not whole
	r, k := writable(t, size)
	fresh, want := bytes.Clone(k.data), make([]byte, size)
	mem, m := r.memory(MaxTransfer/dart.PageSize + 2)
	rapid.Check(t, func(t *rapid.T) {
		copy(k.data, fresh)
		copy(want, fresh)
		for n, p := range rapid.SliceOfN(places(size/Sector), 1, 3).Draw(t, "places") {
			part := mem[p.Off:][:p.Count*Sector]
			for i := range part {
				part[i] = byte(i*11 ^ i>>7 ^ n<<6)
			}
			before := bytes.Clone(mem)
			require.NoError(t, r.host.Write(r.ctx(), uint64(p.First), p.Count,
				[]Span{{m.Ranges()[0].At + uint64(p.Off), uint64(len(part))}}))
			require.True(t, bytes.Equal(before, mem), "a write changes no memory")
			copy(want[p.First*Sector:], part)
		}
		require.True(t, bytes.Equal(want, k.data))
	})
	require.Zero(t, k.syncs)
	require.NoError(t, r.host.Flush(r.ctx()))
	require.Equal(t, 1, k.syncs)
	require.Zero(t, r.table.Faults())
}

// Each command has the status of its own failure, and the controller goes on.
func TestWritesThatFail(t *testing.T) {
	const size = 64<<10 - 100
	r, k := writable(t, size)
	mem, m := r.memory(1)
	at := m.Ranges()[0].At
	const none = 0x7f0000000000
	write := func(first uint64, count int, prp1, prp2 uint64) Command {
		c := read(first, count, prp1, prp2)
		c.Opcode = Write
		return c
	}
	before := bytes.Clone(k.data)
	two := write(0, 1, at, 0)
	two.Namespace = 2
	for name, c := range map[string]struct {
		Command
		want Status
	}{
		"after the end":     {write(16, 1, at, 0), LBARange},
		"across the end":    {write(15, 2, at, 0), LBARange},
		"another namespace": {two, InvalidNamespace},
		"odd address":       {write(0, 1, at+2, 0), PRPOffset},
		"unmapped":          {write(0, 1, none, 0), DataTransferError},
		"beyond the file":   {write(15, 1, at, 0), WriteFault}, // the canary bytes would be lost
	} {
		_, err := r.host.do(r.ctx(), 1, c.Command)
		require.ErrorIs(t, err, c.want, name)
		require.True(t, bytes.Equal(before, k.data), name)
	}
	clear(mem[Sector-100 : Sector])
	require.NoError(t, r.host.Write(r.ctx(), 15, 1, []Span{{at, Sector}}), "zeros after the end")
	require.Equal(t, mem[:Sector-100], k.data[15*Sector:])

	k.fail = errors.New("ENOSPC")
	require.ErrorIs(t, r.host.Write(r.ctx(), 0, 2, []Span{{at, 2 * Sector}}), WriteFault)
	k.fail, k.stuck = nil, errors.New("EIO")
	require.ErrorIs(t, r.host.Flush(r.ctx()), WriteFault)
	require.NoError(t, r.host.Write(r.ctx(), 0, 2, []Span{{at, 2 * Sector}}), "a write alone flushes nothing")
	require.Equal(t, "write fault (type 2, code 0x80)", WriteFault.String())
}

// Memory that the device may not read is no source of a write, and what it may not write to is one.
func TestWriteReadsMemory(t *testing.T) {
	r, k := writable(t, 1<<20)
	source := bytes.Repeat([]byte{7}, dart.PageSize)
	m, err := r.table.Map(source, dart.Options{Access: dart.Read})
	require.NoError(t, err)
	span := []Span{{m.Ranges()[0].At, 2 * Sector}}
	require.NoError(t, r.host.Write(r.ctx(), 3, 2, span))
	require.Equal(t, source[:2*Sector], k.data[3*Sector:5*Sector])
	require.ErrorIs(t, r.host.Read(r.ctx(), 0, 2, span), DataTransferError)
	target, err := r.table.Map(make([]byte, dart.PageSize), dart.Options{Access: dart.Write})
	require.NoError(t, err)
	require.ErrorIs(t, r.host.Write(r.ctx(), 0, 2, []Span{{target.Ranges()[0].At, 2 * Sector}}), DataTransferError)
	require.Equal(t, pattern(2*Sector), k.data[:2*Sector])
}
