//go:build !macrules

package server

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/models"
)

// wide returns a program that adds 1,048,576 numbers of a weight file to its input, and the file.
func wide(t *testing.T, value float32) models.Model {
	data := make([]byte, 2<<20)
	for i := 0; i < len(data); i += 2 {
		binary.LittleEndian.PutUint16(data[i:], uint16(fp16.FromFloat32(value)))
	}
	var w blob.Writer
	_, err := w.Add(mil.FP16, data, 0)
	require.NoError(t, err)
	text := []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [1, 1024, 1, 1024]> x) {
tensor<fp16, [1, 1024, 1, 1024]> w = const()[val = tensor<fp16, [1, 1024, 1, 1024]>(BLOBFILE(` +
		`path = string("@model_path/w.bin"), offset = uint64(64)))];
tensor<fp16, [1, 1024, 1, 1024]> y = add(x = x, y = w);
} -> (y);
}
`)
	for len(text)%64 > 0 { // the file follows it, aligned
		text = append(text, '\n')
	}
	return models.Model{Name: "wide", Text: text, Weights: map[string][]byte{"@model_path/w.bin": w.Bytes()}}
}

// Large weights are computed with where the client has put them. The files that hold them are charged until the
// program is released, those of a base and of its instances each for itself.
func TestLargeWeightsStayWhereTheyAre(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	first := func(r *run) float32 {
		require.NoError(t, p.evaluate(r, 0))
		return fp16.Bits(binary.LittleEndian.Uint16(r.out[0].Bytes())).Float32()
	}
	base, err := p.ready(wide(t, 2), 21)
	require.NoError(t, err)
	require.Equal(t, float32(2), first(base))
	surfaces := 2 * p.counter(t, "own surfaces")
	require.Greater(t, p.counter(t, "own mappings"), surfaces, "the client's memory is mapped")
	before := p.counter(t, "own descriptors")

	c, err := p.adapt(base.program, wide(t, 3).Weights, wire.Arguments{})
	require.NoError(t, err)
	require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &wire.Loaded{}))
	own, err := p.tie(c)
	require.NoError(t, err)
	require.Equal(t, float32(3), first(own))
	require.Equal(t, float32(2), first(base))
	require.Greater(t, p.counter(t, "own descriptors"), before)
}

// A program with large weights is computed with where the client has put them also when the cache has the program: what
// it has would be a copy.
func TestLargeWeightsAreNotReadFromTheCache(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // brokers, one after another
		t.Run("", func(t *testing.T) {
			b := startBroker(t, Config{CacheDir: dir})
			p := b.join(alice, "")
			for range 2 {
				before := p.counter(t, "own mappings")
				c, err := p.compile(wide(t, 2))
				require.NoError(t, err)
				require.Greater(t, p.counter(t, "own mappings"), before, "the client's memory is mapped")
				require.NoError(t, p.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{}))
				again, err := p.byKey(c.Key)
				require.NoError(t, err, "the cache has it")
				require.NoError(t, p.ask(wire.KindRelease, &wire.Release{Program: again.Program}, &wire.Empty{}))
			}
			files, err := filepath.Glob(filepath.Join(dir, "*.program"))
			require.NoError(t, err)
			require.Len(t, files, 1)
		})
	}
}

// Weights that a program computes with in the client's memory take no descriptor of the broker, of which a client may
// have no more than its surfaces need.
func TestLargeWeightsTakeNoDescriptor(t *testing.T) {
	b := startBroker(t, Config{process: allowance{files: 4 * MaxClients, mappings: 1 << 14, memory: 1 << 30}})
	taker := b.join(mary, "")
	var err error
	for err == nil { // until what is left are the two of each client
		_, _, err = taker.surface(64)
	}
	require.ErrorIs(t, err, ane.ErrExhausted)
	p := b.join(alice, "")
	r, err := p.ready(wide(t, 2), 21)
	require.NoError(t, err, "one descriptor of a surface for x, and one for y")
	require.NoError(t, p.evaluate(r, 0))
	require.EqualValues(t, 2, p.counter(t, "own descriptors"))
}

// A program may name parts of files that are larger than a program may be, as one does that shares some weights with
// others. Only what it names is charged.
func TestPartsOfLargeFiles(t *testing.T) {
	b := startBroker(t, Config{process: allowance{files: 1 << 12, mappings: 1 << 14, memory: 1 << 30}})
	p := b.join(alice, "")
	m := wide(t, 2)
	w := m.Weights["@model_path/w.bin"]
	text, err := wire.Seal("text", m.Text)
	require.NoError(t, err)
	defer text.Close()
	fds := []int{int(text.Fd())}
	q := wire.Compile{TextSize: uint64(len(m.Text))}
	for _, name := range []string{"@model_path/w.bin", "@model_path/v.bin"} {
		fd, err := unix.MemfdCreate("large", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		require.NoError(t, err)
		defer unix.Close(fd)
		require.NoError(t, unix.Ftruncate(fd, resources.MaxUpload/8*5))
		_, err = unix.Pwrite(fd, w, 1<<30)
		require.NoError(t, err)
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS,
			unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE|unix.F_SEAL_SEAL)
		require.NoError(t, err)
		q.Weights = append(q.Weights, wire.Weight{Name: name, Descriptor: uint32(len(fds)), Offset: 1 << 30,
			Size: uint64(len(w))})
		fds = append(fds, fd)
	}
	require.NoError(t, p.ask(wire.KindCompile, &q, &wire.Compiled{}, fds...))
	require.Less(t, p.counter(t, "own bytes of memory"), uint64(3*len(w)))

	for i := range 2 { // both are holes but for the weight: within the limit one by one
		q.Weights[i].Offset, q.Weights[i].Size = 0, resources.MaxUpload/8*5
	}
	err = p.ask(wire.KindCompile, &q, &wire.Compiled{}, fds...)
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, fmt.Sprint(resources.MaxUpload))
}

// Weights that several programs of a client share are charged once, while one of them holds them; so is a program that
// was compiled twice. A copy in another file is charged too, and so is what the engine reads and may have copied.
func TestSharedWeightsAreChargedOnce(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	m := wide(t, 2)
	weights := m.Weights["@model_path/w.bin"]
	file := func() int {
		f, err := wire.Seal("weights", weights)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return int(f.Fd())
	}
	compile := func(weightFile int, text string) wire.Compiled {
		f, err := wire.Seal("text", []byte(text))
		require.NoError(t, err)
		defer f.Close()
		var c wire.Compiled
		require.NoError(t, p.ask(wire.KindCompile, &wire.Compile{TextSize: uint64(len(text)), Weights: []wire.Weight{
			{Name: "@model_path/w.bin", Descriptor: 1, Size: uint64(len(weights))},
		}}, &c, int(f.Fd()), weightFile))
		return c
	}
	release := func(c wire.Compiled) {
		require.NoError(t, p.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{}))
	}
	used := func() int { return int(p.counter(t, "own bytes of memory")) }
	other := strings.Replace(string(m.Text), "add", "mul", 1)
	none, one := used(), file()
	first := compile(one, string(m.Text))
	alone := used() - none
	require.Greater(t, alone, len(weights))
	again := compile(one, string(m.Text))
	handle := used() - none - alone
	require.Less(t, handle, len(weights)/2, "the program is there")
	require.Positive(t, handle)
	second := compile(one, other)
	require.Less(t, used()-none, 2*len(weights))
	third := compile(file(), strings.Replace(string(m.Text), "add", "sub", 1))
	require.Greater(t, used()-none, 2*len(weights))
	release(third)
	release(first)
	require.Greater(t, used()-none, len(weights))
	release(second)
	require.Equal(t, alone, used()-none)
	release(again)
	require.Equal(t, none, used())

	weights[blob.First+40] = 1 // a warning about the weights has the engine read them, and copy them
	one = file()
	first, second = compile(one, string(m.Text)), compile(one, other)
	require.Greater(t, used()-none, 2*len(weights))
	release(first)
	release(second)
	require.Equal(t, none, used())
}

// TestPackedWeightsAreChargedAsStored: a client owes the bytes of its weight file for a matrix of 4 bits, and little
// besides; expanded it would be four times as much.
func TestPackedWeightsAreChargedAsStored(t *testing.T) {
	const out, in, group = 2048, 4096, 64
	var w blob.Writer
	q, err := w.Add(mil.UInt4, make([]byte, out*in/2), 0)
	require.NoError(t, err)
	s, err := w.Add(mil.FP16, make([]byte, 2*out*in/group), 0)
	require.NoError(t, err)
	require.Equal(t, []uint64{64, 64 + 64 + out*in/2}, []uint64{q, s})
	file := w.Bytes()
	m := models.Model{Name: "packed", Weights: map[string][]byte{"@model_path/w.bin": file}, Text: []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [1, 4096]> x) {
tensor<uint4, [2048, 4096]> q = const()[val = tensor<uint4, [2048, 4096]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))];
tensor<fp16, [2048, 64]> s = const()[val = tensor<fp16, [2048, 64]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(4194432)))];
tensor<fp16, [2048, 4096]> w = constexpr_blockwise_shift_scale(data = q, scale = s);
tensor<fp16, [1, 2048]> y = linear(x = x, weight = w);
} -> (y);
}
`)}
	b := startBroker(t, Config{process: allowance{files: 1 << 12, mappings: 1 << 14, memory: 1 << 30}})
	p := b.join(alice, "")
	_, err = p.compile(m)
	require.NoError(t, err)
	owed := p.counter(t, "own bytes of memory")
	require.GreaterOrEqual(t, owed, uint64(len(file)))
	require.Less(t, owed, uint64(len(file))*115/100)
}
