package nvme

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
)

func TestRegisters(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	c := r.controller
	capability := uint64(c.Read32(regCAP)) | uint64(c.Read32(regCAP+4))<<32
	require.EqualValues(t, maxEntries-1, capability&0xffff)
	require.EqualValues(t, 1, capability>>37&1, "the command set")
	require.Zero(t, capability>>52&15, "memory pages of 4 KiB alone")
	require.EqualValues(t, version, c.Read32(regVS))
	require.EqualValues(t, ready, c.Read32(regCSTS))
	before := c.Read32(regASQ)
	c.Write32(regASQ, 0)
	require.Equal(t, before, c.Read32(regASQ), "fixed while it is enabled")
	c.Write32(0x14+0x800, 1)
	require.Zero(t, c.Read32(0x800))
	require.Zero(t, c.Read32(doorbell))
	c.Write32(regCC, 0)
	require.Zero(t, c.Read32(regCSTS))
	c.Write32(regASQ, 0x12345fff)
	c.Write32(regASQ+4, 9)
	require.EqualValues(t, 0x12345000, c.Read32(regASQ))
	require.EqualValues(t, 9, c.Read32(regASQ+4))
}

func TestSettingsThatItDoesNotHave(t *testing.T) {
	for name, cc := range map[string]uint32{
		"command set": 1 | 1<<4 | 6<<16 | 4<<20, "page": 1 | 1<<7 | 6<<16 | 4<<20, "entries": 1 | 5<<16 | 4<<20,
	} {
		r := newRig(t, 1<<20, nil)
		r.controller.Write32(regCC, 0)
		r.controller.Write32(regCC, cc)
		require.EqualValues(t, fatal, r.controller.Read32(regCSTS), name)
		_, err := r.host.do(r.ctx(), 1, Command{Opcode: Flush, Namespace: 1})
		require.ErrorIs(t, err, ErrFatal)
	}
	_, err := NewController(Config{})
	require.Error(t, err)
}

func TestAdministration(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	_, m := r.memory(2)
	at := m.Ranges()[0].At
	admin := func(op uint8, prp uint64, words ...uint32) error {
		c := Command{Opcode: op}
		copy(c.Words[:], words)
		le.PutUint64(c.Data[:], prp)
		_, err := r.host.do(r.ctx(), 0, c)
		return err
	}
	require.ErrorIs(t, admin(Identify, at, 1), InvalidField, "the controller")
	require.ErrorIs(t, admin(Identify, at, 77), InvalidField)
	require.ErrorIs(t, admin(Identify, at, cnsNamespace), InvalidNamespace)
	_, err := r.host.do(r.ctx(), 0, Command{Opcode: Identify, Namespace: 1})
	require.ErrorIs(t, err, DataTransferError)
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
		{CreateCQ, at, []uint32{63<<16 | 2, contiguous}, QueueIdentifier},
		{CreateCQ, at, []uint32{63<<16 | 1, contiguous}, QueueIdentifier}, // it exists
		{CreateCQ, at, []uint32{0<<16 | 1, contiguous}, QueueSize},
		{CreateCQ, at, []uint32{maxEntries<<16 | 1, contiguous}, QueueSize},
		{CreateCQ, at, []uint32{63<<16 | 1, 0}, InvalidField},
		{CreateCQ, at + 2048, []uint32{63<<16 | 1, contiguous}, PRPOffset},
		{CreateSQ, at, []uint32{63<<16 | 1, 1<<16 | contiguous}, QueueIdentifier}, // it exists
	} {
		require.ErrorIs(t, admin(c.op, c.at, c.words...), c.want, "%+v", c)
	}
	r.controller.mu.Lock() // as after enabling
	r.controller.subs[1], r.controller.comps[1] = nil, nil
	r.controller.mu.Unlock()
	require.ErrorIs(t, admin(CreateSQ, at, 63<<16|1, 1<<16|contiguous), CompletionQueue)
	require.ErrorIs(t, admin(CreateCQ, at, 63<<16|1, contiguous), InvalidField, "without interrupts")
	require.NoError(t, admin(CreateCQ, at, 63<<16|1, contiguous|2))
	require.ErrorIs(t, admin(CreateSQ, at, 63<<16|1, contiguous), CompletionQueue)
	require.NoError(t, admin(CreateSQ, at+16<<10, 63<<16|1, 1<<16|contiguous))
}

