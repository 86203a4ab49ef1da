package membench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/unimem"
)

const (
	smallPage = 4 << 10 // the page of most machines; pages are touched one by one
	// Small sizes are written and read until so many bytes are, because reading a clock takes tens of nanoseconds.
	passBytes = 1 << 20
	// Memory of all turns in bytes, and their smallest and largest number.
	sampleBytes, minSamples, maxSamples = 256 << 20, 4, 200
)

// Figures are those of the specification of unimem for Apple silicon, for one size. They are the nanoseconds to open a
// surface, and the GB/s of writing and reading with volatile 64-bit accesses.
type Figures struct {
	Bytes             int
	Open, Write, Read float64
}

// Published has the figures of each size, from the smallest on.
func Published() []Figures {
	return []Figures{{4 << 10, 18e3, 22.8, 22.8}, {1 << 20, 15e3, 23.6, 23.5}, {16 << 20, 17e3, 23.6, 18.9},
		{256 << 20, 20e3, 23.1, 19.5}}
}

// Size has the best figures of a Block of one size.
type Size struct {
	Bytes      int    `json:"bytes"`
	Published  string `json:"published,omitempty"`
	Open       Figure `json:"open"`
	FirstTouch Figure `json:"first_touch"` // of 16 KiB
	Drop       Figure `json:"drop"`
	Write      Figure `json:"write"`
	Read       Figure `json:"read"`
}

// Figure is a time or a rate with its floor, and how many times longer than the floor the operation takes.
type Figure struct {
	Time      int64   `json:"measured_ns,omitempty"`
	Floor     int64   `json:"floor_ns,omitempty"`
	Rate      int64   `json:"bytes_per_s,omitempty"`
	FloorRate int64   `json:"floor_bytes_per_s,omitempty"`
	Ratio     float64 `json:"ratio"`
}

// Steps of a turn.
const (
	opened = iota
	touched
	written
	done
	dropped
)

// MeasureSize measures a Block of some bytes.
func MeasureSize(ctx context.Context, size int) (Size, error) {
	t, err := measure.Turns(ctx, min(max(sampleBytes/size, minSamples), maxSamples), steps(size, block),
		steps(size, mapping))
	if err != nil {
		return Size{}, err
	}
	took := func(step int, parts float64) Figure {
		value, floor := t[0].Best(step)/parts, t[1].Best(step)/parts
		return Figure{Time: int64(math.Round(value)), Floor: int64(math.Round(floor)), Ratio: value / floor}
	}
	rate := func(step int) Figure {
		bytes := 1e9 * float64(size*passes(size))
		value, floor := t[0].Best(step), t[1].Best(step)
		return Figure{Rate: int64(bytes / value), FloorRate: int64(bytes / floor), Ratio: value / floor}
	}
	published := ""
	for _, p := range Published() {
		if p.Bytes == size {
			published = fmt.Sprintf("%g us, %g, %g GB/s", p.Open/1e3, p.Write, p.Read)
		}
	}
	return Size{Bytes: size, Published: published, Open: took(opened, 1),
		FirstTouch: took(touched, math.Ceil(float64(size)/unimem.PageSize)), Drop: took(dropped, 1),
		Write: rate(written), Read: rate(done)}, nil
}

// passes is how often a size is written and read in a turn.
func passes(size int) int { return max(passBytes/size, 1) }

// steps opens memory, touches, writes, reads and drops it.
func steps(size int, open memory) measure.Side {
	return func(lap func()) error {
		mem, drop, err := open((size + unimem.PageSize - 1) &^ (unimem.PageSize - 1)) // as long as a Block
		if err != nil {
			return err
		}
		lap()
		for i := 0; i < len(mem); i += smallPage {
			mem[i] = 1
		}
		lap()
		words, err := unimem.View[uint64](mem[:size])
		for i := range passes(size) {
			write(words, uint64(i))
		}
		lap()
		var sum uint64
		for range passes(size) {
			sum += read(words)
		}
		runtime.KeepAlive(sum)
		lap()
		err = errors.Join(err, drop())
		lap()
		return err
	}
}

func write(words []uint64, v uint64) {
	for i := range words {
		words[i] = v + uint64(i)
	}
}

func read(words []uint64) uint64 {
	var sum uint64
	for i := range words {
		sum += words[i]
	}
	return sum
}
