package safetensors

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// large makes a file of two tensors, together longer than two parts.
func large(t *testing.T) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large"+extension)
	data := make([]byte, 2*part+12345)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	w, err := Create(path, nil, NoSync())
	require.NoError(t, err)
	require.NoError(t, w.Add("a", U8, []int{1001}, data[:1001]))
	require.NoError(t, w.Add("b", U8, []int{len(data) - 1001}, data[1001:]))
	require.NoError(t, w.Close())
	return path, data
}

func tape(t *testing.T, size int) *unimem.Tape {
	t.Helper()
	tp, err := unimem.Start(size)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tp.Close()) })
	return tp
}

func TestLoad(t *testing.T) {
	path, data := large(t)
	for name, opts := range map[string][]Option{
		"direct": nil, "buffered": {Buffered(), Workers(1)}, "many": {Workers(100)},
	} {
		t.Run(name, func(t *testing.T) {
			tp := tape(t, 3*part)
			f, err := Load(t.Context(), path, tp, opts...)
			require.NoError(t, err)
			a, err := f.Tensor("a")
			require.NoError(t, err)
			b, err := f.Tensor("b")
			require.NoError(t, err)
			require.True(t, bytes.Equal(data[:1001], a.Bytes()) && bytes.Equal(data[1001:], b.Bytes()))
			require.True(t, tp.Owns(b.Bytes()), "the bytes are in the tape")
			if name == "buffered" {
				require.Equal(t, Read, f.Report().Access)
			}
			require.ErrorIs(t, tp.Close(), unimem.ErrInUse, "the File holds the tape")
			tp.Clear()
			require.Nil(t, b.Bytes(), "a cleared tape has no tensors")
			_, err = b.CopyTo(make([]byte, len(data)))
			require.ErrorIs(t, err, ErrClosed)
			require.NoError(t, f.Close())
		})
	}
}

// Tensors of every type, written, mapped and loaded. Packed types end at whole bytes, so the next tensor begins at one.
func TestEveryType(t *testing.T) {
	path := filepath.Join(t.TempDir(), "types"+extension)
	w, err := Create(path, nil, NoSync())
	require.NoError(t, err)
	data := map[string][]byte{}
	for d := Bool; d <= U64; d++ {
		n, err := d.Bytes(3, 4)
		require.NoError(t, err)
		b := bytes.Repeat([]byte{byte(d)}, int(n))
		data[d.String()] = b
		require.NoError(t, w.Add(d.String(), d, []int{3, 4}, b))
		if d.Bits() < 8 {
			require.ErrorIs(t, w.Add("odd", d, []int{3}, make([]byte, 2)), ErrShape)
		}
		require.ErrorIs(t, w.Add("long", d, []int{3, 4}, make([]byte, n+1)), ErrShape)
	}
	require.NoError(t, w.Close())
	mapped, err := Open(path)
	require.NoError(t, err)
	loaded, err := Load(t.Context(), path, tape(t, 1<<20))
	require.NoError(t, err)
	for _, f := range []*File{mapped, loaded} {
		require.Len(t, f.Names(), len(data))
		for d := Bool; d <= U64; d++ {
			x, err := f.Tensor(d.String())
			require.NoError(t, err)
			require.Equal(t, d, x.DType())
			require.Equal(t, []int{3, 4}, x.Shape())
			require.Equal(t, data[d.String()], x.Bytes())
			require.Equal(t, x.Offset()%int64(d.Size()) == 0, x.Aligned())
		}
		require.NoError(t, f.Close())
	}
}

func TestLoadRefuses(t *testing.T) {
	path, _ := large(t)
	_, err := Load(t.Context(), path, nil)
	require.ErrorIs(t, err, ErrClosed)
	_, err = Load(t.Context(), path, tape(t, part))
	require.ErrorIs(t, err, unimem.ErrTapeFull)
	require.ErrorContains(t, err, path)
	_, err = Load(t.Context(), path+"x", tape(t, part))
	require.ErrorIs(t, err, fs.ErrNotExist)
	ctx, cancel := context.WithCancelCause(t.Context())
	own := errors.New("own")
	reads := 0
	_, err = Load(ctx, path, tape(t, 3*part), Workers(1), from(odd{before: func() { reads++; cancel(own) }}))
	require.ErrorIs(t, err, own)
	require.Equal(t, 1, reads)
}

