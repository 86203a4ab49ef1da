package vulkan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// requireSame asserts that the driver maps the Block's own pages: at the Block's address, or at another one at which a
// change of each page is seen on both sides.
func requireSame(t *testing.T, b *unimem.Block, buf *Buffer) {
	t.Helper()
	if buf.Address() == b.Address() {
		return
	}
	t.Logf("the driver maps the Block at %#x, the caller at %#x", buf.Address(), b.Address())
	here, there := b.Bytes(), mapped(buf)
	for i := 0; i < len(here); i += 4096 {
		here[i]++
		require.Equal(t, here[i], there[i])
		there[i]--
		require.Equal(t, there[i], here[i])
	}
}

// mapped returns the memory of a Buffer where the driver maps it.
func mapped(b *Buffer) []byte { return foreign(b.Address(), b.size) }

// 128 x 128 products of small integers are exact in float32: each of the 16,384 elements is compared bit by bit.
func TestProductInPlace(t *testing.T) {
	const n = 128
	d := device(t)
	t.Logf("%+v", d.Info())
	b := block(t, 3*4*n*n)
	buf := imported(t, d, b)
	requireSame(t, b, buf)
	all := floats(b.Bytes())
	x, y, z := all[:n*n], all[n*n:2*n*n], all[2*n*n:3*n*n]
	for i := range x {
		x[i], y[i] = float32(i%17-8), float32(i%13-6)
	}
	k := kernel(t, d, Product())
	const size = 4 * n * n
	run(t, d, Dispatch{Kernel: k, Buffers: []Range{buf.Range(0, size), buf.Range(size, size), buf.Range(2*size, size)},
		Push: push(n), Groups: Product().Groups(n, n, 1)})
	wrong := 0
	for r := range n {
		for c := range n {
			want := 0
			for i := range n {
				want += int(x[r*n+i]) * int(y[i*n+c])
			}
			if z[r*n+c] != float32(want) {
				wrong++
			}
		}
	}
	require.Zero(t, wrong, "errors in %d elements", n*n)
}

// Each side sees what the other changed after the import: the GPU copies a word that the CPU wrote, and a second
// mapping of the Block's handle sees what the GPU wrote.
func TestBothSidesSeeChanges(t *testing.T) {
	d := device(t)
	b := block(t, unimem.PageSize)
	second, err := unimem.Map(b)
	require.NoError(t, err)
	defer func() { require.NoError(t, second.Close()) }()
	buf := imported(t, d, b)
	words, err := unimem.View[uint32](b.Bytes())
	require.NoError(t, err)
	again, err := unimem.View[uint32](second.Bytes())
	require.NoError(t, err)
	const from, to, filled = 8, 1024, 2048 // words
	for round := range uint32(3) {
		words[from] = 0x5eed0000 + round
		run(t, d, Copy{To: buf.Range(4*to, 4), From: buf.Range(4*from, 4)}, Fill{buf.Range(4*filled, 8),
			0xfeed0000 + round})
		for name, w := range map[string][]uint32{"the Block": words, "the second mapping": again} {
			require.Equal(t, 0x5eed0000+round, w[to], "%s has the word that the CPU wrote after the import", name)
			require.Equal(t, []uint32{0, 0xfeed0000 + round, 0xfeed0000 + round, 0}, w[filled-1:filled+3], "%s", name)
		}
		again[from] = 0xcafe0000 + round
		run(t, d, Copy{To: buf.Range(4*to, 4), From: buf.Range(4*from, 4)})
		require.Equal(t, 0xcafe0000+round, words[to])
	}
	changed := 0
	for _, w := range words {
		if w != 0 {
			changed++
		}
	}
	require.Equal(t, 4, changed, "no other word of the Block changes")
}

// Memory of the driver is at another address, and changes of a Block do not reach it without a copy.
func TestTheCopyingPathIsApart(t *testing.T) {
	d := device(t)
	b := block(t, unimem.PageSize)
	buf, err := d.NewBuffer(t.Context(), b.Size())
	require.NoError(t, err)
	defer func() { require.NoError(t, buf.Close()) }()
	require.NotEqual(t, b.Address(), buf.Address())
	require.Same(t, &buf.Bytes()[0], &mapped(buf)[0])
	require.Len(t, buf.Bytes(), b.Size())
	clear(buf.Bytes())
	b.Bytes()[0] = 7
	run(t, d, Copy{To: buf.Range(4, 4), From: buf.Range(0, 4)})
	require.Equal(t, make([]byte, 8), buf.Bytes()[:8])
	copy(buf.Bytes(), b.Bytes())
	run(t, d, Copy{To: buf.Range(4, 4), From: buf.Range(0, 4)})
	require.EqualValues(t, 7, buf.Bytes()[4])
	require.Zero(t, b.Bytes()[4], "without a copy back the Block does not change")
}
