package kv

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

func TestShapesAndSizes(t *testing.T) {
	for _, c := range []struct {
		config Config
		tokens int
	}{
		{Config{Layers: 2, Heads: 8, HeadDim: 128, Context: 1}, 256},
		{Config{Layers: 2, Heads: 8, HeadDim: 128, Context: 256}, 256},
		{Config{Layers: 1, Heads: 3, HeadDim: 5, Context: 257, DType: mil.FP32}, 512},
		{Config{Layers: 1, Heads: 1, HeadDim: 1, Window: 7}, 7},
		{Config{Layers: 1, Heads: 1, HeadDim: 64, Context: 1000, Window: 100}, 100},
		{Config{Layers: 1, Heads: 1, HeadDim: 64, Context: 100, Window: 1000}, 256},
	} {
		k := made(t, c.config)
		require.Equal(t, c.tokens, k.Cap())
		require.Zero(t, k.Len())
		size := 0
		for layer := range c.config.Layers {
			for _, x := range []*ane.Tensor{k.Keys(layer), k.Values(layer)} {
				require.Equal(t, []int{1, c.config.Heads, c.tokens, c.config.HeadDim}, x.Layout().Shape)
				require.Zero(t, x.Offset(), "an engine that ignores offsets can bind it")
				size += len(x.Bytes())
			}
		}
		require.Equal(t, size, k.Bytes())
		require.Nil(t, k.Keys(-1))
		require.Nil(t, k.Values(c.config.Layers))
	}
}

func TestConfigsThatAreRefused(t *testing.T) {
	good := Config{Layers: 1, Heads: 1, HeadDim: 1, Context: 1}
	for name, change := range map[string]func(*Config){
		"layers": func(c *Config) { c.Layers = 0 }, "heads": func(c *Config) { c.Heads = -1 },
		"dim": func(c *Config) { c.HeadDim = 0 }, "nothing": func(c *Config) { c.Context = 0 },
		"negative": func(c *Config) { c.Context = -1 }, "window": func(c *Config) { c.Window = -1 },
		"huge": func(c *Config) { c.Layers = 1 << 40 },
	} {
		c := good
		change(&c)
		_, err := New(c)
		require.ErrorIs(t, err, ErrSize, name)
		typed(t, err)
	}
	c := good
	c.DType = mil.BF16
	_, err := New(c)
	require.ErrorIs(t, err, ane.ErrType)
	c.DType = mil.FP16
	c.Heads, c.HeadDim, c.Context = 1<<24, 1<<24, 1<<24
	_, err = New(c)
	require.ErrorIs(t, err, ane.ErrShape)
}

func TestTypeOfACache(t *testing.T) {
	for _, c := range []struct{ scales, weight, want mil.DType }{
		{mil.NoType, mil.FP16, mil.FP16}, {mil.NoType, mil.BF16, mil.BF16}, {mil.NoType, mil.FP32, mil.FP32},
		{mil.NoType, mil.UInt32, mil.FP16}, {mil.NoType, mil.NoType, mil.FP16}, {mil.NoType, mil.FP64, mil.FP16},
		{mil.FP32, mil.UInt32, mil.FP32}, {mil.BF16, mil.UInt32, mil.BF16}, {mil.FP16, mil.FP32, mil.FP16},
	} {
		require.Equal(t, c.want, DTypeFor(c.scales, c.weight), "%v", c)
	}
}

// forms are the ways to make a cache.
var forms = map[string]func(testing.TB, Config) *Cache{
	"apart": func(t testing.TB, c Config) *Cache { return made(t, c) },
	"heap":  func(t testing.TB, c Config) *Cache { return made(t, c, unimem.OnHeap()) },
	"surfaces": func(t testing.TB, c Config) *Cache {
		l, err := unimem.NewLayout(0, 0, 0, unimem.SurfacePerSpan())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		k, err := NewOn(l.History(), c)
		require.NoError(t, err)
		closeAtEnd(t, k)
		return k
	},
	"history": func(t testing.TB, c Config) *Cache {
		l, err := unimem.NewLayout(64, 64, 4<<20)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		_, err = l.History().Take(100, 1) // the cache does not begin at byte 0
		require.NoError(t, err)
		k, err := NewOn(l.History(), c)
		require.NoError(t, err)
		closeAtEnd(t, k)
		return k
	},
}

func TestTokensStandWhereTheTensorsSay(t *testing.T) {
	for name, form := range forms {
		for _, config := range []Config{small, padded} {
			t.Run(name, func(t *testing.T) {
				k := form(t, config)
				add(t, k, 1)
				add(t, k, 70)
				add(t, k, 1)
				holds(t, k, 0, 72)
				require.NoError(t, k.Truncate(30))
				holds(t, k, 0, 30)
				add(t, k, 226)
				holds(t, k, 0, 256)
				k.Clear()
				add(t, k, 3)
				holds(t, k, 0, 3)
			})
		}
	}
}

