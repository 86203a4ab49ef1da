package vulkan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// weights writes a safetensors file whose tensor w has side x side small integers, after one that moves it within a
// page, and returns its path.
func weights(t testing.TB, side int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	f, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, f.Add("first", safetensors.F32, []int{5}, make([]byte, 20)))
	data := make([]byte, 4*side*side)
	for i, w := 0, floats(data); i < len(w); i++ {
		w[i] = weight(i)
	}
	require.NoError(t, f.Add("w", safetensors.F32, []int{side, side}, data))
	require.NoError(t, f.Close())
	return path
}

func weight(i int) float32 { return float32(i%13 - 6) }

// opened opens the file, and returns the Block of its tensor w with the tensor's offset.
func opened(t testing.TB, path string) (b *unimem.Block, offset int) {
	t.Helper()
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	w, err := f.Tensor("w")
	require.NoError(t, err)
	b, offset, err = w.Block()
	require.NoError(t, err)
	require.Equal(t, "file", b.Backing())
	return b, offset
}

// multiply computes 8 rows of Y = X x W' by the GPU and returns how many elements are wrong. W is in buf from offset
// on; X and Y are on a Block of their own.
func multiply(t testing.TB, d *Device, k *Kernel, buf *Buffer, offset, side int, own *Buffer) (wrong int) {
	t.Helper()
	const rows = 8
	part := 4 * rows * side
	x, y := floats(own.Bytes()[:part]), floats(own.Bytes()[part:2*part])
	for i := range x {
		x[i], y[i] = float32(i%7-3), float32(math.NaN())
	}
	w, before := buf.Around(offset, 4*side*side)
	run(t, d, Dispatch{Kernel: k, Push: push(side, side, before/4, 0), Groups: k.Program().Groups(side, rows, 1),
		Buffers: []Range{own.Range(0, part), w, own.Range(part, part)}})
	for r := range rows {
		for out := range side {
			want := float32(0)
			for i := range side {
				want += x[r*side+i] * weight(out*side+i)
			}
			if y[r*side+out] != want {
				wrong++
			}
		}
	}
	return wrong
}

// A mapped safetensors file reaches the GPU: a kernel multiplies with a tensor of it where the file lies. The memory of
// this process grows by less than 1 % of the file, and the file does not change.
func TestMappedWeights(t *testing.T) {
	const side, rounds = 2048, 40
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	device(t)                   // skips where there is none
	d, err := Open(t.Context()) // without the validation layer, which keeps records of its own
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close(context.Background())) }()
	k := kernel(t, d, Linear())
	path := weights(t, side)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	sum, limit := sha256.Sum256(before), int64(len(before)/100)
	before = nil
	b, offset := opened(t, path)
	own := imported(t, d, block(t, 2*4*8*side, unimem.Warm()))
	touched := sha256.Sum256(b.Bytes()) // so that the pages of the file count for this process already
	require.Equal(t, sum, touched)
	var all []int64
	for range rounds {
		debug.FreeOSMemory()
		was, err := procmem.Proportional()
		require.NoError(t, err)
		buf, err := d.Load(t.Context(), b)
		require.NoError(t, err)
		if !buf.InPlace() {
			_, err = d.Import(t.Context(), b)
			fails(t, err, ErrReadOnly, "")
			require.NotEqual(t, "software", d.Info().Kind)
			require.EqualValues(t, len(b.Pages()), d.Copied())
			require.Zero(t, multiply(t, d, k, buf, offset, side, own))
			require.NoError(t, buf.Close())
			t.Skipf("%s imports only memory that it may write to: Load has copied, the product is right", d.Info().Name)
		}
		require.Zero(t, multiply(t, d, k, buf, offset, side, own))
		debug.FreeOSMemory()
		now, err := procmem.Proportional()
		require.NoError(t, err)
		require.True(t, buf.ReadOnly())
		require.NoError(t, buf.Close())
		all = append(all, now-was)
		if now-was < limit && now-was > -limit {
			break
		}
	}
	t.Logf("%s: grown by %v of %d bytes", d.Info().Name, all, b.Size())
	require.Less(t, all[len(all)-1], limit)
	require.Zero(t, d.Copied())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, sum, sha256.Sum256(after), "the file does not change")
}

