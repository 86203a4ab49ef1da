package server

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/broker/wire"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/ane/mil"
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
	require.Zero(t, sizeOf(t, dir))
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
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"+suffix))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	text[len(text)/2] ^= 0x10
	require.NoError(t, os.WriteFile(files[0], text, 0o600))
	once(func(p *peer) {
		c, err := p.compile(m)
		require.NoError(t, err)
		require.False(t, c.Cached)
		require.Contains(t, c.Notes[len(c.Notes)-1], "damaged")
		require.EqualValues(t, 1, p.counter(t, "cache entries damaged"))
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
		"no descriptor":      {wire.Compile{TextSize: 1}, nil, nil},
		"text beyond":        {wire.Compile{TextSize: uint64(len(m.Text)) + 1}, []int{fd}, ane.ErrShort},
		"not sealed":         {wire.Compile{TextSize: 0}, []int{int(open.Fd())}, nil},
		"no such descriptor": {wire.Compile{Weights: []wire.Weight{{Name: "w", Descriptor: 1}}}, []int{fd}, ane.ErrShort},
		"offset beyond":      {wire.Compile{Weights: []wire.Weight{{Name: "w", Offset: 1 << 30}}}, []int{fd}, ane.ErrShort},
		"size beyond":        {wire.Compile{Weights: []wire.Weight{{Name: "w", Offset: 1, Size: uint64(len(m.Text))}}}, []int{fd}, ane.ErrShort},
		"twice":              {wire.Compile{Weights: []wire.Weight{{Name: "w"}, {Name: "w"}}}, []int{fd}, ane.ErrName},
		"key and program":    {wire.Compile{Key: "k", TextSize: 1}, []int{fd}, ane.ErrMismatch},
		"empty text":         {wire.Compile{}, []int{fd}, ane.ErrCompile},
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
	require.Zero(t, b.live.count())
}

// TestInstances have weights of their own on a base that is loaded.
func TestInstances(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	m := model(t, "conv-1x1")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	for _, x := range r.in {
		l := x.Layout()
		values := make([]float32, l.Elements())
		for i, v := range m.Input(l.Name, l.Elements(), 3) {
			values[i] = float32(v)
		}
		_, err := x.WriteFloat32(values)
		require.NoError(t, err)
	}
	require.NoError(t, p.evaluate(r, 0))
	before := append([]byte(nil), r.out[0].Bytes()...)

	own := map[string][]byte{}
	for name, data := range m.Weights {
		own[name] = append([]byte(nil), data...)
		clear(own[name][len(data)/2:]) // values, not headers
	}
	send := func(program uint32, weights map[string][]byte, args wire.Arguments) (c wire.Compiled, err error) {
		q := wire.Instance{Program: program, Args: args}
		var parts [][]byte
		at := uint64(0)
		for name, data := range weights {
			q.Weights = append(q.Weights, wire.Weight{Name: name, Offset: at, Size: uint64(len(data))})
			parts = append(parts, data)
			at += uint64(len(data))
		}
		f, err := wire.Seal("weights", parts...)
		require.NoError(t, err)
		defer f.Close()
		return c, p.ask(wire.KindInstance, &q, &c, int(f.Fd()))
	}
	c, err := send(r.program, own, wire.Arguments{PowerSaving: true, KeepWired: true, QueueDepth: 3})
	require.NoError(t, err)
	var l wire.Loaded
	require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &l))
	i, err := p.tie(c)
	require.NoError(t, err)
	copy(i.in[0].Bytes(), r.in[0].Bytes())
	require.NoError(t, p.evaluate(i, 0))
	require.NotEqual(t, before, i.out[0].Bytes(), "the adapter's weights")
	require.NoError(t, p.evaluate(r, 0))
	require.Equal(t, before, r.out[0].Bytes(), "the base's are as they were")

	require.EqualValues(t, 1, p.counter(t, "instances"))
	_, err = send(r.program, map[string][]byte{"@model_path/other": nil}, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrName)
	_, err = send(c.Program, own, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrNotLoaded, "an instance is no base")
	_, err = send(99, own, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrForeign)
	_, err = send(r.program, map[string][]byte{"@model_path/weights/weight.bin": []byte("short")}, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrCompile)

	require.NoError(t, p.ask(wire.KindUnbind, &wire.Unbind{Request: i.request}, &wire.Empty{}))
	require.NoError(t, p.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{}))
	require.Zero(t, b.driver.Stats().Instances+b.driver.Stats().Weights)
	require.NoError(t, p.ask(wire.KindUnload, &wire.Unload{Program: r.program}, &wire.Empty{}))
	_, err = send(r.program, own, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrNotLoaded)

	denied := b.join(alice, driverabi.Unrestricted)
	err = denied.ask(wire.KindInstance, &wire.Instance{}, &wire.Compiled{})
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, driverabi.EntitlementAdapterWeight)
}
