package metal

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

const page = unimem.PageSize

func TestBufferLivesWithItsBlock(t *testing.T) {
	f := newFake(t)
	d := f.device()
	block := surface(t, 3*page)
	b, err := d.NewBuffer(block)
	require.NoError(t, err)
	require.Equal(t, []any{block.Address(), 3 * page}, f.made)
	require.NotNil(t, b.Pointer())
	second, err := d.NewBuffer(block)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.ErrorIs(t, block.Close(), unimem.ErrInUse, "the second still holds it")
	require.NoError(t, b.Close())
	require.ErrorIs(t, block.Close(), unimem.ErrInUse, "a repeated Close releases nothing")
	require.Nil(t, b.Pointer())

	require.NoError(t, d.Close())
	require.NotNil(t, second.Pointer(), "a Buffer outlives its Device")
	require.NoError(t, second.Close())
	require.NoError(t, block.Close())
	require.Empty(t, f.alive)
}

func TestTextureLivesWithItsBlock(t *testing.T) {
	f := newFake(t)
	d := f.device()
	block := surface(t, 4*page)
	s := Shape{Width: page, Height: 1, Format: R8Uint}
	x, err := d.NewTexture(block, s)
	require.NoError(t, err)
	require.Equal(t, []any{block.Handle(), s}, f.made)
	require.ErrorIs(t, block.Close(), unimem.ErrInUse)
	require.NoError(t, x.Close())
	require.NoError(t, x.Close())
	require.Nil(t, x.Pointer())
	require.NoError(t, block.Close())
}

func TestRefusals(t *testing.T) {
	f := newFake(t)
	d := f.device()
	closed := surface(t, 1)
	require.NoError(t, closed.Close())
	onHeap, err := unimem.Open(1, unimem.OnHeap())
	require.NoError(t, err)
	table := surfacetest.New(t).Table()
	whole, err := unimem.Open(2*page, blockoption.On(table))
	require.NoError(t, err)
	ragged, err := unimem.AdoptSurface(whole.ID(), page+1, blockoption.On(table))
	require.NoError(t, err)
	good := surface(t, 2*page)
	shape := Shape{Width: 1, Height: 1, Format: R8Unorm}

	buffer := func(d *Device, b *unimem.Block) error { _, err := d.NewBuffer(b); return err }
	texture := func(b *unimem.Block, s Shape) error { _, err := d.NewTexture(b, s); return err }
	for name, c := range map[string]struct {
		err  error
		want error
		text string
	}{
		"buffer of nil":       {buffer(d, nil), unimem.ErrClosed, "open a Block"},
		"buffer of zero":      {buffer(d, new(unimem.Block)), unimem.ErrClosed, "open a Block"},
		"buffer of closed":    {buffer(d, closed), unimem.ErrClosed, "open a Block"},
		"buffer of heap":      {buffer(d, onHeap), ErrBlock, "without OnHeap"},
		"buffer of ragged":    {buffer(d, ragged), ErrBlock, "none of 16384"},
		"buffer of no device": {buffer(nil, good), ErrClosed, "open a Device"},
		"texture of nil":      {texture(nil, shape), unimem.ErrClosed, "open a Block"},
		"texture of heap":     {texture(onHeap, shape), ErrBlock, "is heap memory"},
		"texture of wide pixel": {texture(good, Shape{Width: 1, Height: 1, Format: RGBA8Unorm}), ErrFormat,
			"R8 format"},
		"texture of plane -1": {texture(good, Shape{Width: 1, Height: 1, Format: R8Unorm, Plane: -1}), ErrShape,
			"no plane -1"},
		"texture of plane 1": {texture(good, Shape{Width: 1, Height: 1, Format: R8Unorm, Plane: 1}), ErrShape,
			"no plane 1"},
	} {
		var e *Error
		require.ErrorAs(t, c.err, &e, name)
		require.ErrorIs(t, c.err, c.want, name)
		require.ErrorContains(t, c.err, c.text, name)
	}
	f.limit = page
	require.ErrorIs(t, buffer(d, good), ErrBlock)
	require.ErrorContains(t, buffer(d, good), "at most 16384")
	f.limit, f.refuse = 1<<30, true
	require.ErrorIs(t, buffer(d, good), ErrRefused)
	require.ErrorIs(t, texture(good, shape), ErrRefused)
	_, err = openWith(f.driver())
	require.ErrorIs(t, err, ErrDevice)
	f.refuse = false
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	require.ErrorIs(t, buffer(d, good), ErrClosed)
	require.Empty(t, d.Name())
	require.Nil(t, d.Pointer())
	for _, b := range []*unimem.Block{good, onHeap, ragged, whole} {
		require.NoError(t, b.Close(), "a refused call retains nothing")
	}
}

func TestMethodsOfNil(t *testing.T) {
	for _, d := range []*Device{nil, {}} {
		require.NoError(t, d.Close())
		require.Empty(t, d.Name())
		require.Nil(t, d.Pointer())
	}
	for _, b := range []*Buffer{nil, {}} {
		require.NoError(t, b.Close())
		require.Nil(t, b.Pointer())
	}
	for _, x := range []*Texture{nil, {}} {
		require.NoError(t, x.Close())
		require.Nil(t, x.Pointer())
	}
}

// Closes race with each other and with making objects: each object is released once, and at
// the end the Block is not retained.
func TestClosesRace(t *testing.T) {
	f := newFake(t)
	d := f.device()
	block := surface(t, page)
	var wg sync.WaitGroup
	for range 8 {
		b, err := d.NewBuffer(block)
		require.NoError(t, err)
		for range 2 {
			wg.Go(func() { _ = b.Close() })
		}
		wg.Go(func() {
			x, err := d.NewTexture(block, Shape{Width: page, Height: 1, Format: R8Sint})
			if err == nil {
				_ = x.Close()
			}
		})
	}
	wg.Go(func() { _ = d.Close() })
	wg.Wait()
	require.NoError(t, block.Close())
	require.Empty(t, f.alive)
}