// A driver that wants writable memory gets a typed error, and Load copies once: the result is the same, the bytes are
// counted, and the Block is free.
func TestDriverThatWantsWritableMemory(t *testing.T) {
	const side = 64
	path := weights(t, side)
	for _, c := range []struct {
		call string
		r    result
	}{{"vkAllocateMemory", badHandle}, {"vkAllocateMemory", noHostMemory}, {hostPointer, badHandle}} {
		on := true
		d := device(t, returns(c.call, c.r, &on))
		d.driver = 0 // of any maker
		b, offset := opened(t, path)
		_, err := d.Import(t.Context(), b)
		fails(t, err, ErrReadOnly, c.call)
		require.ErrorContains(t, err, "use Load")
		writable := block(t, b.Size())
		_, err = d.Import(t.Context(), writable)
		require.NotErrorIs(t, err, ErrReadOnly, "another Block has the driver's own error")
		require.Error(t, err)
		on = false
		own := imported(t, d, block(t, 2*4*8*side))
		refuses := replaceNext(d, c.call, c.r)
		buf, err := d.Load(t.Context(), b)
		require.NoError(t, err)
		require.Equal(t, 1, refuses())
		require.False(t, buf.InPlace())
		require.True(t, buf.ReadOnly())
		require.EqualValues(t, len(b.Pages()), d.Copied())
		require.Zero(t, multiply(t, d, kernel(t, d, Linear()), buf, offset, side, own))
		require.NoError(t, buf.Close())
	}
	require.Zero(t, (*Device)(nil).Copied())
}

// A driver that is known to break after such an import is not asked. The same Load copies into memory of the GPU's own
// where the CPU reaches that, and into other memory if there is none left.
func TestDriverThatIsNotAsked(t *testing.T) {
	d := device(t)
	path := weights(t, 64)
	b, offset := opened(t, path)
	d.driver = driverNVIDIA
	_, err := d.Import(t.Context(), b)
	fails(t, err, ErrReadOnly, "")
	require.ErrorContains(t, err, "use Load")
	imported(t, d, block(t, unimem.PageSize))
	buf, err := d.Load(t.Context(), b)
	require.NoError(t, err)
	require.False(t, buf.InPlace())
	require.EqualValues(t, len(b.Pages()), d.Copied())
	own := imported(t, d, block(t, 2*4*8*64))
	require.Zero(t, multiply(t, d, kernel(t, d, Linear()), buf, offset, 64, own))
	require.NoError(t, buf.Close())

	const host = memoryVisible | memoryCoherent | memoryCached
	d.memory.count, d.memory.types[1].flags = 2, memoryVisible|memoryCoherent|memoryLocal
	d.memory.types[0].flags = host
	kind, ok := d.memoryType(3, true, true)
	require.Equal(t, []any{1, true}, []any{kind, ok})
	kind, ok = d.memoryType(3, true, false)
	require.Equal(t, []any{0, true}, []any{kind, ok})
	d.memory.count, d.memory.types[0].flags = 1, host|memoryLocal
	d.MaxMemory = unimem.PageSize
	_, err = d.Load(t.Context(), b)
	require.Error(t, err, "a Block that no Buffer holds")
}

// A file that another process cuts off during the copy is an error, and leaves nothing behind.
func TestFileThatShrinksBeforeLoad(t *testing.T) {
	leaktest.NeedsFaultAddress(t)
	d := device(t)
	d.driver = driverNVIDIA
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, make([]byte, 3*unimem.PageSize), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	b, err := unimem.MapFile(f)
	require.NoError(t, f.Close())
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 100))
	_, err = d.Load(t.Context(), b)
	require.ErrorIs(t, err, unimem.ErrChanged)
	require.Zero(t, d.Copied())
	require.NoError(t, b.Close(), "the Block is free")
}