// odd is a file whose reads are short, fail, or end early.
type odd struct {
	*os.File
	short  int   // longest read
	fail   int64 // reads from here on fail
	end    int64 // the file ends here
	moment time.Time
	before func() // a read; may be nil
}

// from makes Load read the odd file.
func from(o odd) Option {
	return func(c *config) {
		c.open = func(path string, direct bool) (source, bool, error) {
			f, err := os.Open(path)
			o.File = f
			return &o, direct, err
		}
	}
}

var errDisk = errors.New("the disk has failed")

func (o *odd) ReadAt(p []byte, at int64) (int, error) {
	if o.before != nil {
		o.before()
	}
	if o.fail > 0 && at+int64(len(p)) > o.fail {
		return 0, errDisk
	}
	if o.end > 0 && at+int64(len(p)) > o.end {
		n, _ := o.File.ReadAt(p[:max(o.end-at, 0)], at)
		return n, io.EOF
	}
	if o.short > 0 && len(p) > o.short {
		return o.File.ReadAt(p[:o.short], at)
	}
	return o.File.ReadAt(p, at)
}

func (o *odd) Stat() (fs.FileInfo, error) {
	info, err := o.File.Stat()
	if o.moment.IsZero() {
		return info, err
	}
	o.moment = o.moment.Add(time.Second)
	return later{info, o.moment}, err
}

type later struct {
	fs.FileInfo
	at time.Time
}

func (l later) ModTime() time.Time { return l.at }

func TestLoadFromAnOddDisk(t *testing.T) {
	path, data := large(t)
	for _, short := range []int{block, block + 1, 100_001} {
		tp := tape(t, 3*part)
		f, err := Load(t.Context(), path, tp, from(odd{short: short}))
		require.NoError(t, err)
		b, err := f.Tensor("b")
		require.NoError(t, err)
		require.True(t, bytes.Equal(data[1001:], b.Bytes()), "short reads of %d", short)
		require.NoError(t, f.Close())
	}
	_, err := Load(t.Context(), path, tape(t, 3*part), from(odd{fail: part + 5}))
	require.ErrorIs(t, err, errDisk)
	_, err = Load(t.Context(), path, tape(t, 3*part), from(odd{end: part + 5}))
	require.ErrorIs(t, err, ErrTruncated)
	require.ErrorContains(t, err, "at byte "+strconv.Itoa(part+5))
	_, err = Load(t.Context(), path, tape(t, 3*part), from(odd{moment: time.Unix(1, 0)}))
	require.ErrorIs(t, err, ErrChanged)
}

// A mapped file that another process makes shorter ends no call of this package with a signal.
func TestFilesThatBecomeShorter(t *testing.T) {
	leaktest.NeedsFaultAddress(t)
	for name, left := range map[string]int64{"to nothing": 0, "within the last page": -1} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "m"+extension)
			w, err := Create(path, nil)
			require.NoError(t, err)
			require.NoError(t, w.Add("f", F32, []int{100_000}, make([]byte, 400_000)))
			require.NoError(t, w.Close())
			f, err := Open(path)
			require.NoError(t, err)
			if f.Report().Access != Mapped {
				require.NoError(t, f.Close())
				t.Skip("the system maps no files")
			}
			if left < 0 {
				info, err := os.Stat(path)
				require.NoError(t, err)
				left += info.Size()
			}
			require.NoError(t, os.Truncate(path, left))
			x, err := f.Tensor("f")
			require.NoError(t, err)
			_, err = x.CopyTo(make([]byte, 400_000))
			require.ErrorIs(t, err, ErrChanged)
			require.ErrorContains(t, err, path)
			_, err = x.Float16To(make([]byte, 200_000))
			require.ErrorIs(t, err, ErrChanged)
			require.ErrorIs(t, f.Check(t.Context(), nil), ErrChanged)
			_, err = Repack(t.Context(), path+".new", f, 64, NoSync()) // the system reads the pages
			require.ErrorIs(t, err, ErrChanged)
			require.NoFileExists(t, path+".new")
			require.NoError(t, f.Close())
		})
	}
}

