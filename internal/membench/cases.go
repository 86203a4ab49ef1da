package membench

import (
	"context"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/unimem"
)

const gigabyte = 1 << 30

// Cases returns all operations, in the order of the table. Published has the figures of the specification of unimem
// for Apple silicon, with those of the allocator mimalloc in parentheses.
func Cases() []measure.Case {
	return []measure.Case{
		{Name: "TapeTake", What: "Tape take", Published: "< 5 ns (100 ns)", MaxRatio: 1.25, MaxNs: 5,
			Open: onTape(tapeSize, take, bareTake(spanSize))},
		{Name: "TapeTakeOne", What: "Tape take one", Published: "< 5 ns", MaxRatio: 1.25, MaxNs: 5,
			Open: onTape(tapeSize, takeOne, bareTake(8))},
		{Name: "TapeTakeParallel", What: "Tape take, all cores", AllCores: true,
			Open: onTape(tapeSize, take, bareTake(spanSize))},
		{Name: "TapeClear", What: "Tape clear 1 GB", Published: "< 10 ns (5 ms)", MaxNs: 10,
			Open: onTape(gigabyte, clearTape, bareClear)},
		{Name: "GridTakeGive", What: "Grid take and give", Published: "< 10 ns each", MaxRatio: 1.3, Open: onGrid},
		{Name: "GridTakeGiveParallel", What: "Grid take and give, all cores", AllCores: true, Open: onGrid},
		{Name: "BlockOpen16MB", What: "Block open and close 16 MB", MaxRatio: 1.25, MaxNs: 25e3, Open: opens(16 << 20)},
		{Name: "BlockOpen256MB", What: "Block open and close 256 MB", Published: "< 25 us", MaxRatio: 1.25,
			MaxNs: 25e3, Open: opens(256 << 20)},
		{Name: "BlockWrite1GB", What: "sequential write 1 GB, u64", Published: "> 23 GB/s (20 GB/s)", MaxRatio: 1.1,
			Bytes: gigabyte, Open: writes},
		{Name: "BlockFill1GB", What: "fill 1 GB", MaxRatio: 1.05, Bytes: gigabyte, Open: fills},
	}
}

// opener opens a pair.
type opener func(context.Context) (measure.Pair, error)

// opens opens and closes Blocks.
func opens(size int) opener {
	each := func(open func(int) ([]byte, func() error, error)) measure.Loop {
		return func(n int) error {
			for range n {
				_, drop, err := open(size)
				if err == nil {
					err = drop()
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	return func(context.Context) (measure.Pair, error) {
		return measure.Pair{Loop: each(block), Floor: each(bareMemory)}, nil
	}
}

// writes stores words of 64 bits to present pages.
func writes(context.Context) (p measure.Pair, err error) {
	b, err := unimem.Open(gigabyte)
	if err != nil {
		return p, err
	}
	words, err := unimem.View[uint64](b.Bytes())
	each := func(words []uint64) measure.Loop {
		write(words, 1)
		return func(n int) error {
			for i := range n {
				write(words, uint64(i))
			}
			return nil
		}
	}
	return measure.Pair{Loop: each(words), Floor: each(make([]uint64, gigabyte/8)), Close: b.Close}, err
}

// fills clears memory whose pages are present.
func fills(context.Context) (p measure.Pair, err error) {
	b, err := unimem.Open(gigabyte)
	if err != nil {
		return p, err
	}
	bare, drop, err := bareMemory(gigabyte)
	each := func(mem []byte) measure.Loop {
		clear(mem)
		return func(n int) error {
			for range n {
				clear(mem)
			}
			return nil
		}
	}
	return measure.Pair{Loop: each(b.Bytes()), Floor: each(bare), Close: func() error {
		if err := drop(); err != nil {
			return err
		}
		return b.Close()
	}}, err
}