// replaceNext makes the next call of a function fail; the result counts the failures.
func replaceNext(d *Device, name string, r result) func() int {
	real, failures := d.in.table[name], 0
	d.in.table[name] = func(args ...uintptr) result {
		if failures == 0 {
			failures++
			return r
		}
		return real(args...)
	}
	return func() int { return failures }
}

// Every use that writes is refused, before anything runs; reading by each command works.
func TestReadOnlyBuffers(t *testing.T) {
	d := device(t)
	data := bytes.Repeat([]byte{0, 0x3c}, 5001) // 1.0 of fp16; no whole number of words
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	mapped, err := unimem.MapFile(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	defer func() { require.NoError(t, mapped.Close()) }()
	adopted, err := unimem.AdoptMemory(block(t, unimem.PageSize).Bytes(), nil, unimem.ReadOnly())
	require.NoError(t, err)
	defer func() { require.NoError(t, adopted.Close()) }()
	k := kernel(t, d, Scale())
	own := imported(t, d, block(t, unimem.PageSize))
	for name, b := range map[string]*unimem.Block{"file": mapped, "adopted": adopted} {
		buf, err := d.Load(t.Context(), b)
		require.NoError(t, err)
		require.ErrorIs(t, errOf(b.Close(), buf.InPlace()), unimem.ErrInUse)
		require.Len(t, buf.Bytes(), unimem.PageSize)
		scale := func(from, to *Buffer) Dispatch {
			return Dispatch{Kernel: k, Buffers: []Range{from.Range(0, 64), to.Range(0, 64)},
				Push: push(16, float32(2), float32(1)), Groups: [3]int{1, 1, 1}}
		}
		for use, c := range map[string]Command{
			"Fill":     Fill{buf.Range(0, 4), 1},
			"Copy to":  Copy{To: buf.Range(0, 4), From: own.Range(0, 4)},
			"within":   Copy{To: buf.Range(0, 4), From: buf.Range(64, 4)},
			"kernel":   scale(own, buf),
			"in place": scale(buf, buf),
		} {
			err := d.Submit(t.Context(), nil, nil, Fill{own.Range(0, 4), 9}, c)
			fails(t, err, ErrReadOnly, "")
			require.ErrorContains(t, err, "command 1: ", "%s of %s", use, name)
		}
		run(t, d, scale(buf, own))
		want := uint32(0x3c003c00)
		if b == mapped {
			want = 0x42004200
		}
		require.Equal(t, want, words(own.Bytes())[0], name)
		last := len(buf.Bytes()) - 8 // after the end of the file
		run(t, d, Copy{To: own.Range(0, 8), From: buf.Range(last, 8)})
		require.Equal(t, make([]byte, 8), own.Bytes()[:8])
		require.NoError(t, buf.Close())
	}
	require.False(t, own.ReadOnly())
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, data, again)
}

// errOf is unimem.ErrInUse of a Block that need not be retained.
func errOf(err error, retained bool) error {
	if !retained && err == nil {
		return unimem.ErrInUse
	}
	return err
}