func TestTokensOutOfOrder(t *testing.T) {
	k := made(t, small)
	require.ErrorIs(t, k.Advance(1), ErrOrder)
	one := token(k, 0, 0, 0)
	require.NoError(t, k.Append(0, one, one))
	require.NoError(t, k.Append(1, one, one))
	err := k.Advance(1)
	require.ErrorIs(t, err, ErrOrder)
	require.ErrorContains(t, err, "layer 2 has 0 of 1 tokens")
	require.Zero(t, k.Len())
	require.NoError(t, k.Append(2, one, one))
	require.ErrorIs(t, k.Advance(2), ErrOrder)
	require.ErrorIs(t, k.Advance(0), ErrSize)
	require.NoError(t, k.Advance(1))
	require.Equal(t, 1, k.Len())

	require.NoError(t, k.Append(0, one, one), "pending tokens are dropped by Truncate")
	require.NoError(t, k.Truncate(1))
	require.ErrorIs(t, k.Advance(1), ErrOrder)
	require.ErrorIs(t, k.Truncate(2), ErrSize)
	require.ErrorIs(t, k.Truncate(-1), ErrSize)
}

func TestBlocksMayArriveInPieces(t *testing.T) {
	k := made(t, padded)
	require.NoError(t, k.Append(0, block(k, 0, 0, 0, 5), block(k, 0, 1, 0, 5)))
	require.NoError(t, k.Append(1, block(k, 1, 0, 0, 2), block(k, 1, 1, 0, 2)))
	require.NoError(t, k.Advance(2))
	holds(t, k, 0, 2)
	require.NoError(t, k.Append(1, block(k, 1, 0, 2, 5), block(k, 1, 1, 2, 5)))
	require.NoError(t, k.Advance(3))
	holds(t, k, 0, 5)
}

func TestAppendRefuses(t *testing.T) {
	k := made(t, padded)
	add(t, k, 250)
	was := image(k)
	one := token(k, 0, 0, 0)
	require.ErrorIs(t, k.Append(2, one, one), ErrLayer)
	require.ErrorIs(t, k.Append(-1, one, one), ErrLayer)
	require.ErrorIs(t, k.Append(0, one, one[1:]), ErrSize)
	require.ErrorIs(t, k.Append(0, one[1:], one[1:]), ErrSize)
	require.ErrorIs(t, k.Append(0, nil, nil), ErrSize)
	seven := block(k, 0, 0, 0, 7)
	err := k.Append(0, seven, seven)
	require.ErrorIs(t, err, ErrFull)
	typed(t, err)
	require.Equal(t, was, image(k))
}

func TestClosedCache(t *testing.T) {
	k, err := New(padded)
	require.NoError(t, err)
	x := k.Keys(0)
	one := token(k, 0, 0, 0)
	require.NoError(t, k.Close())
	require.NoError(t, k.Close())
	require.Nil(t, x.Bytes())
	require.Nil(t, k.Keys(0))
	require.Zero(t, k.Bytes())
	_, err = k.Fork()
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, k.Append(0, one, one), ErrClosed)
	require.ErrorIs(t, k.Advance(1), ErrClosed)
	require.ErrorIs(t, k.Truncate(0), ErrClosed)
	require.ErrorIs(t, k.Save(nil, print1), ErrClosed)
	require.ErrorIs(t, k.Restore(nil, print1), ErrClosed)
	require.ErrorIs(t, k.SaveFile("", print1), ErrClosed)
	require.ErrorIs(t, k.RestoreFile("", print1), ErrClosed)
	k.Clear()
}

func TestClearedTape(t *testing.T) {
	for _, opts := range [][]unimem.Option{nil, {unimem.SurfacePerSpan()}} {
		clearedTape(t, opts)
	}
}

func clearedTape(t *testing.T, opts []unimem.Option) {
	tape, err := unimem.Start(1<<20, opts...)
	require.NoError(t, err)
	k, err := NewOn(tape, padded)
	require.NoError(t, err)
	add(t, k, 2)
	tape.Clear()
	one := token(k, 0, 0, 0)
	require.ErrorIs(t, k.Append(0, one, one), ane.ErrStale)
	require.ErrorIs(t, k.Save(nil, print1), ane.ErrStale)
	k, err = NewOn(tape, padded)
	require.NoError(t, err)
	add(t, k, 2)
	require.NoError(t, tape.Close())
	require.ErrorIs(t, k.Append(0, one, one), ane.ErrStale, "the memory is unmapped")
	require.NoError(t, k.Close())

	grows := padded
	grows.Grow = true
	_, err = NewOn(tape, grows)
	require.ErrorIs(t, err, ErrSize)
	_, err = NewOn(tape, padded)
	require.ErrorIs(t, err, unimem.ErrClosed)
}

