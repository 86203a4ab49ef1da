package dma_test

import (
	"context"
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
	d, err := dma.Simulate()
	if err != nil {
		panic(err)
	}
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