// Weights of each format begin at any element of a file: those of fp16 and bfloat16 also within a word.
func TestLinear(t *testing.T) {
	const outs, ins, rows = 70, 33, 3
	d := device(t)
	k := kernel(t, d, Linear())
	own := imported(t, d, block(t, 2*unimem.PageSize))
	x, y := floats(own.Bytes()[:unimem.PageSize]), floats(own.Bytes()[unimem.PageSize:])
	for i := range rows * ins {
		x[i] = float32(i%9 - 4)
	}
	for format, c := range []struct {
		size int
		put  func(b []byte, v float32)
	}{
		{4, func(b []byte, v float32) { binary.NativeEndian.PutUint32(b, math.Float32bits(v)) }},
		{2, func(b []byte, v float32) { binary.NativeEndian.PutUint16(b, uint16(fp16.FromFloat32(v))) }},
		{2, func(b []byte, v float32) { binary.NativeEndian.PutUint16(b, uint16(math.Float32bits(v)>>16)) }},
	} {
		for _, first := range []int{0, 1, 7, 130} {
			w := imported(t, d, block(t, unimem.PageSize))
			for i := range outs * ins {
				c.put(w.Bytes()[(first+i)*c.size:], weight(i)/2)
			}
			clear(y)
			r, before := w.Around(first*c.size, outs*ins*c.size)
			require.Less(t, before, max(d.Info().Offset, 4))
			run(t, d, Dispatch{Kernel: k, Push: push(outs, ins, before/c.size, format),
				Groups:  k.Program().Groups(outs, rows, 1),
				Buffers: []Range{own.Range(0, 4*rows*ins), r, own.Range(unimem.PageSize, 4*rows*outs)}})
			for i := range rows * outs {
				want := float32(0)
				for j := range ins {
					want += x[i/outs*ins+j] * weight(i%outs*ins+j) / 2
				}
				require.Equal(t, want, y[i], "format %d from element %d on, element %d", format, first, i)
			}
			require.Zero(t, y[rows*outs])
		}
	}
}

// What code declares of its buffers is read from it; code that says nothing writes.
func TestReads(t *testing.T) {
	for name, c := range map[string]struct {
		code []uint32
		n    int
		want []bool
	}{
		"product":       {wordsOf(Product().Code), 3, []bool{true, true, false}},
		"linear":        {wordsOf(Linear().Code), 3, []bool{true, true, false}},
		"scale":         {wordsOf(Scale().Code), 2, []bool{true, false}},
		"more buffers":  {wordsOf(Scale().Code), 4, []bool{true, false, false, false}},
		"fewer":         {wordsOf(Product().Code), 1, []bool{true}},
		"no code":       {nil, 2, []bool{false, false}},
		"cut off":       {wordsOf(Product().Code)[:headerWords+1], 3, []bool{false, false, false}},
		"no size":       {append(wordsOf(Product().Code), 7), 3, []bool{false, false, false}},
		"by variable":   {spirv(decorated(1, 0), locked(1)), 1, []bool{true}},
		"by one of two": {spirv(decorated(1, 0), locked(1), decorated(2, 0)), 1, []bool{false}},
		"by both":       {spirv(decorated(1, 0), locked(1), decorated(2, 0), locked(2)), 1, []bool{true}},
		"all members": {spirv(decorated(1, 0), instruction(opTypeStruct, 9, 5, 6), member(9, 0), member(9, 1),
			pointer32(8, 9), variable(8, 1)), 1, []bool{true}},
		"one member": {spirv(decorated(1, 0), instruction(opTypeStruct, 9, 5, 6), member(9, 1),
			pointer32(8, 9), variable(8, 1)), 1, []bool{false}},
	} {
		require.Equal(t, c.want, reads(c.code, c.n), name)
	}
}

// spirv joins instructions after a header.
func spirv(all ...[]uint32) []uint32 {
	code := make([]uint32, headerWords)
	for _, i := range all {
		code = append(code, i...)
	}
	return code
}

func instruction(op uint32, words ...uint32) []uint32 {
	return append([]uint32{uint32(len(words)+1)<<16 | op}, words...)
}

func decorated(variable, binding uint32) []uint32 {
	return instruction(opDecorate, variable, decorationBinding, binding)
}
func locked(variable uint32) []uint32 {
	return instruction(opDecorate, variable, decorationNonWritable)
}
func member(structure, n uint32) []uint32 {
	return instruction(opMemberDecorate, structure, n, decorationNonWritable)
}
func pointer32(id, to uint32) []uint32  { return instruction(opTypePointer, id, 12, to) }
func variable(kind, id uint32) []uint32 { return instruction(opVariable, kind, id, 12) }

func FuzzReads(f *testing.F) {
	f.Add(Product().Code, 3)
	f.Add(Scale().Code, 2)
	f.Fuzz(func(t *testing.T, code []byte, n int) {
		if n < 0 || n > 8 {
			return
		}
		require.Len(t, reads(wordsOf(code[:len(code)/4*4]), n), n)
	})
}