// Close of a cache on a Tape leaves the Tape and the tensors on it to the owner: Requests may be running on them.
func TestClosedCacheOnATape(t *testing.T) {
	for _, opts := range [][]unimem.Option{nil, {unimem.SurfacePerSpan()}} {
		tape, err := unimem.Start(1<<20, opts...)
		require.NoError(t, err)
		k, err := NewOn(tape, padded)
		require.NoError(t, err)
		other, err := NewOn(tape, padded)
		require.NoError(t, err)
		add(t, other, 3)
		keys, values := k.Keys(0), k.Values(1)
		part, err := keys.Slice(1, 0, 1)
		require.NoError(t, err)
		require.NoError(t, k.Close())
		require.Nil(t, k.Keys(0))
		for _, x := range []*ane.Tensor{keys, values, part} {
			require.NotNil(t, x.Bytes())
		}
		holds(t, other, 0, 3)
		tape.Clear()
		for _, x := range []*ane.Tensor{keys, values, part} {
			_, err := x.At(0, 0, 0, 0)
			require.ErrorIs(t, err, ane.ErrStale)
		}
		require.NoError(t, other.Close())
		require.NoError(t, tape.Close())
	}
}

func TestTapeTooSmall(t *testing.T) {
	tape, err := unimem.Start(unimem.PageSize)
	require.NoError(t, err)
	defer func() { require.NoError(t, tape.Close()) }()
	_, err = NewOn(tape, padded)
	require.ErrorIs(t, err, unimem.ErrTapeFull)
}

func TestGrowAddsStepsInNewMemory(t *testing.T) {
	config := padded
	config.Grow = true
	k := made(t, config)
	add(t, k, 255)
	before := k.Keys(1)
	add(t, k, 1)
	require.Same(t, before, k.Keys(1), "Context is reserved once")
	require.NoError(t, k.Append(0, token(k, 0, 0, 256), token(k, 0, 1, 256)))
	require.Equal(t, 512, k.Cap())
	_, err := before.At(0, 0, 0, 0)
	require.ErrorIs(t, err, ane.ErrStale)
	require.NoError(t, k.Append(1, token(k, 1, 0, 256), token(k, 1, 1, 256)))
	require.NoError(t, k.Advance(1))
	holds(t, k, 0, 257)
	add(t, k, 1000)
	require.Equal(t, 1280, k.Cap())
	holds(t, k, 0, 1257)
}

func TestMemoryOfALongRunIsFlat(t *testing.T) {
	config := padded
	config.Context = 2048
	k := made(t, config, unimem.Warm())
	size, live := k.Bytes(), unimem.Live()
	for range 2048 {
		add(t, k, 1)
		require.Equal(t, size, k.Bytes())
		require.Equal(t, live, unimem.Live())
	}
	require.Zero(t, k.Copied())
	grows := made(t, Config{Layers: 2, Heads: 3, HeadDim: 5, Context: 256, Grow: true})
	steps := map[int]bool{}
	for range 2048 {
		add(t, grows, 1)
		steps[grows.Bytes()] = true
	}
	require.Len(t, steps, 8, "a staircase of 256 tokens each")
}

func TestWindowKeepsTheLastTokensAndTheirPositions(t *testing.T) {
	for _, w := range []int{1, 4, 7} {
		k := made(t, Config{Layers: 2, Heads: 2, HeadDim: 32, Window: w})
		for _, n := range []int{1, 2, 1, 3, 10, 1, 1, 25, 2} {
			add(t, k, n)
			p := k.Position()
			holds(t, k, max(0, p-w), p)
		}
		p := k.Position()
		if w > 2 {
			require.NoError(t, k.Truncate(2))
			holds(t, k, p-w, p-w+2)
			add(t, k, 1)
			holds(t, k, p-w, p-w+3)
		}
	}
}

func TestAWindowLosesWhatIsOverwritten(t *testing.T) {
	k := made(t, Config{Layers: 1, Heads: 1, HeadDim: 32, Window: 4})
	add(t, k, 6)
	require.NoError(t, k.Append(0, token(k, 0, 0, 6), token(k, 0, 1, 6)))
	holds(t, k, 3, 6)
	require.NoError(t, k.Append(0, block(k, 0, 0, 7, 20), block(k, 0, 1, 7, 20)))
	require.Zero(t, k.Len())
	require.NoError(t, k.Truncate(0))
	require.Equal(t, 6, k.Position())
	add(t, k, 2)
	holds(t, k, 6, 8)
}

