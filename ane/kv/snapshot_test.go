package kv

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// big has runs longer than the stage.
var big = Config{Layers: 1, Heads: 2, HeadDim: 128, Context: 2048, DType: mil.FP32}

func TestRoundTrip(t *testing.T) {
	for name, form := range forms {
		for _, c := range []struct {
			config Config
			tokens int
		}{{small, 0}, {small, 1}, {small, 256}, {padded, 77}, {big, 1}, {big, 1500},
			{Config{Layers: 1, Heads: 2, HeadDim: 32, Window: 5}, 3},
			{Config{Layers: 1, Heads: 2, HeadDim: 32, Window: 5}, 13}} {
			if name == "history" && c.config == big {
				continue // larger than its Tape
			}
			if c.tokens == 1500 && !effort.Full() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", name, c.tokens), func(t *testing.T) {
				k := form(t, c.config)
				if c.tokens > 0 {
					add(t, k, c.tokens)
				}
				text := saved(t, k, print1)
				first := max(0, c.tokens-k.Cap())
				fresh, used := form(t, c.config), form(t, c.config)
				add(t, used, 2)
				require.NoError(t, used.Append(0, token(used, 0, 0, 9), token(used, 0, 0, 9)))
				for _, to := range []*Cache{fresh, used} {
					r := bytes.NewReader(append(bytes.Clone(text), "next"...))
					require.NoError(t, to.Restore(iotest.HalfReader(r), print1))
					require.Equal(t, 4, r.Len(), "no byte after the snapshot is read")
					holds(t, to, first, c.tokens)
					require.Equal(t, text, saved(t, to, print1))
					if k.slides || c.tokens < k.Cap() {
						add(t, to, 1)
						holds(t, to, max(0, c.tokens+1-k.Cap()), c.tokens+1)
					}
				}
			})
		}
	}
}

// A reader that knows only the public description of safetensors finds the tensors.
func TestASnapshotIsASafetensorsFile(t *testing.T) {
	k := made(t, padded)
	add(t, k, 3)
	text := saved(t, k, print1)
	n := int(binary.LittleEndian.Uint64(text))
	require.Zero(t, (8+n)%64)
	var head map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text[8:8+n], &head))
	var meta map[string]string
	require.NoError(t, json.Unmarshal(head["__metadata__"], &meta))
	require.Equal(t, "m", meta["model"])
	require.Equal(t, "e", meta["engine"])
	require.Equal(t, "3", meta["tokens"])
	delete(head, "__metadata__")
	end := 0
	for _, name := range []string{"layers.0.keys", "layers.0.values", "layers.1.keys", "layers.1.values"} {
		var x struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		require.NoError(t, json.Unmarshal(head[name], &x), name)
		require.Equal(t, "F16", x.DType)
		require.Equal(t, []int{1, 3, 3, 5}, x.Shape)
		require.Equal(t, end, x.Offsets[0], "no hole")
		end = x.Offsets[1]
		require.Equal(t, 3*3*5*2, end-x.Offsets[0])
		delete(head, name)
	}
	require.Equal(t, token(k, 0, 0, 1)[10:20], text[8+n+3*10+10:][:10], "head 1, token 1 of the keys of layer 0")
	require.Len(t, head, 1)
	require.Contains(t, string(head["checksums"]), `"dtype":"U8","shape":[104]`)
	require.Len(t, text, 8+n+end+104)
	for i := range 4 * 3 {
		sum := binary.LittleEndian.Uint64(text[8+n+end+8*i:])
		require.Equal(t, xxh3.Hash(text[8+n+30*i:][:30]), sum, "xxh3 of head %d of tensor %d", i%3, i/3)
	}
}

func TestFingerprintsThatDiffer(t *testing.T) {
	k := made(t, small)
	add(t, k, 4)
	text := saved(t, k, print1)
	to := made(t, small)
	add(t, to, 2)
	was := image(to)
	for i, f := range print1.fields() {
		other := print1
		*other.fields()[i].value = "another"
		err := to.Restore(bytes.NewReader(text), other)
		if f.strict {
			require.NoError(t, err, f.name)
			require.NoError(t, to.Truncate(2))
			holds(t, to, 0, 2)
			was = image(to)
			other.Strict = true
			err = to.Restore(bytes.NewReader(text), other)
		}
		require.ErrorIs(t, err, ErrFingerprint, f.name)
		require.ErrorContains(t, err, fmt.Sprintf("%s is %q in the snapshot, \"another\" here", f.name, *f.value))
		require.Equal(t, was, image(to))
	}
	for name, c := range map[string]Config{
		"layers is 3 in the snapshot, 2 here":    {Layers: 2, Heads: 2, HeadDim: 32, Context: 256},
		"heads is 2 in the snapshot, 3 here":     {Layers: 3, Heads: 3, HeadDim: 32, Context: 256},
		"head_dim is 32 in the snapshot, 5 here": {Layers: 3, Heads: 2, HeadDim: 5, Context: 256},
		"dtype is fp16 in the snapshot":          {Layers: 3, Heads: 2, HeadDim: 32, Context: 256, DType: mil.FP32},
		"window is 0 in the snapshot, 8 here":    {Layers: 3, Heads: 2, HeadDim: 32, Window: 8},
	} {
		err := made(t, c).Restore(bytes.NewReader(text), print1)
		require.ErrorIs(t, err, ErrFingerprint)
		require.ErrorContains(t, err, name)
	}
	long := print1
	long.Model = strings.Repeat("x", maxField+1)
	require.ErrorIs(t, k.Save(io.Discard, long), ErrSize)
	long.Model = "\xff"
	require.ErrorIs(t, k.Save(io.Discard, long), ErrSize)
	odd := print1
	odd.Model, odd.OS = "a\"b\\\n<é\u2028", ""
	require.NoError(t, to.Restore(bytes.NewReader(saved(t, k, odd)), odd))
}

