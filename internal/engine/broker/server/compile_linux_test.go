//go:build !macrules

package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/calls"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// byKey asks for a cached program and sends nothing.
func (p *peer) byKey(key string) (c wire.Compiled, err error) {
	return c, p.ask(wire.KindCompile, &wire.Compile{File: "again", Key: key}, &c)
}

func (p *peer) counter(t *testing.T, name string) uint64 {
	t.Helper()
	var s wire.Stats
	require.NoError(t, p.ask(wire.KindStats, &wire.Empty{}, &s))
	for _, c := range s.Counters {
		if c.Name == name {
			return c.Value
		}
	}
	t.Fatal("no counter ", name)
	return 0
}

func TestCompileSharesAndCaches(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, Config{CacheDir: dir})
	p, q, other := b.join(alice, ""), b.join(alice, ""), b.join(mary, "")
	m := model(t, "conv-3x3")
	first, err := p.compile(m)
	require.NoError(t, err)
	require.False(t, first.Cached)
	second, err := q.compile(m)
	require.NoError(t, err)
	require.True(t, second.Cached)
	require.Equal(t, first.Key, second.Key)
	require.EqualValues(t, 1, p.counter(t, "programs in memory"))
	require.EqualValues(t, 1, p.counter(t, "compiles from memory"))

	_, err = other.byKey(first.Key)
	require.ErrorIs(t, err, ane.ErrName, "another identity's program")
	foreign, err := other.compile(m)
	require.NoError(t, err)
	require.False(t, foreign.Cached)
	require.EqualValues(t, 2, p.counter(t, "programs in memory"))

	var purged wire.Purged
	require.NoError(t, other.ask(wire.KindPurge, &wire.Purge{}, &purged))
	require.EqualValues(t, 1, purged.Programs, "its own alone")
	third, err := q.byKey(first.Key)
	require.NoError(t, err)
	require.True(t, third.Cached)
	require.NotEqual(t, second.Program, third.Program)
	require.Equal(t, first.In, third.In)

	require.ErrorIs(t, p.ask(wire.KindPurge, &wire.Purge{Key: "../../x"}, &purged), ane.ErrName)
	require.NoError(t, p.ask(wire.KindPurge, &wire.Purge{Key: first.Key}, &purged))
	require.EqualValues(t, 1, purged.Programs)
	_, err = p.byKey(first.Key)
	require.ErrorIs(t, err, ane.ErrName, "purged")
	again, err := p.compile(m)
	require.NoError(t, err)
	require.False(t, again.Cached)
	require.NoError(t, p.ask(wire.KindPurge, &wire.Purge{Key: PurgeEverybody}, &purged))
	require.EqualValues(t, 1, purged.Programs)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	for _, k := range []string{first.Key, "no key", ""} {
		_, err := p.byKey(k)
		require.Error(t, err)
	}
}

func TestCacheSurvivesTheBroker(t *testing.T) {
	dir := t.TempDir()
	m := model(t, "conv-3x3")
	var key string
	once := func(check func(p *peer)) {
		t.Run("", func(t *testing.T) {
			check(startBroker(t, Config{CacheDir: dir}).join(alice, ""))
		})
	}
	once(func(p *peer) {
		c, err := p.compile(m)
		require.NoError(t, err)
		key = c.Key
	})
	once(func(p *peer) {
		c, err := p.byKey(key)
		require.NoError(t, err)
		require.True(t, c.Cached)
		require.EqualValues(t, 1, p.counter(t, "compiles from the cache"))
		var l wire.Loaded
		require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &l))
		r, err := p.tie(c)
		require.NoError(t, err)
		require.NoError(t, p.evaluate(r, 0))
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.program"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	text[len(text)/2] ^= 0x10
	require.NoError(t, os.WriteFile(files[0], text, 0o600))
	once(func(p *peer) {
		_, err := p.byKey(key)
		require.ErrorContains(t, err, "damaged")
		require.EqualValues(t, 1, p.counter(t, "cache entries damaged"))
		c, err := p.compile(m)
		require.NoError(t, err)
		require.False(t, c.Cached)
	})
	once(func(p *peer) {
		c, err := p.compile(m)
		require.NoError(t, err)
		require.True(t, c.Cached, "made again")
	})
	once(func(p *peer) {
		small := startBroker(t, Config{CacheDir: dir, CacheBytes: 64}).join(alice, "")
		c, err := small.compile(m)
		require.NoError(t, err)
		require.Contains(t, c.Notes[len(c.Notes)-1], "not kept in the cache")
	})
}

