package nvme

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/dart"
)

const start = 4 << 30

// rig is a controller and a Host over Go memory, which the race detector sees.
type rig struct {
	t          testing.TB
	table      *dart.Table
	controller *Controller
	host       *Host
	queues     *dart.Mapping
	media      *disk
}

// disk is media in memory.
type disk struct {
	data []byte
	hook func(p []byte, off int64) (n int, err error, done bool) // before each read
}

func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	if d.hook != nil {
		if n, err, done := d.hook(p, off); done {
			return n, err
		}
	}
	return bytes.NewReader(d.data).ReadAt(p, off)
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 ^ i>>8)
	}
	return b
}

// newRig starts a controller with a namespace of size bytes.
func newRig(t testing.TB, size int, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, table: dart.NewTable(dart.Range{At: start, Size: 1 << 30}), media: &disk{data: pattern(size)}}
	r.host = NewHost()
	c := Config{Table: r.table, Media: r.media, Size: int64(size), Interrupt: r.host.Interrupt}
	if change != nil {
		change(&c)
	}
	var err error
	r.controller, err = NewController(c)
	require.NoError(t, err)
	mem, m := r.memory(HostPages)
	r.queues = m
	var pages []Memory
	for i := range HostPages {
		pages = append(pages, Memory{mem[i*HostPage:][:HostPage], m.Ranges()[0].At + uint64(i*HostPage)})
	}
	t.Cleanup(r.host.Close)
	require.NoError(t, r.host.Start(r.ctx(), r.controller, pages))
	require.Equal(t, uint64(size+Sector-1)/Sector, r.host.Blocks)
	return r
}

// ctx has a deadline that only a hang reaches.
func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	r.t.Cleanup(cancel)
	return ctx
}

// memory maps pages of memory, with canary bytes.
func (r *rig) memory(pages int) ([]byte, *dart.Mapping) {
	r.t.Helper()
	mem := bytes.Repeat([]byte{0xc5}, pages*dart.PageSize)
	m, err := r.table.Map(mem, dart.Options{Access: dart.Read | dart.Write})
	require.NoError(r.t, err)
	return mem, m
}

func (r *rig) unmap(m *dart.Mapping) {
	r.t.Helper()
	require.NoError(r.t, m.Unmap(r.ctx()))
}

// read is a read command of sectors with PRP entries.
func read(first uint64, count int, prp1, prp2 uint64) Command {
	c := Command{Opcode: Read, Namespace: 1, Words: [6]uint32{uint32(first), uint32(first >> 32), uint32(count - 1)}}
	le.PutUint64(c.Data[:], prp1)
	le.PutUint64(c.Data[8:], prp2)
	return c
}

// shorter ends a read of d early.
func (d *disk) shorter(size int64) {
	d.hook = func(p []byte, off int64) (int, error, bool) {
		if off+int64(len(p)) > size {
			return int(max(0, size-off)), io.EOF, true
		}
		return 0, nil, false
	}
}
