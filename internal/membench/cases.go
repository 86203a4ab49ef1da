// Package membench has the operations of package unimem as cases. Beside each is the smallest code that does the same
// work on memory from direct system calls.
package membench

import (
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

const gigabyte = 1 << 30

// Cases returns all operations, in the order of the table. Published has the figures of the specification of unimem
// for Apple silicon, with those of the allocator mimalloc in parentheses.
func Cases() []measure.Case {
	return []measure.Case{
		{Name: "TapeTake", What: "Tape take", Published: "< 5 ns (100 ns)", MaxRatio: 1.25, MaxNs: 5,
			Open: onTape(tapeSize, take), Floor: onBump(tapeSize, bareTake(spanSize))},
		{Name: "TapeTryTake", What: "Tape try take", MaxRatio: 1.25, MaxNs: 5,
			Open: onTape(tapeSize, tryTake), Floor: onBump(tapeSize, bareTake(spanSize))},
		{Name: "TapeTakeOne", What: "Tape take one", Published: "< 5 ns", MaxRatio: 1.25, MaxNs: 5,
			Open: onTape(tapeSize, takeOne), Floor: onBump(tapeSize, bareTake(8))},
		{Name: "TapeTakeParallel", What: "Tape take, all cores", AllCores: true,
			Open: onTape(tapeSize, take), Floor: onBump(tapeSize, bareTake(spanSize))},
		{Name: "TapeClear", What: "Tape clear 1 GB", Published: "< 10 ns (5 ms)", MaxNs: 10,
			Open: onTape(gigabyte, clearTape), Floor: onBump(gigabyte, bareClear)},
		{Name: "GridTakeGive", What: "Grid take and give", Published: "< 10 ns each", MaxRatio: 1.25,
			Open: onGrid, Floor: onStack},
		{Name: "GridTakeGiveTwo", What: "Grid take two and give two", MaxRatio: 1.25,
			Open: onTwoOfGrid, Floor: onTwoOfStack},
		{Name: "GridTakeGiveParallel", What: "Grid take and give, all cores", AllCores: true,
			Open: onGrid, Floor: onStack},
		{Name: "BlockOpen16MB", What: "Block open and close 16 MB", MaxRatio: 1.25, MaxNs: 25e3,
			Open: opens(block, 16<<20), Floor: opens(mapping, 16<<20)},
		{Name: "BlockOpen256MB", What: "Block open and close 256 MB", Published: "< 25 us", MaxRatio: 1.25,
			MaxNs: 25e3, Open: opens(block, 256<<20), Floor: opens(mapping, 256<<20)},
		{Name: "BlockWrite1GB", What: "sequential write 1 GB, u64", Published: "> 23 GB/s (20 GB/s)", MaxRatio: 1.1,
			Bytes: gigabyte, Open: on(block, writes), Floor: on(heap, writes)},
		{Name: "BlockWrite1GBVectors", What: "sequential write 1 GB, vectors", Published: "> 60 GB/s (50 GB/s)",
			MaxRatio: 1.1, Bytes: gigabyte, Open: on(block, writesVectors), Floor: on(mapping, writesVectors)},
		{Name: "BlockFill1GB", What: "fill 1 GB", MaxRatio: 1.05, Bytes: gigabyte,
			Open: on(block, fills), Floor: on(mapping, fills)},
	}
}

// memory opens memory of some bytes, and returns it and what closes it.
type memory func(size int) ([]byte, func() error, error)

func block(size int) ([]byte, func() error, error) {
	b, err := unimem.Open(size)
	if err != nil {
		return nil, nil, err
	}
	return b.Bytes(), b.Close, nil
}

func heap(size int) ([]byte, func() error, error) {
	return make([]byte, size), func() error { return nil }, nil
}

// opens opens and closes memory.
func opens(open memory, size int) measure.Opener {
	return func(*step.T) measure.Loop {
		return measure.Repeat(func() error {
			_, done, err := open(size)
			if err == nil {
				err = done()
			}
			return err
		})
	}
}

// on works on memory whose pages are present.
func on(open memory, work func([]byte)) measure.Opener {
	return func(t *step.T) measure.Loop {
		mem, done, err := open(gigabyte)
		step.NoError(err)
		t.Closing(done)
		work(mem)
		return measure.Repeat(func() error { work(mem); return nil })
	}
}

// writesVectors stores vectors of 16 bytes (NEON) or 32 bytes (AVX2, past the caches); without them words of 64 bits.
func writesVectors(mem []byte) {
	if !hasVectors() {
		writes(mem)
		return
	}
	storeVectors(mem, 1)
}

func fills(mem []byte) { clear(mem) }

// writes stores words of 64 bits.
func writes(mem []byte) {
	words, _ := unimem.View[uint64](mem) // memory begins at a page
	write(words, 1)
}
