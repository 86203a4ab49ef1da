//go:build linux || darwin

package dlpack_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/dlpack"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// library is testdata/exchange.c, another library of this process.
type library struct {
	offsets        func(out *uint64) int32
	sum, sumLegacy func(m uintptr) uint64
	count          func(m uintptr, first uint16) int32
	deleteOnThread func(m uintptr) int32
	deletions      func() int64
	wrongContexts  func() int32
	produce        func(code, bits uint8, rank int32, shape, strides *int64, offset, flags uint64) uintptr
	produceLegacy  func(code, bits uint8, rank int32, shape, strides *int64, offset uint64) uintptr

	nothing, callBack, endNow uintptr
}

// built is the library, built once.
var built struct {
	sync.Once
	library
	skip string
}

func exchange(t testing.TB) *library {
	t.Helper()
	built.Do(func() {
		cc, err := exec.LookPath("cc")
		if err != nil {
			built.skip = "no C compiler cc to build the other library: apt-get install gcc libc6-dev, then run this " +
				"test again"
			return
		}
		file := filepath.Join(t.TempDir(), "libexchange.so")
		build := exec.Command(cc, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", file,
			filepath.Join("testdata", "exchange.c"))
		build.Stderr = os.Stderr
		require.NoError(t, build.Run())
		handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
		require.NoError(t, err)
		for name, f := range map[string]any{"offsets": &built.offsets, "sum": &built.sum,
			"sum_legacy": &built.sumLegacy,
			"count":      &built.count, "delete_on_thread": &built.deleteOnThread, "deletions": &built.deletions,
			"wrong_contexts": &built.wrongContexts, "produce": &built.produce, "produce_legacy": &built.produceLegacy} {
			purego.RegisterLibFunc(f, handle, name)
		}
		for name, f := range map[string]*uintptr{"nothing": &built.nothing, "call_back": &built.callBack,
			"end_now": &built.endNow} {
			*f, err = purego.Dlsym(handle, name)
			require.NoError(t, err)
		}
	})
	if built.skip != "" {
		t.Skip(built.skip)
	}
	return &built.library
}

// Both sides have the same structures.
func TestStructures(t *testing.T) {
	var c [32]uint64
	n := exchange(t).offsets(&c[0])
	var ours []uint64
	list := func(v any, fields ...string) {
		typ := reflect.TypeOf(v)
		ours = append(ours, uint64(typ.Size()))
		for _, name := range fields {
			f, ok := typ.FieldByName(name)
			require.True(t, ok)
			ours = append(ours, uint64(f.Offset))
		}
	}
	list(dlpack.ManagedTensorVersioned{}, "ManagerCtx", "Deleter", "Flags", "Tensor")
	list(dlpack.ManagedTensor{}, "ManagerCtx", "Deleter")
	list(dlpack.Tensor{}, "Device", "NDim", "DType", "Shape", "Strides", "ByteOffset")
	require.Equal(t, c[:n], ours)
}

// checksum is what the library computes: (i+1) times the bits of element i.
func checksum(t testing.TB, x *ane.Tensor) (sum uint64) {
	t.Helper()
	packed := make([]byte, x.Layout().PackedBytes())
	_, err := x.Read(packed)
	require.NoError(t, err)
	size := x.DType().Size()
	for i := range x.Layout().Elements() {
		bits := uint64(0)
		for k := range size {
			bits |= uint64(packed[i*size+k]) << (8 * k)
		}
		sum += uint64(i+1) * bits
	}
	return sum
}

// C reads every element of our tensors where its strides say, and gives the memory back.
func TestCConsumes(t *testing.T) {
	c := exchange(t)
	before := dlpack.Live()
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.UInt8, mil.Int32} {
		for _, shape := range [][]int{{}, {9}, {3, 5}, {2, 3, 5}, {2, 3, 4, 5}, {2, 2, 3, 2, 3}} {
			l, err := ane.NewLayout("x", d, shape...)
			require.NoError(t, err)
			b, err := unimem.Open(l.Bytes())
			require.NoError(t, err)
			x, err := ane.OnBlock(b, l)
			require.NoError(t, err)
			count(t, x)
			for i := range b.Bytes() { // padding, too
				b.Bytes()[i] ^= byte(i * 7)
			}
			y := x
			if len(shape) > 1 {
				y, err = x.Slice(0, 1, shape[0])
				require.NoError(t, err)
			}
			m, err := dlpack.Export(y)
			require.NoError(t, err)
			require.ErrorIs(t, b.Close(), unimem.ErrInUse)
			require.Equal(t, checksum(t, y), c.sum(m.Address()), "%v%v", d, shape)
			old, err := dlpack.ExportLegacy(y)
			require.NoError(t, err)
			require.Equal(t, checksum(t, y), c.sumLegacy(old.Address()), "%v%v", d, shape)
			require.NoError(t, b.Close(), "C has deleted what it had")
		}
	}
	require.Equal(t, before, dlpack.Live())
}

// C writes into our tensors unless they are read-only.
func TestCWrites(t *testing.T) {
	c := exchange(t)
	x := tensor(t, 3, 5)
	m, err := dlpack.Export(x)
	require.NoError(t, err)
	require.Equal(t, int32(15), c.count(m.Address(), 100))
	written := make([]byte, 2*15)
	_, err = x.Read(written)
	require.NoError(t, err)
	for i := range 15 {
		require.Equal(t, uint16(100+i), binary.LittleEndian.Uint16(written[2*i:]))
	}
	m, err = dlpack.Export(x, dlpack.ReadOnly())
	require.NoError(t, err)
	require.Zero(t, c.count(m.Address(), 7))
}

