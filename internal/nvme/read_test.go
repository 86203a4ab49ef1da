package nvme

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/dart"
)

// place is what one command moves: sectors of the namespace, and the place of the first byte in memory.
type place struct{ First, Count, Off int }

// places generates those of a namespace of so many sectors, in memory of MaxTransfer and two pages.
func places(sectors int) *rapid.Generator[place] {
	return rapid.Custom(func(t *rapid.T) place {
		count := rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, MaxTransfer/Sector)).Draw(t, "count")
		return place{rapid.IntRange(0, sectors-count).Draw(t, "first"), count,
			rapid.IntRange(0, 2*dart.PageSize/512-1).Draw(t, "off") * 512}
	})
}

// TestRead reads parts of the namespace to any places, which one command describes.
func TestRead(t *testing.T) {
	r := newRig(t, 3<<20+1000, nil)
	rapid.Check(t, func(t *rapid.T) {
		p := places(int(r.host.Blocks)).Draw(t, "place")
		mem, m := r.memory(MaxTransfer/dart.PageSize + 2)
		defer r.unmap(m)
		require.NoError(t, r.host.Read(r.ctx(), uint64(p.First), p.Count,
			[]Span{{m.Ranges()[0].At + uint64(p.Off), uint64(p.Count * Sector)}}))
		want := bytes.Repeat([]byte{0xc5}, len(mem))
		clear(want[p.Off : p.Off+p.Count*Sector])
		copy(want[p.Off:p.Off+p.Count*Sector], r.media.data[p.First*Sector:])
		if !bytes.Equal(want, mem) {
			for i, b := range mem {
				require.Equal(t, want[i], b, "byte %d of memory", i)
			}
		}
	})
	require.Zero(t, r.table.Faults())
}

// TestScattered reads to pages whose addresses have no order.
func TestScattered(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	var spans []Span
	var pages [][]byte
	for range 40 {
		mem, m := r.memory(1)
		spans = append(spans, Span{m.Ranges()[0].At, dart.PageSize})
		pages = append(pages, mem)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(spans), func(i, j int) {
		spans[i], spans[j], pages[i], pages[j] = spans[j], spans[i], pages[j], pages[i]
	})
	require.NoError(t, r.host.Read(r.ctx(), 3, 40*dart.PageSize/Sector, spans))
	for i, p := range pages {
		require.Equal(t, r.media.data[3*Sector+i*dart.PageSize:][:dart.PageSize], p)
	}
}

