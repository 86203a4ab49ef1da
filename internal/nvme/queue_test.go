package nvme

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
)

func TestRegisters(t *testing.T) {
	r := newRig(t, 1<<20, nil, 2)
	c := r.controller
	capability := uint64(c.Read32(regCAP)) | uint64(c.Read32(regCAP+4))<<32
	require.EqualValues(t, MaxEntries-1, capability&0xffff)
	require.EqualValues(t, 1, capability>>37&1, "the command set")
	require.EqualValues(t, maxPage, capability>>52&15)
	require.EqualValues(t, version, c.Read32(regVS))
	require.EqualValues(t, ready, c.Read32(regCSTS))
	before := c.Read32(regASQ)
	c.Write32(regASQ, 0)
	require.Equal(t, before, c.Read32(regASQ), "fixed while it is enabled")
	c.Write32(0x14+0x800, 1)
	require.Zero(t, c.Read32(0x800))
	require.Zero(t, c.Read32(doorbell))
	c.Write32(regCC, c.Read32(regCC)|1<<14)
	require.EqualValues(t, ready|shutDone, c.Read32(regCSTS))
	c.Write32(regCC, 0)
	require.Zero(t, c.Read32(regCSTS))
	c.Write32(regASQ, 0x12345fff)
	c.Write32(regASQ+4, 9)
	require.EqualValues(t, 0x12345000, c.Read32(regASQ))
	require.EqualValues(t, 9, c.Read32(regASQ+4))
}

func TestSettingsThatItDoesNotHave(t *testing.T) {
	for name, cc := range map[string]uint32{
		"command set": 1 | 1<<4 | 6<<16 | 4<<20, "page": 1 | 5<<7 | 6<<16 | 4<<20, "entries": 1 | 5<<16 | 4<<20,
	} {
		r := newRig(t, 1<<20, nil, 2)
		r.controller.Write32(regCC, 0)
		r.controller.Write32(regCC, cc)
		require.EqualValues(t, fatal, r.controller.Read32(regCSTS), name)
		_, err := r.host.Do(r.ctx(), Command{Opcode: Flush, Namespace: 1})
		require.ErrorIs(t, err, ErrFatal)
	}
	_, err := NewController(Config{})
	require.Error(t, err)
}

func TestAdministration(t *testing.T) {
	r := newRig(t, 1<<20, func(c *Config) { c.Sector = 4096 }, 2)
	mem, m := r.memory(2)
	at := m.Ranges()[0].At
	admin := func(op uint8, prp uint64, words ...uint32) error {
		c := Command{Opcode: op}
		copy(c.Words[:], words)
		le.PutUint64(c.Data[:], prp)
		_, err := r.host.Admin(r.ctx(), c)
		return err
	}
	require.NoError(t, admin(Identify, at, cnsController))
	require.Contains(t, string(mem[:100]), "anekit simulated NVMe")
	require.EqualValues(t, transfer, mem[77])
	require.NoError(t, admin(Identify, at, cnsActive))
	require.Equal(t, []byte{1, 0, 0, 0, 0}, mem[:5])
	require.ErrorIs(t, admin(Identify, at, 77), InvalidField)
	require.ErrorIs(t, admin(Identify, at, cnsNamespace), InvalidNamespace)
	require.ErrorIs(t, admin(Identify, 4, cnsController), DataTransferError)
	require.ErrorIs(t, admin(SetFeatures, 0, 1), InvalidField)
	require.ErrorIs(t, admin(0x55, 0), InvalidOpcode)
	const contiguous = 1
	for _, c := range []struct {
		op    uint8
		at    uint64
		words []uint32
		want  Status
	}{
		{CreateCQ, at, []uint32{63 << 16, contiguous}, QueueIdentifier},
		{CreateCQ, at, []uint32{63<<16 | 9, contiguous}, QueueIdentifier},
		{CreateCQ, at, []uint32{63<<16 | 1, contiguous}, QueueIdentifier}, // it exists
		{CreateCQ, at, []uint32{0<<16 | 2, contiguous}, QueueSize},
		{CreateCQ, at, []uint32{MaxEntries<<16 | 2, contiguous}, QueueSize},
		{CreateCQ, at, []uint32{63<<16 | 2, 0}, InvalidField},
		{CreateCQ, at + 4096, []uint32{63<<16 | 2, contiguous}, PRPOffset},
		{CreateSQ, at, []uint32{63<<16 | 1, 1<<16 | contiguous}, QueueIdentifier}, // it exists
		{CreateSQ, at, []uint32{63<<16 | 2, 2<<16 | contiguous}, CompletionQueue},
		{CreateSQ, at, []uint32{63<<16 | 2, 0<<16 | contiguous}, QueueIdentifier},
		{DeleteSQ, 0, []uint32{0}, QueueIdentifier},
		{DeleteSQ, 0, []uint32{5}, QueueIdentifier},
		{DeleteCQ, 0, []uint32{5}, QueueIdentifier},
		{DeleteCQ, 0, []uint32{1}, QueueDeletion},
	} {
		require.ErrorIs(t, admin(c.op, c.at, c.words...), c.want, "%+v", c)
	}
	require.NoError(t, admin(CreateCQ, at, 63<<16|2, contiguous))
	require.NoError(t, admin(CreateSQ, at+16<<10, 63<<16|2, 2<<16|contiguous))
	require.NoError(t, admin(DeleteSQ, 0, 2))
	require.NoError(t, admin(DeleteCQ, 0, 2))
	require.NoError(t, admin(DeleteSQ, 0, 1))
	require.NoError(t, admin(DeleteCQ, 0, 1))
}

