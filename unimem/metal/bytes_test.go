package metal

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// bytesInPlace fills and copies at every offset and length that Metal's alignment allows and at those that it does not,
// and compares all bytes.
func bytesInPlace(t *testing.T, d *Device, b *unimem.Block) {
	buf := buffer(t, d, b)
	run := func(commands ...Command) {
		w, err := d.Submit(nil, nil, commands...)
		require.NoError(t, err)
		require.NoError(t, w.Wait(t.Context()))
	}
	mem := b.Bytes()
	word := []byte{0xd1, 0xc2, 0xb3, 0xa4}
	for _, offset := range []int{0, 1, 2, 3, 4, 61} {
		for _, length := range []int{1, 2, 3, 4, 7, 16, 17, 64, 1023, 1024} {
			for _, w := range []uint32{0xa4b3c2d1, 0x77777777} {
				for i := range mem {
					mem[i] = byte(i % 251)
				}
				want := bytes.Clone(mem)
				for i := range length {
					want[offset+i] = word[i%4]
					if w == 0x77777777 {
						want[offset+i] = 0x77
					}
				}
				run(Fill{buf.Range(offset, length), w})
				require.True(t, bytes.Equal(want, mem), "fill of %d bytes at %d by %#x", length, offset, w)
			}
			for _, from := range []int{2048, 2049, 2051} {
				want := bytes.Clone(mem)
				copy(want[offset:offset+length], want[from:])
				run(Copy{To: buf.Range(offset, length), From: buf.Range(from, length)})
				require.True(t, bytes.Equal(want, mem), "copy of %d bytes from %d to %d", length, from, offset)
			}
		}
	}
	clear(mem)
	run(Fill{buf.Range(0, 64), 0x05050505}, Copy{buf.Range(65, 31), buf.Range(0, 31)}, Fill{buf.Range(0, 2), 0x0101},
		Copy{buf.Range(128, 4), buf.Range(0, 4)})
	require.Equal(t, []byte{1, 1, 5, 5}, mem[128:132], "each command sees what those before it wrote")
	require.Equal(t, bytes.Repeat([]byte{5}, 31), mem[65:96])
}

func TestBytesOnAFake(t *testing.T) {
	f := newFake(t)
	onCPU(t, f)
	bytesInPlace(t, f.device(), surface(t, page))
	blits, kernels := 0, 0
	for _, w := range f.started {
		require.Equal(t, len(w.steps) > 1, w.fence != 0)
		for _, s := range w.steps {
			if s.blit != nil {
				blits++
			} else {
				kernels++
			}
		}
	}
	require.Positive(t, blits, "by Metal's own commands at multiples of 4")
	require.Greater(t, kernels, blits)
}

func TestBytesRefused(t *testing.T) {
	f := newFake(t)
	d, other := f.device(), f.device()
	b := surface(t, page)
	buf, same, foreign := buffer(t, d, b), buffer(t, d, b), buffer(t, other, b)
	readOnly, err := unimem.AdoptMemory(surface(t, page).Bytes(), nil, unimem.ReadOnly())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, readOnly.Close()) })
	locked := buffer(t, d, readOnly)
	for name, c := range map[string]struct {
		command Command
		want    error
	}{
		"nil":                {nil, ErrClosed},
		"no buffer":          {Fill{Range{}, 1}, ErrClosed},
		"of another device":  {Fill{foreign.Range(0, 4), 1}, ErrForeign},
		"beyond":             {Fill{buf.Range(page-3, 4), 1}, ErrRange},
		"empty":              {Fill{buf.Range(0, 0), 1}, ErrRange},
		"read only":          {Fill{locked.Range(0, 4), 1}, ErrReadOnly},
		"copy to read only":  {Copy{locked.Range(0, 4), buf.Range(0, 4)}, ErrReadOnly},
		"lengths":            {Copy{buf.Range(0, 4), buf.Range(8, 5)}, ErrRange},
		"overlap":            {Copy{buf.Range(0, 4), buf.Range(3, 4)}, ErrRange},
		"overlap of buffers": {Copy{buf.Range(0, 4), same.Range(3, 4)}, ErrRange},
		"no source":          {Copy{buf.Range(0, 4), Range{}}, ErrClosed},
	} {
		_, err := d.Submit(nil, nil, Fill{buf.Range(0, 4), 0}, c.command)
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, "command 1", name)
	}
	require.Empty(t, f.started)
	w, err := d.Submit(nil, nil, Copy{buf.Range(0, 4), locked.Range(0, 4)})
	require.NoError(t, err)
	require.NoError(t, w.Wait(t.Context()))
}

// All GPUs are listed, a name or an ID chooses one, and one without Metal 3 is refused by its name.
func TestDevices(t *testing.T) {
	f := newFake(t)
	f.gpus = 2
	all := f.driver().list()
	require.Len(t, all, 2)
	require.Equal(t, Info{Name: "fake", ID: "abc00", Unified: true, Metal3: true, Default: true}, all[0])
	require.Equal(t, Info{Name: "other fake", ID: "abc01", Unified: true, Metal3: true}, all[1])
	for text, want := range map[string]string{"": "fake", "OTHER": "other fake", "abc01": "other fake", "abc00": "fake"} {
		d, err := openWith(f.driver(), Choose(text))
		require.NoError(t, err, text)
		require.Equal(t, want, d.Name())
		require.NoError(t, d.Close())
	}
	for text, word := range map[string]string{"fake": "fits 2 of fake (abc00); other fake (abc01)", "x": "fits 0"} {
		_, err := openWith(f.driver(), Choose(text))
		require.ErrorIs(t, err, ErrDevice)
		require.ErrorContains(t, err, word)
	}
	f.old = true
	_, err := openWith(f.driver())
	require.ErrorIs(t, err, ErrMetal3)
	require.ErrorContains(t, err, "fake")
	require.ErrorContains(t, err, "macOS 13")
	require.False(t, f.driver().list()[0].Metal3)
	_, err = List()
	if err != nil {
		require.ErrorIs(t, err, ErrUnavailable)
	}
}