// Whatever byte changes or is missing, the cache stays what it was.
func TestDamageIsFoundAndChangesNothing(t *testing.T) {
	config := Config{Layers: 2, Heads: 2, HeadDim: 4, Context: 256}
	k := made(t, config)
	add(t, k, 3)
	text := saved(t, k, print1)
	fresh, used := made(t, config), made(t, config)
	add(t, used, 5)
	for _, to := range []*Cache{fresh, used} {
		was := image(to)
		for i := range text {
			if i%5 != 0 && !effort.Full() {
				continue
			}
			bad := bytes.Clone(text)
			bad[i] ^= 1 << (i % 8)
			err := to.Restore(bytes.NewReader(bad), print1)
			require.ErrorIs(t, err, ErrCorrupt, "byte %d", i)
			typed(t, err)
			err = to.Restore(bytes.NewReader(text[:i]), print1)
			require.ErrorIs(t, err, ErrCorrupt, "%d bytes", i)
			require.Equal(t, was, image(to))
		}
		broken := errors.New("broken")
		err := to.Restore(io.MultiReader(bytes.NewReader(text[:len(text)-50]), iotest.ErrReader(broken)), print1)
		require.ErrorIs(t, err, broken)
		require.NotErrorIs(t, err, ErrCorrupt, "the stream failed, not the snapshot")
		require.Equal(t, was, image(to))
	}
	require.NoError(t, used.Restore(bytes.NewReader(text), print1))
	holds(t, used, 0, 3)
}

// reheaded is a snapshot with another header text of the same length, its checksum right.
func reheaded(t testing.TB, text []byte, old, with string) []byte {
	t.Helper()
	require.Len(t, with, len(old))
	n := 8 + int(binary.LittleEndian.Uint64(text))
	head := bytes.Replace(text[:n], []byte(old), []byte(with), 1)
	require.NotEqual(t, text[:n], head)
	return append(resum(head), text[n:]...)
}

func TestHeadersThatLie(t *testing.T) {
	config := Config{Layers: 2, Heads: 2, HeadDim: 4, Context: 256}
	k := made(t, config)
	add(t, k, 3)
	text := saved(t, k, print1)
	to := made(t, config)
	for _, c := range []struct {
		old, with string
		want      error
	}{
		{`"version":"1"`, `"version":"2"`, ErrVersion},
		{`"format":"anekit-kv"`, `"format":"anekit-kx"`, ErrVersion},
		{`"tokens":"3"`, `"tokens":"4"`, ErrCorrupt},
		{`"tokens":"3"`, `"tokens":"-"`, ErrCorrupt},
		{`"layers":"2"`, `"layers":"3"`, ErrCorrupt},
		{`"first":"0"`, `"first":"1"`, ErrCorrupt},
		{`[1,2,3,4]`, `[2,1,3,4]`, ErrCorrupt},
		{`"layers.1.keys"`, `"layers.2.keys"`, ErrCorrupt},
		{`"dtype":"F16"`, `"dtype":"I16"`, ErrCorrupt},
		{`"model":"m"`, `"model":"x"`, ErrFingerprint},
	} {
		err := to.Restore(bytes.NewReader(reheaded(t, text, c.old, c.with)), print1)
		require.ErrorIs(t, err, c.want, c.with)
	}
	require.ErrorIs(t, to.Restore(bytes.NewReader(reheaded(t, text, `"model":"m"`, `"model":"x"`)),
		Fingerprint{Model: "x", Weights: "w", Adapters: "a", Tokenizer: "t", Numerics: "n"}), ErrCorrupt,
		"the last checksum covers the header")
	require.Zero(t, to.Len())
}

func TestMoreTokensThanFit(t *testing.T) {
	long := padded
	long.Context = 600
	k := made(t, long)
	add(t, k, 300)
	text := saved(t, k, print1)
	err := made(t, padded).Restore(bytes.NewReader(text), print1)
	require.ErrorIs(t, err, ErrFull)
	grows := padded
	grows.Grow = true
	to := made(t, grows)
	add(t, to, 4)
	was := image(to)
	require.ErrorIs(t, to.Restore(bytes.NewReader(text[:len(text)-1]), print1), ErrCorrupt)
	require.Equal(t, was, image(to))
	require.NoError(t, to.Restore(bytes.NewReader(text), print1))
	require.Equal(t, 512, to.Cap())
	holds(t, to, 0, 300)
}