// TestManyAtATime turns both queues round several times.
func TestManyAtATime(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	var wg sync.WaitGroup
	for g := range 40 {
		mem, m := r.memory(1)
		wg.Go(func() {
			for i := range 60 {
				first := (g*60 + i) % 250
				err := r.host.Read(r.ctx(), uint64(first), 2, []Span{{m.Ranges()[0].At, 2 * Sector}})
				if err != nil || string(mem[:2*Sector]) != string(r.media.data[first*Sector:][:2*Sector]) {
					t.Errorf("read %d of %d: %v, or wrong bytes", i, g, err)
					return
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, r.host.pairs[1].unknown)
}

// TestRefusedPointers are commands that describe no memory, or memory that the device has not.
func TestRefusedPointers(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	mem, m := r.memory(4)
	at := m.Ranges()[0].At
	const none = 0x7f0000000000
	put := func(at int, words ...uint64) {
		for i, w := range words {
			le.PutUint64(mem[at+8*i:], w)
		}
	}
	put(0, at+4096, at+8192+4, 1) // a PRP list with an offset in its second entry
	put(4080, at+4096, at+8192)   // a list that crosses into a page that is not a list
	put(4096-8, none)             // the next page of a list
	sgl, fused := read(0, 1, at, 0), read(0, 1, at, 0)
	sgl.Flags, fused.Flags = 1<<6, 1
	write := read(0, 1, at, 0)
	write.Opcode = Write
	compare := write
	compare.Opcode = 5
	flush := Command{Opcode: Flush, Namespace: 2}
	two := read(0, 1, at, 0)
	two.Namespace = 2
	for name, c := range map[string]struct {
		Command
		want Status
	}{
		"odd address":           {read(0, 1, at+2, 0), PRPOffset},
		"second with offset":    {read(0, 2, at, at+4096+512), PRPOffset},
		"odd list":              {read(0, 3, at, at+4), PRPOffset},
		"entry with offset":     {read(0, 3, at+8192, at), PRPOffset},
		"unmapped":              {read(0, 1, none, 0), DataTransferError},
		"second unmapped":       {read(0, 2, at+8192, none), DataTransferError},
		"list unmapped":         {read(0, 3, at+8192, none), DataTransferError},
		"next list unmapped":    {read(0, 5, at+8192, at+4080), DataTransferError},
		"ends after the memory": {read(0, 2, at+3*dart.PageSize+4096*3, at+4*dart.PageSize), DataTransferError},
		"SGL":                   {sgl, InvalidField},
		"fused":                 {fused, InvalidField},
		"write":                 {write, WriteProtected},
		"compare":               {compare, InvalidOpcode},
		"flush of another":      {flush, InvalidNamespace},
		"read of another":       {two, InvalidNamespace},
		"after the end":         {read(256, 1, at, 0), LBARange},
		"across the end":        {read(255, 2, at, 0), LBARange},
		"far after the end":     {read(1<<63, 1, at, 0), LBARange},
		"wraps round":           {read(1<<64-1, 2, at, 0), LBARange},
		"too much":              {read(0, MaxTransfer/Sector+1, at, at), LBARange},
	} {
		before := string(mem)
		x, err := r.host.do(r.ctx(), 1, c.Command)
		require.ErrorIs(t, err, c.want, name)
		require.True(t, x.Final, name)
		if c.want != DataTransferError {
			require.Equal(t, before, string(mem), "%s: nothing is written", name)
		}
	}
	require.NoError(t, r.host.Flush(r.ctx()))
	require.ErrorIs(t, r.host.Read(r.ctx(), 0, MaxTransfer/Sector+1, nil), InvalidField)
	require.Error(t, r.host.Read(r.ctx(), 0, 1, nil))
	require.Error(t, r.host.Read(r.ctx(), 0, 1, []Span{{at, 100}, {at + 4, 3996}}), "no PRP entries can say it")
}

// Overlapping memory is allowed by the specification: the bytes there are those of either.
func TestOverlappingMemory(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	mem, m := r.memory(2)
	at := m.Ranges()[0].At
	require.NoError(t, r.host.Read(r.ctx(), 0, 8, []Span{{at, dart.PageSize}, {at, dart.PageSize}}))
	require.Equal(t, r.media.data[dart.PageSize:2*dart.PageSize], mem[:dart.PageSize])
	require.Equal(t, byte(0xc5), mem[dart.PageSize])
}

func TestMediaErrors(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	mem, m := r.memory(2)
	span := []Span{{m.Ranges()[0].At, 2 * Sector}}
	r.media.hook = func([]byte, int64) (int, error, bool) { return 0, errors.New("EIO"), true }
	require.ErrorIs(t, r.host.Read(r.ctx(), 0, 2, span), UnrecoveredReadErr)
	r.media.hook = func([]byte, int64) (int, error, bool) { return 0, nil, true }
	require.ErrorIs(t, r.host.Read(r.ctx(), 0, 2, span), UnrecoveredReadErr, "no progress")
	r.media.shorter(Sector) // another process cut the file
	require.ErrorIs(t, r.host.Read(r.ctx(), 0, 2, span), UnrecoveredReadErr)
	require.NoError(t, r.host.Read(r.ctx(), 0, 1, []Span{{m.Ranges()[0].At, Sector}}))
	r.media.hook = func(p []byte, off int64) (int, error, bool) { // a disk that reads 300 bytes at a time
		return copy(p[:min(300, len(p))], r.media.data[off:]), nil, true
	}
	require.NoError(t, r.host.Read(r.ctx(), 5, 2, span))
	require.Equal(t, r.media.data[5*Sector:7*Sector], mem[:2*Sector])
}

// A mapping that is withdrawn while a command runs makes the command fail, and no byte is written afterwards.
func TestMappingWithdrawnInFlight(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	mem, m := r.memory(2 * chunk / dart.PageSize)
	begun, let := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	r.media.hook = func([]byte, int64) (int, error, bool) {
		if first.CompareAndSwap(false, true) {
			close(begun)
			<-let
		}
		return 0, nil, false
	}
	read := make(chan error, 1)
	go func() { read <- r.host.Read(r.ctx(), 0, 2*chunk/Sector, []Span{{m.Ranges()[0].At, 2 * chunk}}) }()
	await.Value(t, begun)
	gone := make(chan error, 1)
	go func() { gone <- m.Unmap(r.ctx()) }()
	await.Until(t, "the mapping is withdrawn", func() bool {
		return r.table.Reach(m.Ranges()[0].At, 1, dart.Read) != nil
	})
	select {
	case <-gone:
		t.Fatal("Unmap has returned during an access")
	default:
	}
	close(let)
	require.ErrorIs(t, await.Value(t, read), DataTransferError)
	require.NoError(t, await.Value(t, gone))
	require.Equal(t, byte(0xc5), mem[chunk], "the second access has not begun")
}

// A call whose context ends returns although the media do not.
func TestCancelWhileTheMediaHang(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	_, m := r.memory(1)
	span := []Span{{m.Ranges()[0].At, Sector}}
	begun, let := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	r.media.hook = func([]byte, int64) (int, error, bool) {
		if first.CompareAndSwap(false, true) {
			close(begun)
			<-let
		}
		return 0, nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("no more time")
	read := make(chan error, 1)
	go func() { read <- r.host.Read(ctx, 0, 1, span) }()
	await.Value(t, begun)
	cancel(why)
	err := await.Value(t, read)
	require.ErrorIs(t, err, why)
	require.ErrorIs(t, err, ErrOutstanding)
	require.NoError(t, r.host.Read(r.ctx(), 1, 1, span), "others go on")
	close(let)
	await.Until(t, "the command has completed", func() bool {
		r.host.mu.Lock()
		defer r.host.mu.Unlock()
		return len(r.host.pairs[1].waiting) == 0
	})
}

// An aborted command ends at its next access, with a status that says so.
func TestAbort(t *testing.T) {
	r := newRig(t, 1<<20, nil)
	mem, m := r.memory(2 * chunk / dart.PageSize)
	begun, let := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	r.media.hook = func([]byte, int64) (int, error, bool) {
		if first.CompareAndSwap(false, true) {
			close(begun)
			<-let
		}
		return 0, nil, false
	}
	ctx, cancel := context.WithCancel(context.Background())
	read := make(chan error, 1)
	go func() { read <- r.host.Read(ctx, 0, 2*chunk/Sector, []Span{{m.Ranges()[0].At, 2 * chunk}}) }()
	await.Value(t, begun)
	cancel()
	await.Until(t, "the command is marked", func() bool {
		r.controller.mu.Lock()
		defer r.controller.mu.Unlock()
		for _, f := range r.controller.subs[1].flying {
			return f.aborted
		}
		return false
	})
	close(let)
	err := await.Value(t, read)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrOutstanding)
	require.Equal(t, byte(0xc5), mem[chunk], "the rest was not read")
	x, err := r.host.do(r.ctx(), 0, Command{Opcode: AbortCommand, Words: [6]uint32{77<<16 | 1}})
	require.NoError(t, err)
	require.EqualValues(t, 1, x.Result, "no such command")
}
