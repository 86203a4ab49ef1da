package unimem_test

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// A Cell is a value: copies are the same cell, and none is valid after Give.
func ExampleCell() {
	g, err := unimem.NewGrid(64, 4, unimem.SurfacePerCell())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	c, err := g.Take()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Index(), c.Offset(), len(c.Bytes()))
	fmt.Println(g.Give(c), c.Block() == nil)
	// Output:
	// 0 0 64
	// <nil> true
}

// An Error has the call, what is wrong, and how to fix it.
func ExampleError() {
	_, err := unimem.NewGrid(100, 4)
	var e *unimem.Error
	if errors.As(err, &e) {
		fmt.Println(errors.Is(err, unimem.ErrCellSize), e.Op, e.Size)
		fmt.Println(e.Hint)
	}
	// Output:
	// true grid 100
	// round the cell size up to a multiple of 64
}

// Every call that opens memory takes options, and refuses those that do not apply.
func ExampleOption() {
	b, err := unimem.Open(1, unimem.Warm(), unimem.OnHeap())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	fmt.Println(b.Backing(), b.Pinned())
	_, err = unimem.Open(1, unimem.SurfacePerCell())
	fmt.Println(err)
	_, err = unimem.Open(1, unimem.OnHeap(), unimem.RequirePinned())
	fmt.Println(err)
	// Output:
	// heap false
	// unimem: open of 1 bytes: option does not apply; SurfacePerCell is for NewGrid only
	// unimem: pin of 16384 bytes: cannot pin the pages; heap memory cannot be pinned: open without OnHeap
}

// Live returns what is open, so that a program can find its leaks.
func ExampleStats() {
	before := unimem.Live()
	b, err := unimem.Open(16 << 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	during := unimem.Live()
	if err := b.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(during.Blocks-before.Blocks, during.Bytes-before.Bytes, unimem.Live().Blocks-before.Blocks)
	// Output: 1 16384 0
}

// A Mapping is a second view of a Block through its handle; it keeps the Block open.
func ExampleMapping() {
	b, err := unimem.Open(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	m, err := unimem.Map(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Bytes()[7] = 42
	fmt.Println(m.Bytes()[7], errors.Is(b.Close(), unimem.ErrInUse))
	fmt.Println(m.Close())
	// Output:
	// 42 true
	// <nil>
}

// TakeSlice takes a span of a Tape as values of a type.
func ExampleTakeSlice() {
	t, err := unimem.Start(16 << 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	row, err := unimem.TakeSlice[float32](t, 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	row[63] = 1.5
	fmt.Println(len(row), t.Used())
	// Output: 64 256
}

// A Key identifies memory among processes. Block.ID alone does not: another process has the same.
func ExampleKey() {
	b, err := unimem.Open(1, unimem.OnHeap())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	seen := map[unimem.Key]uint32{b.Key(): b.ID()}
	fmt.Println(b.Key().Kind, seen[b.Key()] == b.ID())
	// Output: heap true
}

// By default a Grid stays open as long as cells are taken.
func ExampleStaleOnClose() {
	for _, option := range []unimem.Option{nil, unimem.StaleOnClose()} {
		g, err := unimem.NewGrid(64, 2, option)
		if err != nil {
			fmt.Println(err)
			return
		}
		c, err := g.Take()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(errors.Is(g.Close(), unimem.ErrInUse), c.Bytes() == nil)
		if option == nil {
			fmt.Println(g.Give(c), g.Close())
		}
	}
	// Output:
	// true false
	// <nil> <nil>
	// false true
}
