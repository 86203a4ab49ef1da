package metal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// mappedWeights multiplies with a tensor of a mapped safetensors file, in the place where the file is mapped. work is a
// Block of at least two pages.
func mappedWeights(t *testing.T, d *Device, work *unimem.Block) {
	const outs, ins, rows = 70, 33, 3
	path := filepath.Join(t.TempDir(), "model.safetensors")
	w, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	data := make([]byte, 4*outs*ins)
	weights, err := unimem.View[float32](data)
	require.NoError(t, err)
	for i := range weights {
		weights[i] = float32(i%13 - 6)
	}
	require.NoError(t, w.Add("first", safetensors.F32, []int{5}, make([]byte, 20)))
	require.NoError(t, w.Add("w", safetensors.F32, []int{outs, ins}, data))
	require.NoError(t, w.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	f, err := safetensors.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	tensor, err := f.Tensor("w")
	require.NoError(t, err)
	file, offset, err := tensor.Block()
	require.NoError(t, err)
	require.NotZero(t, file.Size()%unimem.PageSize, "the file is no whole number of pages")
	mapped, own := buffer(t, d, file), buffer(t, d, work)
	require.Equal(t, file.Address(), mapped.Address())
	require.Len(t, mapped.Bytes(), len(file.Pages()))
	require.True(t, mapped.ReadOnly())
	require.ErrorIs(t, file.Close(), unimem.ErrInUse)

	all, err := unimem.View[float32](work.Bytes())
	require.NoError(t, err)
	x, y := all[:rows*ins], all[unimem.PageSize/4:][:rows*outs]
	for i := range x {
		x[i] = float32(i%9 - 4)
	}
	r, skipped := mapped.Around(offset, 4*outs*ins)
	k := kernel(t, d, Linear())
	c := Dispatch{Kernel: k, Push: uints(outs, ins, uint32(skipped/4), 0), Groups: Linear().Groups(outs, rows, 1),
		Buffers: []Range{own.Range(0, 4*rows*ins), r, own.Range(unimem.PageSize, 4*rows*outs)}}
	done, err := d.Submit(nil, nil, c)
	require.NoError(t, err)
	require.NoError(t, done.Wait(t.Context()))
	for i := range y {
		want := float32(0)
		for j := range ins {
			want += x[i/outs*ins+j] * weights[i%outs*ins+j]
		}
		require.Equal(t, want, y[i], "element %d", i)
	}

	c.Buffers = []Range{own.Range(0, 4*rows*ins), r, mapped.Range(0, 4*rows*outs)}
	_, err = d.Submit(nil, nil, c)
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorContains(t, err, "command 0: linear: buffer 2 is written")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "the file does not change")
}

// Metal gets the whole pages of a mapped file, and kernels read its tensors in place.
func TestMappedWeightsOnAFake(t *testing.T) {
	f := newFake(t)
	onCPU(t, f)
	mappedWeights(t, f.device(), surface(t, 2*unimem.PageSize))
}

// A kernel of which Metal tells nothing counts as writing.
func TestUnknownKernelsWrite(t *testing.T) {
	f := newFake(t)
	d := f.device()
	memory, err := unimem.Open(unimem.PageSize)
	require.NoError(t, err)
	defer func() { require.NoError(t, memory.Close()) }()
	b, err := unimem.AdoptMemory(memory.Bytes(), nil, unimem.ReadOnly())
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	own, readOnly := buffer(t, d, memory), buffer(t, d, b)
	require.False(t, own.ReadOnly())
	require.False(t, (*Buffer)(nil).ReadOnly())
	for i := range 2 {
		c := Dispatch{Kernel: kernel(t, d, Scale()), Push: uints(1, 0, 0), Groups: [3]int{1, 1, 1},
			Buffers: []Range{own.Range(0, 4), own.Range(0, 4)}}
		c.Buffers[i] = readOnly.Range(0, 4)
		_, err := d.Submit(nil, nil, c)
		require.ErrorIs(t, err, ErrReadOnly)
	}
	require.Empty(t, f.started)
	require.NoError(t, readOnly.Close())
	require.NoError(t, own.Close())
}