// The deleter may run on a thread that Go has not started.
func TestCDeletesOnAThread(t *testing.T) {
	c := exchange(t)
	before := dlpack.Live()
	x := tensor(t, 3, 5)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 10 {
				ended := make(chan struct{}, 1)
				m, err := dlpack.Export(x, dlpack.OnDelete(func() { ended <- struct{}{} }))
				if err != nil || c.deleteOnThread(m.Address()) != 0 {
					t.Error("no thread: ", err)
					return
				}
				<-ended
			}
		})
	}
	wait.Wait()
	require.Equal(t, before, dlpack.Live())
}

// Tensors of C are read and written in place, and go back when their Block closes.
func TestCProduces(t *testing.T) {
	c := exchange(t)
	for name, p := range map[string]struct {
		shape, strides []int64
		offset         uint64
	}{
		"row-major":      {[]int64{2, 3, 4}, nil, 0},
		"padded":         {[]int64{2, 3, 4}, []int64{128, 32, 1}, 0},
		"transposed":     {[]int64{3, 4}, []int64{1, 3}, 0},
		"with gaps":      {[]int64{5}, []int64{3}, 0},
		"with an offset": {[]int64{3, 4}, []int64{8, 1}, 34},
		"scalar":         {nil, nil, 2},
		"rank 5":         {[]int64{2, 2, 2, 2, 3}, nil, 64},
	} {
		for _, legacy := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				before := c.deletions()
				x := produced(t, c, p.shape, p.strides, p.offset, 0, legacy)
				requireCount(t, x)
				last := make([]int, len(p.shape))
				for i, n := range p.shape {
					last[i] = int(n) - 1
				}
				require.NoError(t, x.Set(42, last...))
				require.Equal(t, checksum(t, x), c.sum(exported(t, x)), "C sees what Go wrote")
				require.Equal(t, before, c.deletions())
				require.NoError(t, x.Block().Close())
				require.Equal(t, before+1, c.deletions())
				require.NoError(t, x.Block().Close())
				_, err := x.At(last...)
				require.ErrorIs(t, err, ane.ErrStale)
				require.Equal(t, before+1, c.deletions(), "once")
			})
		}
	}
	require.Zero(t, c.wrongContexts())
}

func exported(t testing.TB, x *ane.Tensor) uintptr {
	t.Helper()
	m, err := dlpack.Export(x)
	require.NoError(t, err)
	return m.Address()
}

// produced imports an fp16 tensor of C whose element i has the bits 0x3c00+i.
func produced(t testing.TB, c *library, shape, strides []int64, offset, flags uint64, legacy bool) *ane.Tensor {
	t.Helper()
	first := func(s []int64) *int64 {
		if len(s) == 0 {
			return nil
		}
		return &s[0]
	}
	var x *ane.Tensor
	var err error
	if legacy {
		x, err = dlpack.ImportLegacy(dlpack.AtLegacy(c.produceLegacy(dlpack.Float, 16, int32(len(shape)), first(shape),
			first(strides), offset)))
	} else {
		x, err = dlpack.Import(dlpack.At(c.produce(dlpack.Float, 16, int32(len(shape)), first(shape), first(strides),
			offset,
			flags)))
	}
	require.NoError(t, err)
	return x
}

func TestCProducesReadOnly(t *testing.T) {
	c := exchange(t)
	x := produced(t, c, []int64{4}, nil, 0, dlpack.FlagReadOnly, false)
	require.True(t, x.Block().ReadOnly())
	require.ErrorIs(t, x.Set(1, 0), ane.ErrReadOnly)
	m, err := dlpack.Export(x)
	require.NoError(t, err)
	require.Zero(t, c.count(m.Address(), 7), "the flag comes back to C")
	requireCount(t, x)
	require.NoError(t, x.Block().Close())
}

// A tensor that Import refuses has gone back to C.
func TestCProducesWhatIsRefused(t *testing.T) {
	c := exchange(t)
	for name, make := range map[string]func() uintptr{
		"float64": func() uintptr { return c.produce(dlpack.Float, 64, 1, &[]int64{1}[0], nil, 0, 0) },
		"windows": func() uintptr { return c.produce(dlpack.Float, 16, 2, &[]int64{3, 4}[0], &[]int64{1, 1}[0], 0, 0) },
		"flags":   func() uintptr { return c.produce(dlpack.Float, 16, 1, &[]int64{3}[0], nil, 0, 8) },
		"offset":  func() uintptr { return c.produce(dlpack.Float, 16, 1, &[]int64{3}[0], nil, 1, 0) },
	} {
		before := c.deletions()
		_, err := dlpack.Import(dlpack.At(make()))
		require.Error(t, err, name)
		require.Equal(t, before+1, c.deletions(), name)
	}
}

// A request keeps the producer's memory: the deleter runs after both are closed.
func TestRetainedImport(t *testing.T) {
	c := exchange(t)
	before := c.deletions()
	x := produced(t, c, []int64{3, 4}, nil, 0, 0, false)
	m, err := unimem.Map(x.Block())
	require.NoError(t, err)
	require.ErrorIs(t, x.Block().Close(), unimem.ErrInUse)
	require.Equal(t, before, c.deletions())
	require.NoError(t, m.Close())
	require.NoError(t, x.Block().Close())
	require.Equal(t, before+1, c.deletions())
}