// Doorbells of queues that are none, or with values that are none, are events, and change nothing.
func TestWrongDoorbells(t *testing.T) {
	r := newRig(t, 1<<20, nil, 2)
	for _, c := range []struct{ reg, v, want uint32 }{
		{doorbell + 8*3, 1, 0x10000}, {doorbell + 8*3 + 4, 1, 0x10000}, {doorbell + 8*100, 1, 0x10000},
		{doorbell + 8, 256, 0x10100}, {doorbell + 12, 1 << 31, 0x10100},
		{doorbell + 12, r.host.queues[1].head + 7, 0x10100}, // entries that the controller has not written
	} {
		r.controller.Write32(c.reg, c.v)
		x, err := r.host.Admin(r.ctx(), Command{Opcode: EventRequest})
		require.NoError(t, err)
		require.Equal(t, c.want, x.Result, "%+v", c)
	}
	_, err := r.host.Do(r.ctx(), Command{Opcode: Flush, Namespace: 1})
	require.NoError(t, err)
	for range maxEvents {
		_, _, err := r.host.submit(r.ctx(), 0, Command{Opcode: EventRequest})
		require.NoError(t, err)
	}
	_, err = r.host.Admin(r.ctx(), Command{Opcode: EventRequest})
	require.ErrorIs(t, err, EventLimit)
}

// A queue whose memory is withdrawn ends the controller, and with it every call.
func TestQueueMemoryWithdrawn(t *testing.T) {
	r := newRig(t, 1<<20, nil, 2)
	r.unmap(r.queues)
	_, err := r.host.Do(r.ctx(), Command{Opcode: Flush, Namespace: 1})
	require.ErrorIs(t, err, ErrFatal)
	require.EqualValues(t, ready|fatal, r.controller.Read32(regCSTS))
	require.NotZero(t, r.table.Faults())
}

