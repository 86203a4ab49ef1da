package nvme

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/internal/dart"
)

// kept is the media of a rig that can be written. It refuses what is not aligned.
type kept struct {
	*disk
	align int
	fail  error // of WriteAt
	syncs int
	stuck error // of Sync
}

func (k *kept) WriteAt(p []byte, off int64) (int, error) {
	if k.fail != nil {
		return 0, k.fail
	}
	if off%int64(k.align) != 0 || len(p)%k.align != 0 || !aligned(p, k.align) {
		return 0, errors.New("not aligned")
	}
	return copy(k.data[off:], p), nil
}

func (k *kept) Sync() error {
	k.syncs++
	return k.stuck
}

// writable is a rig whose namespace can be written.
func writable(t testing.TB, size, align int, shift uint32) (*rig, *kept) {
	k := &kept{disk: &disk{data: pattern(size)}, align: align}
	r := newRig(t, size, func(c *Config) { c.Media, c.Store, c.Align = k, k, align }, shift)
	r.media = k.disk
	return r, k
}

// TestWrite writes parts of memory to any sectors, and reads the whole namespace again.
func TestWrite(t *testing.T) {
	for _, sgl := range []bool{false, true} {
		for _, align := range []int{1, 4096} {
			t.Run(fmt.Sprintf("sgl %v align %d", sgl, align), func(t *testing.T) {
				size := 3<<20 + 4096
				if align == 1 {
					size += 512 - 100 // the last sector is not whole
				}
				r, k := writable(t, size, align, 2)
				fresh, want := bytes.Clone(k.data), make([]byte, size)
				mem, m := r.memory(MaxTransfer/dart.PageSize + 2)
				written := uint64(0)
				rapid.Check(t, func(t *rapid.T) {
					copy(k.data, fresh)
					copy(want, fresh)
					for n, p := range rapid.SliceOfN(places(size/512), 1, 3).Draw(t, "places") {
						part := mem[p.Off:][:p.Count*512]
						for i := range part {
							part[i] = byte(i*11 ^ i>>7 ^ n<<6)
						}
						before := bytes.Clone(mem)
						require.NoError(t, r.host.Write(r.ctx(), uint64(p.First), p.Count,
							[]Span{{m.Ranges()[0].At + uint64(p.Off), uint64(len(part))}}, sgl))
						require.True(t, bytes.Equal(before, mem), "a write changes no memory")
						copy(want[p.First*512:], part)
						written += uint64(len(part))
					}
					require.True(t, bytes.Equal(want, k.data))
				})
				s := r.controller.Stats()
				require.Equal(t, written, s.Written)
				require.Equal(t, align > 1, s.Bounced > 0)
				require.Zero(t, s.Read)
				require.Zero(t, k.syncs)
				require.NoError(t, r.host.Flush(r.ctx()))
				require.Equal(t, 1, k.syncs)
				require.Zero(t, r.table.Faults())
			})
		}
	}
}

// Sectors that share a unit of the media, written at the same time, all arrive.
func TestNeighborsAtATime(t *testing.T) {
	r, k := writable(t, 1<<20, 4096, 2)
	var wg sync.WaitGroup
	for g := range 8 {
		mem, m := r.memory(1)
		for i := range mem {
			mem[i] = byte(g + 1)
		}
		wg.Go(func() {
			for unit := range 64 {
				err := r.host.Write(r.ctx(), uint64(8*unit+g), 1, []Span{{m.Ranges()[0].At, 512}}, false)
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range 64 * 8 {
		require.Equal(t, bytes.Repeat([]byte{byte(i%8 + 1)}, 512), k.data[512*i:512*i+512], "sector %d", i)
	}
}

// Each command has the status of its own failure, and the controller goes on.
func TestWritesThatFail(t *testing.T) {
	const size = 64<<10 - 100
	r, k := writable(t, size, 1, 0)
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
		"after the end":     {write(128, 1, at, 0), LBARange},
		"across the end":    {write(127, 2, at, 0), LBARange},
		"another namespace": {two, InvalidNamespace},
		"odd address":       {write(0, 1, at+2, 0), PRPOffset},
		"unmapped":          {write(0, 1, none, 0), DataTransferError},
		"beyond the file":   {write(127, 1, at, 0), WriteFault}, // the canary bytes would be lost
	} {
		_, err := r.host.Do(r.ctx(), c.Command)
		require.ErrorIs(t, err, c.want, name)
		require.True(t, bytes.Equal(before, k.data), name)
	}
	clear(mem[412:512])
	require.NoError(t, r.host.Write(r.ctx(), 127, 1, []Span{{at, 512}}, false), "zeros after the end")
	require.Equal(t, mem[:412], k.data[127*512:])

	k.fail = errors.New("ENOSPC")
	require.ErrorIs(t, r.host.Write(r.ctx(), 0, 2, []Span{{at, 1024}}, false), WriteFault)
	k.fail, k.stuck = nil, errors.New("EIO")
	require.ErrorIs(t, r.host.Flush(r.ctx()), WriteFault)
	require.NoError(t, r.host.Write(r.ctx(), 0, 2, []Span{{at, 1024}}, false), "a write alone flushes nothing")
	force := write(0, 1, at, 0)
	force.Words[2] |= forceUnit
	_, err := r.host.Do(r.ctx(), force)
	require.ErrorIs(t, err, WriteFault)
	k.stuck = nil
	_, err = r.host.Do(r.ctx(), force)
	require.NoError(t, err)
	require.Equal(t, "write fault (type 2, code 0x80)", WriteFault.String())

	_, err = NewController(Config{Table: r.table, Media: k, Store: k, Size: 1000, Sector: 512, Align: 4096,
		Interrupt: func(uint16) {}})
	require.ErrorContains(t, err, "1000 bytes cannot be written in units of 4096")
}

// Memory that the device may not read is no source of a write, and what it may not write to is one.
func TestWriteReadsMemory(t *testing.T) {
	r, k := writable(t, 1<<20, 1, 2)
	source := bytes.Repeat([]byte{7}, dart.PageSize)
	m, err := r.table.Map(source, dart.Options{Access: dart.Read})
	require.NoError(t, err)
	span := []Span{{m.Ranges()[0].At, 1024}}
	require.NoError(t, r.host.Write(r.ctx(), 3, 2, span, false))
	require.Equal(t, source[:1024], k.data[3*512:5*512])
	require.ErrorIs(t, r.host.Read(r.ctx(), 0, 2, span, false), DataTransferError)
	target, err := r.table.Map(make([]byte, dart.PageSize), dart.Options{Access: dart.Write})
	require.NoError(t, err)
	require.ErrorIs(t, r.host.Write(r.ctx(), 0, 2, []Span{{target.Ranges()[0].At, 1024}}, true), DataTransferError)
	require.Equal(t, pattern(1024), k.data[:1024])
}
