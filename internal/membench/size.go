package membench

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/anekit/anekit/unimem"
)

const (
	smallPage = 4 << 10 // the page of most machines; pages are touched one by one
	// Small sizes are repeated to this number of bytes, because reading a clock takes tens
	// of nanoseconds.
	passBytes = 1 << 20
	// Memory of all repetitions in bytes, and their smallest and largest number.
	sampleBytes, minSamples, maxSamples = 256 << 20, 4, 200
)

// published has the figures of the specification of unimem for Apple silicon, by size in
// bytes: time to allocate, write and read throughput with volatile 64-bit accesses.
var published = map[int]string{
	4 << 10:   "18 us, 22.8, 22.8 GB/s",
	1 << 20:   "15 us, 23.6, 23.5 GB/s",
	16 << 20:  "17 us, 23.6, 18.9 GB/s",
	256 << 20: "20 us, 23.1, 19.5 GB/s",
}

// phases are the times of the phases of a piece of memory in nanoseconds.
type phases struct{ open, touch, drop, write, read float64 }

func (p *phases) keepBest(q phases) {
	keepBest(&p.open, q.open)
	keepBest(&p.touch, q.touch)
	keepBest(&p.drop, q.drop)
	keepBest(&p.write, q.write)
	keepBest(&p.read, q.read)
}

// opener makes memory and returns a function that frees it.
type opener func(size int) (mem []byte, drop func() error, err error)

func block(size int) ([]byte, func() error, error) {
	b, err := unimem.Open(size)
	if err != nil {
		return nil, nil, err
	}
	return b.Bytes(), b.Close, nil
}

// bareMemory rounds the size like a Block, so that both do the same work.
func bareMemory(size int) ([]byte, func() error, error) {
	m, err := openBare((size + unimem.PageSize - 1) &^ (unimem.PageSize - 1))
	return m.mem, m.close, err
}

// measureSize measures Block and floor in turn and alternates their order, because each
// affects caches and the kernel for the other.
func measureSize(ctx context.Context, size int) (Size, error) {
	var value, floor phases
	turns := []struct {
		open opener
		best *phases
	}{{block, &value}, {bareMemory, &floor}}
	for range min(max(sampleBytes/size, minSamples), maxSamples) {
		for _, turn := range turns {
			if err := ctx.Err(); err != nil {
				return Size{}, err
			}
			p, err := sample(turn.open, size)
			if err != nil {
				return Size{}, err
			}
			turn.best.keepBest(p)
		}
		slices.Reverse(turns)
	}
	return Size{
		Published:  published[size],
		Bytes:      size,
		Open:       slower(value.open, floor.open),
		FirstTouch: slower(value.touch, floor.touch),
		Drop:       slower(value.drop, floor.drop),
		Write:      throughput(size, value.write, floor.write),
		Read:       throughput(size, value.read, floor.read),
	}, nil
}

// sample measures all phases once.
func sample(open opener, size int) (phases, error) {
	began := time.Now()
	mem, drop, err := open(size)
	p := phases{open: since(began)}
	if err != nil {
		return p, err
	}
	p.touch = firstTouch(mem) / float64(len(mem)/unimem.PageSize)
	words, err := unimem.View[uint64](mem[:size])
	if err == nil {
		p.write, p.read = passes(words)
	}
	began = time.Now()
	err = errors.Join(err, drop())
	p.drop = since(began)
	return p, err
}

func firstTouch(mem []byte) float64 {
	began := time.Now()
	for i := 0; i < len(mem); i += smallPage {
		mem[i] = 1
	}
	return since(began)
}

// passes measures writing and reading words in present pages.
func passes(words []uint64) (written, done float64) {
	n := max(passBytes/(8*len(words)), 1)
	began := time.Now()
	for i := range n {
		write(words, uint64(i))
	}
	written = since(began) / float64(n)
	began = time.Now()
	var sum uint64
	for range n {
		sum += read(words)
	}
	done = since(began) / float64(n)
	runtime.KeepAlive(sum)
	return written, done
}

func since(t time.Time) float64 { return max(float64(time.Since(t)), 1) }
