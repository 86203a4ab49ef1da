package unimem_test

import (
	"errors"
	"fmt"
	"log/slog"

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
	b, err := unimem.Open(1, unimem.Warm(), unimem.OnHeap(), unimem.Logger(slog.Default()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	fmt.Println(b.Backing(), b.Pinned())
	_, err = unimem.Open(1, unimem.SurfacePerCell())
	fmt.Println(err)
	// Output:
	// heap false
	// unimem: open of 1 bytes: option does not apply; SurfacePerCell is for NewGrid only
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

// A Stat is the state of a Layout, a TapeStat that of each of its Tapes.
func ExampleStat() {
	l, err := unimem.NewLayout(16<<10, 16<<10, 16<<10)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	if _, err := l.Scratch().Take(100, 64); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%+v\n", l.Stat().Scratch)
	// Output: {Total:16384 Used:100 Free:16284}
}

func ExampleTapeStat() {
	s := unimem.TapeStat{Total: 16384, Used: 100, Free: 16284}
	fmt.Println(100*s.Used/s.Total, "percent")
	// Output: 0 percent
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

// A surface of macOS is shared as a mach port; Share and Adopt share other memory.
func ExamplePort() {
	b, err := unimem.Open(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	port, err := b.SharePort()
	if errors.Is(err, unimem.ErrShare) {
		fmt.Println(true) // no surface: another process adopts the file of b.Share
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer port.Close()
	twin, err := unimem.AdoptPort(port.Name(), b.Size()) // in another process: under the name that the port has there
	if err != nil {
		fmt.Println(err)
		return
	}
	defer twin.Close()
	fmt.Println(twin.Key() == b.Key())
	// Output: true
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
