package unimem_test

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// A Block is memory that other processes and engines can map through its handle.
func ExampleBlock() {
	b, err := unimem.Open(20_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	words, err := unimem.View[uint32](b.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	words[0] = 7

	other, err := unimem.Map(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Size(), other.Bytes()[0])
	fmt.Println(errors.Is(b.Close(), unimem.ErrInUse))
	fmt.Println(other.Close())
	// Output:
	// 32768 7
	// true
	// <nil>
}

// A Tape allocates spans, and frees all of them by Clear.
func ExampleTape() {
	t, err := unimem.Start(16 << 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	header, _ := t.Take(10, 1)
	row, _ := t.Take(256, 64)
	_, at, _ := t.Place(row)
	fmt.Println(len(header), at, t.Used(), t.Owns(row))

	_, err = t.Take(1<<20, 64)
	fmt.Println(err)
	t.Clear()
	fmt.Println(t.Free())
	// Output:
	// 10 64 320 true
	// tape is full
	// 16384
}

// A Grid allocates cells and detects one that is given twice.
func ExampleGrid() {
	g, err := unimem.NewGrid(4096, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	c, _ := g.Take()
	fmt.Println(g.CellSize(), len(c.Bytes()), g.Free(), g.Total())
	fmt.Println(g.Give(c))
	fmt.Println(g.Give(c))
	fmt.Println(c.Bytes() == nil)
	// Output:
	// 4096 4096 1 2
	// <nil>
	// cell was already given
	// true
}

// A Layout separates the memory of a pass, of a conversation and of the weights.
func ExampleLayout() {
	l, err := unimem.NewLayout(64<<10, 32<<10, 16<<10)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	for _, t := range []*unimem.Tape{l.Weights(), l.Scratch(), l.History()} {
		_, _ = t.Take(1000, 64)
	}
	l.ClearPass()
	fmt.Println(l.Weights().Used(), l.Scratch().Used(), l.History().Used())
	l.ClearTalk()
	fmt.Println(l.History().Used(), l.Total())
	// Output:
	// 1000 0 1000
	// 0 114688
}