func TestViewsAndConversions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m"+extension)
	floats := []float32{1, -2, 0.1, 65520, 1e-9, 3.14159, 7, 8, 9}
	raw, brains, want := []byte{}, []byte{}, []fp16.Bits{}
	var wantBrain []fp16.Bits
	for _, v := range floats {
		raw = append(raw, rawBytes([]float32{v})...)
		b := fp16.Brain(uint32(raw[len(raw)-2]) | uint32(raw[len(raw)-1])<<8)
		brains = append(brains, byte(b), byte(b>>8))
		want = append(want, fp16.FromFloat32(v))
		wantBrain = append(wantBrain, fp16.FromFloat32(math.Float32frombits(uint32(b)<<16)))
	}
	w, err := Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("f", F32, []int{9}, raw))
	require.NoError(t, w.Add("b", BF16, []int{9}, brains))
	require.NoError(t, w.Add("odd", U8, []int{1}, []byte{1}))
	require.NoError(t, w.Add("f odd", F32, []int{9}, raw))
	require.NoError(t, w.Add("b odd", BF16, []int{9}, brains))
	require.NoError(t, w.Close())
	f, err := Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	get := func(name string) Tensor {
		x, err := f.Tensor(name)
		require.NoError(t, err)
		return x
	}
	v, err := View[float32](get("f"))
	require.NoError(t, err)
	require.Equal(t, floats, v)
	_, err = View[float32](get("f odd"))
	require.ErrorIs(t, err, ErrMisaligned)
	_, err = View[uint16](get("f"))
	require.ErrorIs(t, err, ErrDType)
	moved := make([]byte, 40)
	n, err := get("f odd").CopyTo(moved)
	require.NoError(t, err)
	require.Equal(t, raw, moved[:n])
	for _, name := range []string{"f", "f odd", "b", "b odd"} {
		span := make([]byte, 20)
		n, err := get(name).Float16To(span)
		if name[0] == 'f' { // 65520 is among the elements
			require.ErrorIs(t, err, ErrRange)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, 18, n, "the conversion is complete")
		got, err := unimem.View[fp16.Bits](span[:n])
		require.NoError(t, err)
		if name[0] == 'f' {
			require.Equal(t, want, got, name)
		} else {
			require.Equal(t, wantBrain, got, name)
		}
	}
	_, err = get("odd").Float16To(moved)
	require.ErrorIs(t, err, ErrDType)
	_, err = get("f").Float16To(make([]byte, 17))
	require.ErrorIs(t, err, ErrShape)
}