// A host that takes no completions makes the controller wait, not lose any.
func TestFullCompletionQueue(t *testing.T) {
	r := newRig(t, 1<<20, nil, 2)
	r.host.mu.Lock() // the host takes nothing now
	p := &r.host.queues[1]
	for i := range uint32(255) {
		var raw [CommandSize]byte
		Command{Opcode: Flush, Namespace: 1, ID: uint16(i)}.Encode(&raw)
		copy(p.sq[CommandSize*i:], raw[:])
		p.waiting[uint16(i)] = make(chan Completion, 1)
	}
	waiting := make([]chan Completion, 255)
	for i := range waiting {
		waiting[i] = p.waiting[uint16(i)]
	}
	p.tail, p.next = 255, 255
	r.controller.Write32(doorbell+8, 255)
	await.Until(t, "the queue is full", func() bool {
		r.controller.mu.Lock()
		defer r.controller.mu.Unlock()
		return r.controller.comps[1].tail == 255
	})
	r.host.mu.Unlock()
	r.host.Interrupt(1)
	for _, done := range waiting {
		require.Equal(t, Success, await.Value(t, done).Status)
	}
	_, err := r.host.Do(r.ctx(), Command{Opcode: Flush, Namespace: 1})
	require.NoError(t, err)
}

func TestCloseEndsCalls(t *testing.T) {
	r := newRig(t, 1<<20, nil, 2)
	_, m := r.memory(1)
	begun, let := make(chan struct{}), make(chan struct{})
	r.media.hook = func([]byte, int64) (int, error, bool) {
		close(begun)
		<-let
		return 0, nil, false
	}
	read := make(chan error, 1)
	go func() { read <- r.host.Read(r.ctx(), 0, 1, []Span{{m.Ranges()[0].At, 512}}, false) }()
	await.Value(t, begun)
	closed := make(chan struct{})
	go func() { r.host.Close(); close(closed) }()
	require.ErrorIs(t, await.Value(t, read), ErrHostClosed)
	close(let)
	await.Value(t, closed)
	_, err := r.host.Do(r.ctx(), Command{Opcode: Flush})
	require.ErrorIs(t, err, ErrHostClosed)
	r.host.Close()
	r.unmap(m)
	r.unmap(r.queues)
}

func TestEntries(t *testing.T) {
	c := Command{Opcode: 2, Fused: 1, Pointer: 1, ID: 0x1234, Namespace: 7, Words: [6]uint32{1, 2, 3, 4, 5, 6}}
	c.Data[15] = 0x30
	var raw [CommandSize]byte
	c.Encode(&raw)
	require.Equal(t, []byte{2, 0x41, 0x34, 0x12, 7, 0, 0, 0}, raw[:8])
	require.Equal(t, byte(0x30), raw[39])
	require.Equal(t, []byte{1, 0, 0, 0}, raw[40:44])
	var back Command
	back.Decode(&raw)
	require.Equal(t, c, back)
	x := Completion{Result: 9, Head: 3, Queue: 1, ID: 0x1234, Phase: true, Status: LBARange, Final: true}
	var entry [CompletionSize]byte
	x.Encode(&entry)
	require.Equal(t, []byte{9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 0x34, 0x12, 0x01, 0x81}, entry[:])
	var other Completion
	other.Decode(&entry)
	require.Equal(t, x, other)
	require.Equal(t, "block address out of range (type 0, code 0x80)", LBARange.String())
	require.Equal(t, "NVMe: status (type 3, code 0x05)", Status(0x305).Error())
}

// FuzzCommand: every command completes, with any bytes, and writes only to memory that is mapped.
func FuzzCommand(f *testing.F) {
	var raw [CommandSize]byte
	read(0, 9, start+100*16<<10, start+101*16<<10).Encode(&raw)
	f.Add(raw[:], []byte("list"))
	f.Fuzz(func(t *testing.T, command, list []byte) {
		r := newRig(t, 1<<20, nil, 0)
		mem, m := r.memory(2)
		guard := make([]byte, 16<<10) // not mapped
		copy(mem, list)
		var raw [CommandSize]byte
		copy(raw[:], command)
		var c Command
		c.Decode(&raw)
		if len(command) > 40 && command[40]&1 == 1 { // point it at memory that is there
			le.PutUint64(c.Data[:], m.Ranges()[0].At+le.Uint64(c.Data[:])%(40<<10))
		}
		_, err := r.host.Do(r.ctx(), c)
		if err != nil {
			var s Status
			require.ErrorAs(t, err, &s)
		}
		require.Equal(t, make([]byte, len(guard)), guard)
		r.unmap(m)
	})
}
