package dart

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/internal/await"
)

const start = 4 << 30

var both = Options{Access: Read | Write}

func table(pages uint64) *Table { return NewTable(Range{start, pages * PageSize}) }

// fault requires err to be a Fault at an address.
func fault(t *testing.T, err error, at uint64) *Fault {
	t.Helper()
	var f *Fault
	require.ErrorAs(t, err, &f)
	require.Equal(t, at, f.At)
	return f
}

func unmap(t rapid.TB, m *Mapping) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	require.NoError(t, m.Unmap(ctx))
}

func TestAddressesAreMemory(t *testing.T) {
	d := table(8)
	mem := make([]byte, 2*PageSize+100)
	m, err := d.Map(mem, both)
	require.NoError(t, err)
	require.Equal(t, []Range{{start, 3 * PageSize}}, m.Ranges())
	require.Equal(t, len(mem), m.Size())
	require.NoError(t, d.Store(start+PageSize-2, []byte{1, 2, 3, 4}))
	require.Equal(t, []byte{1, 2, 3, 4}, mem[PageSize-2:PageSize+2])
	mem[2*PageSize+99] = 7
	got := make([]byte, 1)
	require.NoError(t, d.Load(start+2*PageSize+99, got))
	require.Equal(t, byte(7), got[0])

	require.False(t, fault(t, d.Load(start+2*PageSize+100, got), start+2*PageSize+100).Denied, "after the memory")
	fault(t, d.Store(start-1, got), start-1)
	fault(t, d.Load(start+3*PageSize, got), start+3*PageSize)
	fault(t, d.Load(0, got), 0)
	fault(t, d.Load(1<<64-1, got), 1<<64-1)
	fault(t, d.Reach(start, 2*PageSize+101, Read), start+2*PageSize+100)
	require.EqualValues(t, 6, d.Faults())
	unmap(t, m)
	fault(t, d.Load(start, got), start)
	unmap(t, m)
	require.Equal(t, []Range{{start, 8 * PageSize}}, d.Free())
	require.Zero(t, d.Live())
}

func TestProtection(t *testing.T) {
	d := table(2)
	mem := make([]byte, PageSize)
	in, err := d.Map(mem, Options{Access: Read})
	require.NoError(t, err)
	out, err := d.Map(mem, Options{Access: Write})
	require.NoError(t, err)
	got := []byte{5}
	f := fault(t, d.Store(start, got), start)
	require.True(t, f.Denied)
	require.Equal(t, Write, f.Access)
	require.Contains(t, f.Error(), "0x100000000")
	require.True(t, fault(t, d.Load(start+PageSize, got), start+PageSize).Denied)
	require.NoError(t, d.Store(start+PageSize, got))
	got[0] = 0
	require.NoError(t, d.Load(start, got), "the same memory at two addresses")
	require.Equal(t, byte(5), got[0])
	unmap(t, in)
	unmap(t, out)
}

// A device's addresses mean nothing to another device.
func TestTablesAreApart(t *testing.T) {
	a, b := table(1), table(1)
	x, y := make([]byte, PageSize), make([]byte, PageSize)
	m, err := a.Map(x, both)
	require.NoError(t, err)
	fault(t, b.Store(start, []byte{1}), start)
	n, err := b.Map(y, both)
	require.NoError(t, err)
	require.NoError(t, b.Store(start, []byte{1}))
	require.Zero(t, x[0])
	unmap(t, m)
	unmap(t, n)
}

func TestExhaustion(t *testing.T) {
	d := table(6)
	_, err := d.Map(make([]byte, 7*PageSize), both)
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, []Range{{start, 6 * PageSize}}, d.Free(), "nothing is taken")
	_, err = d.Map(nil, both)
	require.ErrorIs(t, err, ErrMemory)
	_, err = NewTable(Range{}).Map(make([]byte, 1), both)
	require.ErrorIs(t, err, ErrFull)

	var all []*Mapping
	for range 6 {
		m, err := d.Map(make([]byte, 1), both)
		require.NoError(t, err)
		all = append(all, m)
	}
	require.Empty(t, d.Free())
	unmap(t, all[1])
	unmap(t, all[4])
	mem := make([]byte, 2*PageSize)
	_, err = d.Map(mem, Options{Access: Write, Most: 1})
	require.ErrorIs(t, err, ErrFull, "two holes are not one")
	require.Equal(t, []Range{{start + PageSize, PageSize}, {start + 4*PageSize, PageSize}}, d.Free())
	m, err := d.Map(mem, both)
	require.NoError(t, err)
	require.Equal(t, []Range{{start + PageSize, PageSize}, {start + 4*PageSize, PageSize}}, m.Ranges())
	require.NoError(t, d.Store(start+4*PageSize, []byte{9}))
	require.Equal(t, byte(9), mem[PageSize])
	fault(t, d.Store(start+2*PageSize-1, []byte{1, 2, 3}), start+2*PageSize+1) // the neighbor has one byte
	for _, x := range append(all, m) {
		unmap(t, x)
	}
	require.Equal(t, []Range{{start, 6 * PageSize}}, d.Free())
}

func TestLongestAndMost(t *testing.T) {
	d := table(100)
	mem := make([]byte, 70*PageSize)
	m, err := d.Map(mem, Options{Access: Write, Longest: 2 * PageSize, Most: 32})
	require.NoError(t, err)
	require.Len(t, m.Ranges(), 32)
	require.Equal(t, 64*PageSize, m.Size(), "the first bytes")
	require.NoError(t, d.Store(start+64*PageSize-1, []byte{1}))
	require.Equal(t, byte(1), mem[64*PageSize-1])
	fault(t, d.Reach(start, 64*PageSize+1, Write), start+64*PageSize)
	_, err = d.Map(mem, Options{Longest: 100})
	require.ErrorIs(t, err, ErrMemory)
	unmap(t, m)
}