func TestRestoreIntoAForkAndUnderOne(t *testing.T) {
	k := made(t, small)
	add(t, k, 6)
	text := saved(t, k, print1)
	add(t, k, 4)
	f := forked(t, k)
	g := forked(t, k)
	require.ErrorIs(t, f.Restore(bytes.NewReader(text[:len(text)-1]), print1), ErrCorrupt)
	holds(t, f, 0, 10)
	require.NoError(t, f.Restore(bytes.NewReader(text), print1))
	holds(t, f, 0, 6)
	require.NoError(t, k.Restore(bytes.NewReader(text), print1))
	add(t, k, 1)
	holds(t, k, 0, 7)
	holds(t, g, 0, 10)
}

// listed is the names of the files beside path.
func listed(t testing.TB, path string) (names []string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	k := made(t, Config{Layers: 1, Heads: 1, HeadDim: 4, Context: 9})
	add(t, k, 2)
	require.NoError(t, k.SaveFile(path, print1))
	require.Equal(t, []string{"s"}, listed(t, path))
	to := made(t, k.Config())
	empty := image(to)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	damage := func(b []byte) {
		require.NoError(t, os.WriteFile(path, b, 0o600))
		require.ErrorIs(t, to.RestoreFile(path, print1), ErrCorrupt)
		require.True(t, bytes.Equal(empty, image(to)))
	}
	for i := 0; i < len(whole); i += 7 {
		bad := bytes.Clone(whole)
		bad[i] ^= 4
		damage(bad)
	}
	damage(whole[:len(whole)-1])
	damage(append(bytes.Clone(whole), 0))
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, to.RestoreFile(path, print1), os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	require.NoError(t, to.RestoreFile(path, print1))
	holds(t, to, 0, 2)
}

// Bound tensors follow the cache without being bound again, unless it moves.
func TestStreamThroughAPipe(t *testing.T) {
	k, to := made(t, big), made(t, big)
	add(t, k, 1000)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- k.Save(w, print1) }()
	before := to.Keys(0)
	require.NoError(t, to.Restore(r, print1))
	require.NoError(t, <-done)
	holds(t, to, 0, 1000)
	require.Same(t, before, to.Keys(0))
	require.NoError(t, r.Close())

	broken := errors.New("disk full")
	require.ErrorIs(t, k.Save(failing{broken}, print1), broken)
}

// A sparing cache reports a Writer that fails wherever that is, also one that tells only how much it took.
func TestSaveToAFullDisk(t *testing.T) {
	config := big
	config.Sparing = true
	k := made(t, config)
	add(t, k, 1000)
	var whole bytes.Buffer
	require.NoError(t, k.Save(&whole, print1))
	broken := errors.New("disk full")
	for room := 0; room < whole.Len(); room += whole.Len()/40 + 1 {
		require.ErrorIs(t, k.Save(&full{room, broken}, print1), broken, "%d bytes", room)
		require.ErrorIs(t, k.Save(&full{room, nil}, print1), io.ErrShortWrite, "%d bytes", room)
	}
	holds(t, k, 0, 1000)
}

// full takes some bytes and then fails. Without an error it leaves out a part once.
type full struct {
	room int
	err  error
}

func (f *full) Write(b []byte) (n int, err error) {
	if n = min(len(b), f.room); n < len(b) {
		err = f.err
	}
	if f.room -= n; f.err == nil && n < len(b) {
		f.room = math.MaxInt
	}
	return n, err
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A file that two goroutines read.
func TestLongFile(t *testing.T) {
	config := Config{Layers: 3, Heads: 2, HeadDim: 128, Context: 2048, DType: mil.FP32}
	path := filepath.Join(t.TempDir(), "long")
	k := made(t, config)
	add(t, k, 1800)
	require.Greater(t, k.header(print1).data(), minShared)
	require.NoError(t, k.SaveFile(path, print1))
	fresh, used := made(t, config), made(t, config)
	add(t, used, 3)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	info, err := f.Stat()
	require.NoError(t, err)
	for _, c := range []*Cache{fresh, used} {
		was := image(c)
		for _, at := range []int64{info.Size() / 3, info.Size() * 2 / 3, info.Size() - 5} {
			var b [1]byte
			_, err := f.ReadAt(b[:], at)
			require.NoError(t, err)
			_, err = f.WriteAt([]byte{b[0] ^ 1}, at)
			require.NoError(t, err)
			require.ErrorIs(t, c.RestoreFile(path, print1), ErrCorrupt)
			require.True(t, bytes.Equal(was, image(c)))
			_, err = f.WriteAt(b[:], at)
			require.NoError(t, err)
		}
		require.NoError(t, c.RestoreFile(path, print1))
		require.Equal(t, 1800, c.Len())
		for i := range k.memory.spans {
			for h := range 2 {
				at := h * k.memory.layout.PlaneStride
				require.True(t, bytes.Equal(k.memory.spans[i][at:][:1800*k.row], c.memory.spans[i][at:][:1800*k.row]))
			}
		}
	}
}