func TestIndex(t *testing.T) {
	dir := t.TempDir()
	shard := func(name string, tensors ...string) {
		w, err := Create(filepath.Join(dir, name), map[string]string{"from": name})
		require.NoError(t, err)
		for i, n := range tensors {
			require.NoError(t, w.Add(n, U8, []int{1}, []byte{byte(i)}))
		}
		require.NoError(t, w.Close())
	}
	shard("a.safetensors", "z", "c")
	shard("b.safetensors", "b", "y")
	f, err := Open(dir)
	require.NoError(t, err, "a folder without an index is all its files")
	require.Equal(t, []string{"b", "c", "y", "z"}, f.Names())
	require.NoError(t, f.Close())
	index := filepath.Join(dir, "m.safetensors.index.json")
	put := func(text string) { require.NoError(t, os.WriteFile(index, []byte(text), 0o600)) }
	put(`{"metadata":{"total_size":4},"weight_map":{"z":"a.safetensors","c":"a.safetensors",` +
		`"b":"b.safetensors","y":"b.safetensors"}}`)
	for _, path := range []string{dir, index} {
		f, err = Open(path)
		require.NoError(t, err)
		require.Equal(t, []string{"b", "c", "y", "z"}, f.Names())
		require.Equal(t, map[string]string{"from": "a.safetensors"}, f.Metadata())
		y, err := f.Tensor("y")
		require.NoError(t, err)
		require.Equal(t, []byte{1}, y.Bytes())
		require.Equal(t, filepath.Join(dir, "b.safetensors"), y.File())
		b, _, err := y.Block()
		require.NoError(t, err)
		require.NoError(t, b.Retain())
		require.ErrorIs(t, f.Close(), unimem.ErrInUse)
		z, err := f.Tensor("z")
		require.NoError(t, err)
		require.NotNil(t, z.Bytes(), "a refused Close closes no shard")
		b.Release()
		require.NoError(t, f.Close())
	}
	for text, want := range map[string]error{
		`{"weight_map":{"z":"a.safetensors","c":"a.safetensors","b":"b.safetensors"}}`:                     ErrName,
		`{"weight_map":{"z":"b.safetensors","c":"a.safetensors","b":"b.safetensors","y":"b.safetensors"}}`: ErrName,
		`{"weight_map":{"z":"a.safetensors","z":"a.safetensors"}}`:                                         ErrDuplicate,
		`{"weight_map":{"z":"../a.safetensors"}}`:                                                          ErrHeader,
		`{"weight_map":{"z":"/a.safetensors"}}`:                                                            ErrHeader,
		`{"weight_map":{"z":1}}`:                                                                           ErrHeader,
		`{"weight_map":{}}`:                                                                                ErrHeader,
		`{}`:                                                                                               ErrHeader,
		``:                                                                                                 ErrHeader,
		`{"weight_map":{"z":"none.safetensors"}}`:                                                          fs.ErrNotExist,
	} {
		put(text)
		_, err := Open(dir)
		require.ErrorIs(t, err, want, text)
	}
	require.NoError(t, os.Truncate(index, MaxHeader+1))
	_, err = Open(dir)
	require.ErrorIs(t, err, ErrHeader, "a longer file than an index can be")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n.safetensors.index.json"), nil, 0o600))
	_, err = Open(dir)
	require.ErrorIs(t, err, ErrDuplicate, "two indices")
	_, err = Open(t.TempDir())
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestCheck(t *testing.T) {
	path := write(t, Align(64))
	f, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, f.Check(t.Context(), nil))
	own := errors.New("own")
	require.ErrorIs(t, f.Check(t.Context(), func(name string, b []byte) error {
		require.False(t, padding(name))
		if name == "half" {
			return own
		}
		return nil
	}), own)
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Check(t.Context(), nil), ErrClosed)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[bytes.IndexByte(data, '}')+0] = '}'
	h, err := parse(data)
	require.NoError(t, err)
	data[h.data+10] = 1 // in the padding after "odd"
	require.NoError(t, os.WriteFile(path, data, 0o600))
	f, err = Open(path)
	require.NoError(t, err)
	require.ErrorIs(t, f.Check(t.Context(), nil), ErrHole)
	require.NoError(t, f.Close())
}

// Float16To counts elements beyond fp16 and NaN, at any address and after any number of others, and leaves infinities.
func TestNumbersBeyondFloat16(t *testing.T) {
	const n = share + 2*step + 5
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		at    map[int]float64
		wants string
	}{
		"fine": {map[int]float64{0: 65504, 3: -65504, step: inf, n - 1: -inf}, ""},
		"beyond": {map[int]float64{share + 1: -1e9},
			"become infinite: 1, NaN: 0, of 1056773; the first, at index 1048577, is -1e+09"},
		"both": {map[int]float64{7: math.NaN(), 9: 1e9, n - 1: 2e5},
			"become infinite: 2, NaN: 1, of 1056773; the first, at index 7, is NaN"},
		"after them": {map[int]float64{3: inf, 4: math.NaN()}, "NaN: 1, of 1056773; the first, at index 4"},
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		w, err := Create(path, nil)
		require.NoError(t, err)
		wide, brain := make([]byte, 4*n), make([]byte, 2*n)
		for i, f := range c.at {
			bits := math.Float32bits(float32(f))
			binary.LittleEndian.PutUint32(wide[4*i:], bits)
			binary.LittleEndian.PutUint16(brain[2*i:], uint16(bits>>16))
		}
		require.NoError(t, w.Add("f", F32, []int{n}, wide))
		require.NoError(t, w.Add("odd", U8, []int{1}, []byte{1}))
		require.NoError(t, w.Add("f odd", F32, []int{n}, wide))
		require.NoError(t, w.Add("b", BF16, []int{n}, brain))
		require.NoError(t, w.Close())
		f, err := Open(path)
		require.NoError(t, err)
		for _, tensor := range []string{"f", "f odd", "b"} {
			x, err := f.Tensor(tensor)
			require.NoError(t, err)
			dst := make([]byte, 2*n)
			done, err := x.Float16To(dst)
			require.Equal(t, 2*n, done)
			if c.wants == "" {
				require.NoError(t, err, name)
				continue
			}
			require.ErrorIs(t, err, ErrRange, name)
			if tensor != "b" { // which rounds the numbers
				require.ErrorContains(t, err, c.wants, name)
			}
		}
		require.NoError(t, f.Close())
	}
}