// Doorbells of queues that are none, or with values that are none, change nothing.
func TestWrongDoorbells(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	places := func() [2]uint32 {
		r.controller.mu.Lock()
		defer r.controller.mu.Unlock()
		return [2]uint32{r.controller.subs[1].tail, r.controller.comps[1].head}
	}
	for _, c := range []struct{ reg, v uint32 }{
		{doorbell + 8*3, 1}, {doorbell + 8*3 + 4, 1}, {doorbell + 8*100, 1}, {doorbell + 8, 256}, {doorbell + 12, 1 << 31},
		{doorbell + 12, r.host.pairs[1].head + 7}, // entries that the controller has not written
	} {
		before := places()
		r.controller.Write32(c.reg, c.v)
		require.Equal(t, before, places(), "%+v", c)
		require.NoError(t, r.host.Flush(r.ctx()))
	}
}

// Commands of administration beyond the entries of the queue are refused.
func TestFullSubmissionQueue(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	p := &r.host.pairs[0]
	r.host.mu.Lock()
	for i := range uint16(entries - 1) {
		p.waiting[1000+i] = make(chan Completion, 1)
	}
	r.host.mu.Unlock()
	_, err := r.host.do(r.ctx(), 0, Command{Opcode: Identify})
	require.ErrorIs(t, err, errFull)
}

// A queue whose memory is withdrawn ends the controller, and with it every call.
func TestQueueMemoryWithdrawn(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	r.unmap(r.queues)
	_, err := r.host.do(r.ctx(), 1, Command{Opcode: Flush, Namespace: 1})
	require.ErrorIs(t, err, ErrFatal)
	require.EqualValues(t, ready|fatal, r.controller.Read32(regCSTS))
	require.NotZero(t, r.table.Faults())
}

// A host that takes no completions makes the controller wait, not lose any.
func TestFullCompletionQueue(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	r.host.mu.Lock() // the host takes nothing now
	p := &r.host.pairs[1]
	const all = entries - 1
	for i := range uint32(all) {
		var raw [CommandSize]byte
		Command{Opcode: Flush, Namespace: 1, ID: uint16(i)}.Encode(&raw)
		copy(p.sq[CommandSize*i:], raw[:])
		p.waiting[uint16(i)] = make(chan Completion, 1)
	}
	waiting := make([]chan Completion, all)
	for i := range waiting {
		waiting[i] = p.waiting[uint16(i)]
	}
	p.tail, p.next = all, all
	r.controller.Write32(doorbell+8, all)
	await.Until(t, "the queue is full", func() bool {
		r.controller.mu.Lock()
		defer r.controller.mu.Unlock()
		return r.controller.comps[1].tail == all
	})
	r.host.mu.Unlock()
	r.host.Interrupt()
	for _, done := range waiting {
		require.Equal(t, Success, await.Value(t, done).Status)
	}
	_, err := r.host.do(r.ctx(), 1, Command{Opcode: Flush, Namespace: 1})
	require.NoError(t, err)
}

func TestCloseEndsCalls(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	_, m := r.memory(1)
	begun, let := make(chan struct{}), make(chan struct{})
	r.media.hook = func([]byte, int64) (int, error, bool) {
		close(begun)
		<-let
		return 0, nil, false
	}
	read := make(chan error, 1)
	go func() { read <- r.host.Read(r.ctx(), 0, 1, []Span{{m.Ranges()[0].At, Sector}}) }()
	await.Value(t, begun)
	closed := make(chan struct{})
	go func() { r.host.Close(); close(closed) }()
	require.ErrorIs(t, await.Value(t, read), ErrHostClosed)
	close(let)
	await.Value(t, closed)
	_, err := r.host.do(r.ctx(), 1, Command{Opcode: Flush})
	require.ErrorIs(t, err, ErrHostClosed)
	r.host.Close()
	r.unmap(m)
	r.unmap(r.queues)
}

func TestEntries(t *testing.T) {
	c := Command{Opcode: 2, Flags: 0x41, ID: 0x1234, Namespace: 7, Words: [6]uint32{1, 2, 3, 4, 5, 6}}
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
		r := newRig(t, 1<<20, nil)
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
		_, err := r.host.do(r.ctx(), 1, c)
		if err != nil {
			var s Status
			require.ErrorAs(t, err, &s)
		}
		require.Equal(t, make([]byte, len(guard)), guard)
		r.unmap(m)
	})
}