// TestCompileTellsEveryFault sends programs that are wrong.
func TestCompileTellsEveryFault(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	m := model(t, "conv-3x3")
	bad := m
	bad.Text = []byte("program(1.3) { nonsense }")
	_, err := p.compile(bad)
	require.ErrorIs(t, err, ane.ErrCompile)
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	require.True(t, list[0].Pos.Known())
	bad = m
	bad.Weights = nil
	_, err = p.compile(bad)
	require.ErrorIs(t, err, ane.ErrCompile)
	require.Zero(t, p.counter(t, "programs in memory"))

	whole, err := wire.Seal("text", m.Text)
	require.NoError(t, err)
	defer whole.Close()
	open, err := os.Create(filepath.Join(t.TempDir(), "text"))
	require.NoError(t, err)
	defer open.Close()
	fd := int(whole.Fd())
	for name, c := range map[string]struct {
		q    wire.Compile
		fds  []int
		want error
	}{
		"no descriptor": {wire.Compile{TextSize: 1}, nil, nil},
		"text beyond":   {wire.Compile{TextSize: uint64(len(m.Text)) + 1}, []int{fd}, ane.ErrShort},
		"not sealed":    {wire.Compile{TextSize: 0}, []int{int(open.Fd())}, nil},
		"no such descriptor": {wire.Compile{Weights: []wire.Weight{{Name: "w", Descriptor: 1}}}, []int{fd},
			ane.ErrShort},
		"offset beyond": {wire.Compile{Weights: []wire.Weight{{Name: "w", Offset: 1 << 30}}}, []int{fd},
			ane.ErrShort},
		"size beyond": {wire.Compile{Weights: []wire.Weight{{Name: "w", Offset: 1, Size: uint64(len(m.Text))}}},
			[]int{fd}, ane.ErrShort},
		"twice":           {wire.Compile{Weights: []wire.Weight{{Name: "w"}, {Name: "w"}}}, []int{fd}, ane.ErrName},
		"key and program": {wire.Compile{Key: "k", TextSize: 1}, []int{fd}, ane.ErrMismatch},
		"empty text":      {wire.Compile{}, []int{fd}, ane.ErrCompile},
	} {
		var r wire.Compiled
		err := p.ask(wire.KindCompile, &c.q, &r, c.fds...)
		require.Error(t, err, name)
		require.NotErrorIs(t, err, wire.ErrClosed, name)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, name)
		}
	}
}

// TestManyCompileTheSame has one compile done for all.
func TestManyCompileTheSame(t *testing.T) {
	b := startBroker(t, Config{})
	m := model(t, "attention")
	var all sync.WaitGroup
	for range 8 {
		p := b.join(alice, "")
		all.Go(func() {
			for range 20 {
				c, err := p.compile(m)
				if err == nil {
					err = p.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, b.live.Count())
}

// TestReadingHasItsTurn: a compile looks at what was sent, and reads the cache, when it is its turn: a client could
// keep processors from others by that alone.
func TestReadingHasItsTurn(t *testing.T) {
	const places = 2
	b := startBroker(t, Config{CacheDir: t.TempDir(), Workers: places + 1})
	p := b.join(alice, driverabi.Restricted)
	m := wide(t, 2)
	first, err := p.compile(m)
	require.NoError(t, err)
	require.NoError(t, p.ask(wire.KindRelease, &wire.Release{Program: first.Program}, &wire.Empty{}))
	before := p.counter(t, "own bytes of memory")
	var all sync.WaitGroup
	free := make(chan struct{})
	for range places {
		occupy(t, b.turns, &all, free)
	}
	sent := b.join(alice, driverabi.Restricted)
	byKey := b.join(alice, driverabi.Restricted)
	all.Go(func() {
		_, err := sent.compile(wide(t, 3))
		if err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		_, err := byKey.byKey(first.Key)
		if err != nil {
			t.Error(err)
		}
	})
	eventually(t, "both wait", func() bool { return b.turns.Waiting.Load() == 2 })
	require.Equal(t, before, p.counter(t, "own bytes of memory"))
	require.Less(t, b.budgets.Now()[resources.Memory].Used, int64(2<<20+1<<20),
		"the entry, which is not read, and no weights")
	close(free)
	all.Wait()
}

// occupy takes one place of the line until free is closed.
func occupy(t *testing.T, line *calls.Turns, all *sync.WaitGroup, free <-chan struct{}) {
	t.Helper()
	begun := make(chan struct{})
	all.Go(func() {
		_ = line.Do(t.Context(), await.Patience, "test", func(context.Context) error {
			close(begun)
			<-free
			return nil
		})
	})
	await.Value(t, begun)
}

// TestTinyCompilesBesideHogs: a compile of one long text, or of a few long constants, gives its place to a tiny compile
// of another client that is in line when it begins. The number of turns shows that: the hog has a second one.
func TestTinyCompilesBesideHogs(t *testing.T) {
	const form = "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\n%stensor<fp16, %s> y = mul(x = x, y = %s);\n" +
		"} -> (y);\n}\n"
	constant := "tensor<fp16, [4096, 4096]> a0 = fill(shape = tensor<int32, [2]>([4096, 4096]), value = fp16(1.5));\n" +
		"tensor<fp16, [4096, 4096]> a1 = pow(x = a0, y = a0);\n"
	var long strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&long, "tensor<fp16, [1]> a%d = add(x = x, y = x);\n", i)
	}
	for name, text := range map[string]string{
		"constants": fmt.Sprintf(form, constant, "[4096, 4096]", "a1"),
		"text":      fmt.Sprintf(form, long.String(), "[1]", "x"),
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, Config{Workers: 1})
			b.turns.Slice = 0
			var all sync.WaitGroup
			free := make(chan struct{})
			occupy(t, b.turns, &all, free)
			hog := b.join(admission.Identity{User: 1, Executable: [32]byte{9}}, "")
			f, err := wire.Seal("program", []byte(text))
			require.NoError(t, err)
			_, err = hog.post(wire.KindCompile, &wire.Compile{File: "hog", TextSize: uint64(len(text))}, int(f.Fd()))
			require.NoError(t, err)
			require.NoError(t, f.Close())
			eventually(t, "the hog waits", func() bool { return b.turns.Waiting.Load() == 1 })
			p := b.join(mary, "")
			all.Go(func() {
				if _, err := p.compile(model(t, "conv-3x3")); err != nil {
					t.Error(err)
				}
			})
			eventually(t, "the tiny compile waits", func() bool { return b.turns.Waiting.Load() == 2 })
			close(free)
			all.Wait()
			eventually(t, "the hog has ended", func() bool { return b.counts.compiles.Load() == 2 })
			require.Greater(t, b.turns.Given.Load(), int64(3), "of the test, the hog, the tiny compile and the hog again")
		})
	}
}
