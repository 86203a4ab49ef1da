package dma_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma"
)

// A file's sectors go to a Block by its segments.
func Example() {
	dir, err := os.MkdirTemp("", "dma")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "weights")
	if err := os.WriteFile(path, []byte("from the disk"), 0o600); err != nil {
		panic(err)
	}
	d := dma.Simulate()
	b, err := unimem.Open(64 << 10)
	if err != nil {
		panic(err)
	}
	segments, err := d.Segments(b)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(segments), "segment of", segments[0].Length, "bytes")
	disk, err := dma.OpenDisk(context.Background(), d, path)
	if err != nil {
		panic(err)
	}
	if err := disk.Read(context.Background(), b, dma.PageSize, 0, int(disk.Blocks())); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", b.Bytes()[dma.PageSize:][:13])
	fmt.Println(d.Close(), b.Close()) // which closes the disk and releases the Block
	// Output:
	// 1 segment of 65536 bytes
	// from the disk
	// <nil> <nil>
}

// The bytes of a Block go to a file's sectors.
func ExampleDisk_Write() {
	path := filepath.Join(os.TempDir(), "anekit-example-write")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		panic(err)
	}
	defer os.Remove(path)
	d := dma.Simulate()
	b, err := unimem.Open(dma.PageSize)
	if err != nil {
		panic(err)
	}
	copy(b.Bytes(), "from the Block")
	if _, err := d.Segments(b); err != nil {
		panic(err)
	}
	disk, err := dma.OpenDisk(context.Background(), d, path, dma.Writable())
	if err != nil {
		panic(err)
	}
	err = errors.Join(disk.Write(context.Background(), b, 0, 0, int(disk.Blocks())), disk.Flush(context.Background()))
	fmt.Println(err, d.Close(), b.Close())
	text, err := os.ReadFile(path)
	fmt.Printf("%d bytes, %s %v\n", len(text), text[:14], err)
	// Output:
	// <nil> <nil> <nil>
	// 4096 bytes, from the Block <nil>
}

// A file goes from a real disk to a registered Block, on Linux. Elsewhere, and where io_uring is refused, the caller
// reads with ReadAt.
func ExampleOpenRing() {
	b, err := unimem.Open(1<<20, unimem.Warm())
	if err != nil {
		panic(err)
	}
	defer b.Close()
	path := filepath.Join(os.TempDir(), "anekit-example-ring")
	want := bytes.Repeat([]byte("anekit"), b.Size()/6+1)[:b.Size()]
	if err := os.WriteFile(path, want, 0o600); err != nil {
		panic(err)
	}
	defer os.Remove(path)
	file, _, err := dma.OpenFile(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	ring, err := dma.OpenRing(b)
	if errors.Is(err, dma.ErrUnavailable) {
		_, err = file.ReadAt(b.Bytes(), 0)
		fmt.Println(bytes.Equal(b.Bytes(), want), err)
		return
	}
	if err != nil {
		panic(err)
	}
	defer ring.Close()
	_, err = ring.Read(context.Background(), file, 0, b, 0, b.Size())
	fmt.Println(bytes.Equal(b.Bytes(), want), err)
	// Output: true <nil>
}