// A mapping that is withdrawn during an access stays until the access ends, and so do its addresses.
func TestUnmapDuringAccess(t *testing.T) {
	d := table(2)
	m, err := d.Map(make([]byte, 2*PageSize), both)
	require.NoError(t, err)
	begun, let, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- d.Do(start, PageSize, Write, func(mem []byte) error {
			close(begun)
			<-let
			mem[0] = 1 // the memory is still there
			return nil
		})
	}()
	await.Value(t, begun)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("no patience")
	cancel(why)
	require.ErrorIs(t, m.Unmap(ctx), why)
	fault(t, d.Reach(start, 1, Write), start) // new accesses fault at once
	require.Empty(t, d.Free())
	_, err = d.Map(make([]byte, 1), both)
	require.ErrorIs(t, err, ErrFull, "an access could still write there")
	done := make(chan error, 1)
	go func() { done <- m.Unmap(context.Background()) }()
	close(let)
	require.NoError(t, await.Value(t, ended))
	require.NoError(t, await.Value(t, done))
	require.Equal(t, []Range{{start, 2 * PageSize}}, d.Free())
}

func TestDoEndsWithTheFirstError(t *testing.T) {
	d := table(4)
	a, err := d.Map(make([]byte, PageSize), both)
	require.NoError(t, err)
	b, err := d.Map(make([]byte, PageSize), both)
	require.NoError(t, err)
	why, runs := errors.New("why"), 0
	require.ErrorIs(t, d.Do(start, 2*PageSize, Read, func([]byte) error { runs++; return why }), why)
	require.Equal(t, 1, runs)
	runs = 0
	require.NoError(t, d.Do(start, 2*PageSize, Read, func(mem []byte) error {
		runs++
		require.Len(t, mem, PageSize)
		return nil
	}))
	require.Equal(t, 2, runs, "memory of two mappings is no run")
	require.NoError(t, d.Do(1, 0, Read, nil), "no bytes, no access")
	unmap(t, a)
	unmap(t, b)
}

// TestRandom compares with a map from pages to memory.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const pages = 40
		d := table(pages)
		type page struct {
			mem []byte
			n   int
		}
		var live []*Mapping
		model := map[uint64]page{}
		t.Repeat(map[string]func(*rapid.T){
			"map": func(t *rapid.T) {
				mem := make([]byte, rapid.IntRange(1, 9).Draw(t, "pages")*PageSize)
				longest := rapid.Uint64Range(0, 3).Draw(t, "longest in pages") * PageSize
				m, err := d.Map(mem, Options{Access: Read | Write, Longest: longest,
					Most: rapid.IntRange(0, 3).Draw(t, "most")})
				if err != nil {
					require.ErrorIs(t, err, ErrFull)
					return
				}
				n := 0
				for _, x := range m.Ranges() {
					for at := x.At; at < x.At+x.Size; at += PageSize {
						require.NotContains(t, model, at, "page %#x is out already", at)
						model[at] = page{mem, n}
						n += PageSize
					}
				}
				require.Equal(t, n, m.Size())
				live = append(live, m)
			},
			"unmap": func(t *rapid.T) {
				if len(live) == 0 {
					t.Skip("nothing is mapped")
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "mapping")
				for _, x := range live[i].Ranges() {
					for at := x.At; at < x.At+x.Size; at += PageSize {
						require.Contains(t, model, at)
						delete(model, at)
					}
				}
				unmap(t, live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			},
			"store": func(t *rapid.T) {
				number := rapid.Uint64Range(0, pages-1).Draw(t, "page")
				at := start + number*PageSize + rapid.Uint64Range(0, PageSize-1).Draw(t, "byte")
				value := rapid.Byte().Draw(t, "value")
				p, mapped := model[at/PageSize*PageSize]
				err := d.Store(at, []byte{value})
				require.Equal(t, mapped, err == nil)
				if mapped {
					require.Equal(t, value, p.mem[p.n+int(at%PageSize)])
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(live), d.Live())
				free := uint64(0)
				for _, x := range d.Free() {
					free += x.Size
				}
				require.Equal(t, uint64(pages-len(model))*PageSize, free)
			},
		})
		for _, m := range live {
			unmap(t, m)
		}
		require.Equal(t, []Range{{start, pages * PageSize}}, d.Free())
	})
}

// Devices access, and the owner of memory unmaps, at the same time: no access reaches memory whose Unmap has
// returned. The race detector watches.
func TestUnmapRacesWithAccess(t *testing.T) {
	d := table(4)
	var stop, wg = make(chan struct{}), sync.WaitGroup{}
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = d.Load(start+PageSize-1, make([]byte, 2)) // a fault, or not
				}
			}
		})
	}
	for range 500 {
		mem := make([]byte, 2*PageSize)
		m, err := d.Map(mem, both)
		require.NoError(t, err)
		unmap(t, m)
		mem[PageSize-1], mem[PageSize] = 1, 1 // ours alone again
	}
	close(stop)
	wg.Wait()
}

// BenchmarkMap is the model's share of preparing memory: an entry for each page, and their removal.
func BenchmarkMap(b *testing.B) {
	for name, size := range map[string]int{"1MiB": 1 << 20, "256MiB": 256 << 20, "1GiB": 1 << 30} {
		b.Run(name, func(b *testing.B) {
			d := NewTable(Range{start, 64 << 30})
			mem := make([]byte, size)
			for b.Loop() {
				m, err := d.Map(mem, both)
				if err != nil {
					b.Fatal(err)
				}
				if err := m.Unmap(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
