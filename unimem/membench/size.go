package membench

import (
	"context"
	"runtime"
	"time"

	"github.com/anekit/anekit/unimem"
)

const (
	smallPage = 4 << 10 // touched one by one: the page of most machines
	// What small sizes are repeated to, in bytes: a clock reads in tens of nanoseconds.
	passBytes = 1 << 20
	// Blocks of all repetitions together, in bytes, and their least and largest number.
	sampleBytes, minSamples, maxSamples = 512 << 20, 5, 200
)

// phases are the times of a Block's life in nanoseconds.
type phases struct{ open, touch, drop, write, read float64 }

// keepBest leaves out what q did not measure.
func (p *phases) keepBest(q phases) {
	keepBest(&p.open, q.open)
	keepBest(&p.touch, q.touch)
	keepBest(&p.drop, q.drop)
	keepBest(&p.write, q.write)
	keepBest(&p.read, q.read)
}

func measureSize(ctx context.Context, size int) (Size, error) {
	rounded := (size + unimem.PageSize - 1) &^ (unimem.PageSize - 1)
	slice := make([]uint64, size/8)
	var block, floor phases
	for range min(max(sampleBytes/size, minSamples), maxSamples) {
		if err := ctx.Err(); err != nil {
			return Size{}, err
		}
		if err := sampleBare(&floor, rounded); err != nil {
			return Size{}, err
		}
		floor.keepBest(passes(slice))
		if err := sampleBlock(&block, size); err != nil {
			return Size{}, err
		}
	}
	touched := float64(rounded) / unimem.PageSize
	return Size{
		Bytes:      size,
		Open:       slower(block.open, floor.open),
		FirstTouch: slower(block.touch/touched, floor.touch/touched),
		Drop:       slower(block.drop, floor.drop),
		Write:      throughput(size, block.write, floor.write),
		Read:       throughput(size, block.read, floor.read),
	}, nil
}

func sampleBlock(best *phases, size int) error {
	began := time.Now()
	b, err := unimem.Open(size)
	open := since(began)
	if err != nil {
		return err
	}
	touch := firstTouch(b.Bytes())
	words, err := unimem.View[uint64](b.Bytes()[:size])
	if err != nil {
		_ = b.Close() // the first failure is the one to report
		return err
	}
	p := passes(words)
	p.open, p.touch = open, touch
	began = time.Now()
	err = b.Close()
	p.drop = since(began)
	best.keepBest(p)
	return err
}

func sampleBare(best *phases, size int) error {
	began := time.Now()
	m, err := openBare(size)
	open := since(began)
	if err != nil {
		return err
	}
	touch := firstTouch(m.mem)
	began = time.Now()
	err = m.close()
	keepBest(&best.open, open)
	keepBest(&best.touch, touch)
	keepBest(&best.drop, since(began))
	return err
}

func firstTouch(mem []byte) float64 {
	began := time.Now()
	for i := 0; i < len(mem); i += smallPage {
		mem[i] = 1
	}
	return since(began)
}

// passes times writing and reading words, which are in memory already.
func passes(words []uint64) phases {
	n := max(passBytes/(8*len(words)), 1)
	began := time.Now()
	for i := range n {
		write(words, uint64(i))
	}
	written := since(began)
	began = time.Now()
	var sum uint64
	for range n {
		sum += read(words)
	}
	p := phases{write: written / float64(n), read: since(began) / float64(n)}
	runtime.KeepAlive(sum)
	return p
}

func since(t time.Time) float64 { return max(float64(time.Since(t)), 1) }
