//go:build darwin && cgo

package metal

import (
	"os"
	"path/filepath"
	"testing"

	mtl "github.com/progrium/darwinkit/macos/metal"
	"github.com/progrium/darwinkit/objc"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// On a Mac: go test ./unimem/metal

func gpu(t *testing.T) *Device {
	d, err := Open()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	require.NotEmpty(t, d.Name())
	t.Log(d.Name())
	return d
}

func TestBufferIsTheBlock(t *testing.T) {
	d := gpu(t)
	block, err := unimem.Open(1 << 20)
	require.NoError(t, err)
	b, err := d.NewBuffer(block)
	require.NoError(t, err)
	object := mtl.BufferObject{Object: objc.ObjectFrom(b.Pointer())}
	require.Equal(t, block.Address(), uintptr(object.Contents()), "the same address: no copy")
	require.EqualValues(t, block.Size(), object.Length())
	require.ErrorIs(t, block.Close(), unimem.ErrInUse)
	require.NoError(t, b.Close())
	block.Bytes()[0] = 1 // the Block still has its pages
	require.NoError(t, block.Close())
}

func TestTextureIsTheSurface(t *testing.T) {
	d := gpu(t)
	block, err := unimem.Open(1 << 20)
	require.NoError(t, err)
	s := Shape{Width: maxSide, Height: 1, Format: R8Uint}
	x, err := d.NewTexture(block, s)
	require.NoError(t, err)
	object := mtl.TextureObject{Object: objc.ObjectFrom(x.Pointer())}
	require.EqualValues(t, block.Handle(), object.Iosurface())
	require.EqualValues(t, s.Width, object.Width())

	block.Bytes()[100] = 42
	var pixel [1]byte
	object.GetBytesBytesPerRowFromRegionMipmapLevel(addressOf(&pixel), 1,
		mtl.Region{Origin: mtl.Origin{X: 100}, Size: mtl.Size{Width: 1, Height: 1, Depth: 1}}, 0)
	require.EqualValues(t, 42, pixel[0], "the texture reads the Block's bytes")
	require.ErrorIs(t, block.Close(), unimem.ErrInUse)
	require.NoError(t, x.Close())
	require.NoError(t, block.Close())
}

func TestManyOnTheGPU(t *testing.T) {
	d := gpu(t)
	block, err := unimem.Open(1)
	require.NoError(t, err)
	for range 10_000 {
		b, err := d.NewBuffer(block)
		require.NoError(t, err)
		require.NoError(t, b.Close())
	}
	require.NoError(t, block.Close())
}

// The proofs of package vulkan, on a Mac: the product, the order by an event of the host, and no growth.
func TestKernelsOnTheGPU(t *testing.T) {
	d := gpu(t)
	open := func(size int) *unimem.Block {
		b, err := unimem.Open(size)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		return b
	}
	productInPlace(t, d, open(3*4*128*128))
	chained(t, d, open(page), half)
	mappedWeights(t, d, open(2*unimem.PageSize))
	bytesInPlace(t, d, open(page))
}

func TestTextThatMetalRefuses(t *testing.T) {
	p := Scale()
	p.Text += "\nnonsense"
	_, err := gpu(t).NewKernel(p)
	require.ErrorIs(t, err, ErrKernel)
	require.ErrorContains(t, err, "nonsense")
}

func TestCaptureToAFile(t *testing.T) {
	if os.Getenv("METAL_CAPTURE_ENABLED") != "1" {
		t.Skip("set METAL_CAPTURE_ENABLED=1: Metal captures in no other process")
	}
	d := gpu(t)
	block, err := unimem.Open(3 * 4 * 128 * 128)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, block.Close()) })
	path := filepath.Join(t.TempDir(), "product.gputrace")
	require.NoError(t, d.Capture(path, func() error { productInPlace(t, d, block); return nil }))
	_, err = os.Stat(path)
	require.NoError(t, err)
}