func TestAppendAllocatesNothing(t *testing.T) {
	k := made(t, small)
	a, b := token(k, 0, 0, 0), token(k, 0, 1, 0)
	require.Zero(t, testing.AllocsPerRun(200, func() {
		for layer := range 3 {
			if k.Append(layer, a, b) != nil {
				panic("append")
			}
		}
		if k.Advance(1) != nil || k.Keys(0) == nil {
			panic("advance")
		}
	}))
	require.Equal(t, 201, k.Len())
}

// Calls on a nil and on a zero Cache return ErrClosed or nothing, and a nil Writer or Reader is an error.
func TestNilAndZero(t *testing.T) {
	for _, c := range []*Cache{nil, {}} {
		require.Zero(t, c.Len()+c.Cap()+c.Bytes()+c.Position()+int(c.Copied()))
		require.Zero(t, c.Config())
		require.Nil(t, c.Keys(0))
		require.Nil(t, c.Values(0))
		_, err := c.Fork()
		path := filepath.Join(t.TempDir(), "s")
		for i, err := range []error{err, c.Append(0, []byte{1}, []byte{1}), c.Advance(1), c.Truncate(0),
			c.Save(io.Discard, Fingerprint{}), c.Restore(strings.NewReader(""), Fingerprint{}),
			c.SaveFile(path, Fingerprint{}), c.RestoreFile(path, Fingerprint{})} {
			require.ErrorIs(t, err, ErrClosed, i)
		}
		c.Clear()
		require.NoError(t, c.Close())
	}
	c, err := New(Config{Layers: 1, Heads: 1, HeadDim: 32, Context: 256, DType: mil.FP16})
	require.NoError(t, err)
	require.ErrorIs(t, c.Save(nil, Fingerprint{}), os.ErrInvalid)
	require.ErrorIs(t, c.Restore(nil, Fingerprint{}), os.ErrInvalid)
	require.NoError(t, c.Close())
}

// Each surface has at least the bytes that the engine wants.
func TestLeastSurface(t *testing.T) {
	c, err := New(Config{Layers: 2, Heads: 1, HeadDim: 32, Context: 256, Surface: 1 << 20})
	require.NoError(t, err)
	for layer := range 2 {
		require.Equal(t, 1<<20, c.Keys(layer).Block().Size())
		require.Equal(t, 1<<20, c.Values(layer).Block().Size())
	}
	require.NoError(t, c.Close())
	_, err = New(Config{Layers: 2, Heads: 1, HeadDim: 32, Context: 256, Surface: -1})
	require.ErrorIs(t, err, ErrSize)
	require.ErrorContains(t, err, "Surface is -1")
}

// Reserve moves a cache to a larger room once; its tokens stay.
func TestReserve(t *testing.T) {
	c, err := New(Config{Layers: 2, Heads: 2, HeadDim: 32, Context: 10}, unimem.Warm())
	require.NoError(t, err)
	defer c.Close()
	data := bytes.Repeat([]byte{3}, 5*2*32*2)
	for l := range 2 {
		require.NoError(t, c.Append(l, data, data))
	}
	require.NoError(t, c.Advance(5))
	require.NoError(t, c.Reserve(256))
	require.Zero(t, c.Copied())
	old := c.Keys(1)
	require.NoError(t, c.Reserve(257))
	require.Equal(t, 512, c.Cap())
	require.Equal(t, 5, c.Len())
	require.EqualValues(t, 2*2*len(data), c.Copied())
	require.Nil(t, old.Bytes())
	require.Equal(t, data[:64], c.Keys(1).Bytes()[:64])
	require.NoError(t, c.Reserve(0))
	require.Equal(t, 512, c.Cap())
	require.ErrorIs(t, c.Reserve(-1), ErrSize)
	require.ErrorIs(t, (*Cache)(nil).Reserve(1), ErrClosed)
}

// Where the memory of Context is refused, a cache that may grow reserves less; another one is an error.
func TestReservesLessIfItMayGrow(t *testing.T) {
	held := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(held)
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	debug.SetMemoryLimit(int64(now.Sys) + 200<<20)
	long := Config{Layers: 1, Heads: 16, HeadDim: 128, Context: 1 << 17} // 1 GiB
	_, err := New(long, unimem.OnHeap())
	require.ErrorIs(t, err, unimem.ErrExhausted)
	long.Grow = true
	c, err := New(long, unimem.OnHeap())
	require.NoError(t, err)
	require.Less(t, c.Cap(), 1<<17)
	require.GreaterOrEqual(t, c.Cap(), Step)
	require.NoError(t, c.Close())
}
