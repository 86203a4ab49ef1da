package blas_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/blas"
	"github.com/anekit/anekit/unimem/dma"
)

// squares is a program that multiplies an n x n matrix x by itself, element by element.
func squares(n int) ane.Program {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP32, 1, 1, n, n)
	f.Output("y", f.Mul(x, x))
	return ane.Must(b.Program())
}

// A disk writes two matrices to the pages of a Block, the CPU's library multiplies them there, and the engine squares
// the product where it lies. The chain allocates less Go memory than a matrix has, and the engine's own mapping has the
// product's pages.
func TestChainFromTheDiskToTheEngine(t *testing.T) {
	ctx, l := t.Context(), library(t)
	const n, size = 256, 4 * 256 * 256
	r := rand.New(rand.NewPCG(1, 2))
	var file []byte
	for range 2 * n * n {
		file, _ = binary.Append(file, binary.LittleEndian, float32(r.IntN(9)-4)) // exact in float32
	}
	path := filepath.Join(t.TempDir(), "matrices")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	open := func(size int) *unimem.Block {
		b, err := unimem.Open(size, unimem.Warm())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		return b
	}
	read, product := open(2*size), open(size)
	d := dma.Simulate()
	defer func() { require.NoError(t, d.Close()) }()
	_, err := d.Segments(read)
	require.NoError(t, err)
	disk, err := dma.OpenDisk(ctx, d, path)
	require.NoError(t, err)
	var m [3]blas.Matrix // a and b of the disk, c = a b
	for i, span := range [][]byte{read.Bytes()[:size], read.Bytes()[size:], product.Bytes()[:size]} {
		m[i], err = blas.On(span, n, n)
		require.NoError(t, err)
	}
	device, err := engine.Open(ctx, engine.Soft)
	require.NoError(t, err)
	defer func() { require.NoError(t, device.Close()) }()
	model, err := device.Compile(ctx, ane.Source{Program: squares(n)})
	require.NoError(t, err)
	defer func() { require.NoError(t, model.Close(context.Background())) }()
	request, err := model.NewRequest(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, request.Close()) }()
	x, err := ane.OnBlock(product, model.Inputs()[0])
	require.NoError(t, err)
	require.NoError(t, request.Rebind("x", x))
	require.NoError(t, l.Product(m[2], m[0], m[1])) // the library's own buffers
	_, err = request.Evaluate(ctx)                  // the engine's
	require.NoError(t, err)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, disk.Read(ctx, read, 0, 0, int(disk.Blocks())))
	require.NoError(t, l.Product(m[2], m[0], m[1]))
	_, err = request.Evaluate(ctx)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size), "no matrix was copied to the heap")

	require.True(t, bytes.Equal(file, read.Bytes()))
	y := request.Output("y")
	for range 100 {
		i, j := r.IntN(n), r.IntN(n)
		c, _ := reference(m[0], m[1], i, j)
		v, err := y.At(0, 0, i, j)
		require.NoError(t, err)
		require.EqualValues(t, c*c, v, "element (%d, %d)", i, j)
	}
	view := access.View(request, access.Input, "x")
	require.NotEmpty(t, view)
	view[0] ^= 1
	require.Equal(t, product.Bytes()[0], view[0], "the engine's mapping and the product are the same pages")
}

// Two matrices come from a disk, the CPU multiplies them, and the engine squares the product: each step reads where the
// one before wrote.
func Example_chain() {
	const n, size = 16, 4 * 16 * 16 // rows of 64 bytes, as the engine has them
	ctx := context.Background()
	var file [2 * n * n]float32
	for i := range n {
		file[i*n+i] = 2                 // a is twice the identity
		file[n*n+i*n] = float32(10 + i) // b has one column
	}
	bytes, _ := binary.Append(nil, binary.LittleEndian, file)
	path := filepath.Join(os.TempDir(), "anekit-example-chain")
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		panic(err)
	}
	defer os.Remove(path)

	read := ane.Must(unimem.Open(2 * size))
	defer read.Close()
	devices := dma.Simulate() // on a Mac dma.Open
	defer devices.Close()
	ane.Must(devices.Segments(read))
	disk := ane.Must(dma.OpenDisk(ctx, devices, path))
	if err := disk.Read(ctx, read, 0, 0, int(disk.Blocks())); err != nil {
		panic(err)
	}

	d := ane.Must(engine.Open(ctx, engine.Soft))
	m := ane.Must(d.Compile(ctx, ane.Source{Program: squares(n)}))
	r := ane.Must(m.NewRequest(ctx))
	defer func() { fmt.Println(errors.Join(r.Close(), m.Close(ctx), d.Close())) }()
	a := ane.Must(blas.On(read.Bytes()[:size], n, n))
	b := ane.Must(blas.On(read.Bytes()[size:2*size], n, n))
	c := ane.Must(blas.On(r.Input("x").Bytes(), n, n)) // the engine's input
	l, err := blas.Open()
	switch {
	case errors.Is(err, blas.ErrUnavailable): // this system has no library
		for i := range n {
			c.Data[i*n] = 2 * b.At(i, 0)
		}
	case err != nil:
		panic(err)
	default:
		if err := l.Product(c, a, b); err != nil {
			panic(err)
		}
	}
	ane.Must(r.Evaluate(ctx))
	fmt.Println(c.At(3, 0), ane.Must(r.Output("y").At(0, 0, 3, 0)))
	// Output:
	// 26 676
	// <nil>
}
