package decoderbench

import (
	"context"
	"slices"
	"strconv"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// Kept is the memory of a cache of keys and values that grows or is reserved.
type Kept struct {
	Mode   string  `json:"mode"`         // dynamic, or the tokens reserved
	Bytes  int     `json:"bytes"`        // of the cache at the end
	Delta  int     `json:"delta_bytes"`  // beyond the first row
	Copied int64   `json:"copied_bytes"` // to new memory while it grew
	Steps  []Point `json:"steps"`        // memory over tokens, where it changes and every 64
}

// Note notes the memory at a number of tokens.
func (k *Kept) Note(tokens, bytes int, copied int64) {
	if n := len(k.Steps); n == 0 || k.Steps[n-1].Bytes != bytes || tokens%64 == 0 {
		k.Steps = append(k.Steps, Point{tokens, bytes})
	}
	k.Bytes, k.Copied = bytes, copied
}

// Mode is the name of a cache that reserves some tokens, or grows.
func Mode(reserved int) string {
	if reserved == 0 {
		return "dynamic"
	}
	return strconv.Itoa(reserved)
}

// Point is the memory of a cache at a number of tokens.
type Point struct {
	Tokens int `json:"tokens"`
	Bytes  int `json:"bytes"`
}

// Reserve fills caches of a model of 4B parameters with 1,200 tokens: 36 layers of 8 heads of 128. reserved has their
// tokens, 0 for a cache that grows.
func Reserve(ctx context.Context, reserved ...int) (all []Kept, err error) {
	for _, tokens := range reserved {
		row := Kept{Mode: Mode(tokens)}
		err := fill(ctx, kv.Config{Layers: 36, Heads: 8, HeadDim: 128, Context: tokens}, slices.Repeat([]int{1}, 1200),
			func(cache *kv.Cache) { row.Note(cache.Len(), cache.Bytes(), cache.Copied()) }, unimem.Warm())
		if err != nil {
			return nil, err
		}
		all = append(all, row)
		all[len(all)-1].Delta = row.Bytes - all[0].Bytes
	}
	return all, nil
}

// fill appends pieces of some tokens to a cache, one that grows if c has no Context, and calls each after every piece.
func fill(ctx context.Context, c kv.Config, pieces []int, each func(*kv.Cache), opts ...unimem.Option) error {
	return step.Run(ctx, func(t *step.T) {
		if c.Context == 0 {
			c.Context, c.Grow = kv.Step, true
		}
		cache := step.Must(kv.New(c, opts...))
		t.Closing(cache.Close)
		size := 2 * c.Heads * c.HeadDim
		data := make([]byte, slices.Max(pieces)*size)
		for _, n := range pieces {
			for l := range c.Layers {
				step.NoError(cache.Append(l, data[:n*size], data[:n*size]))
			}
			step.NoError(cache.Advance(n))
			each(cache)
		}
		step.NoError(ctx.Err())
	})
}

// Resident is the memory of a cache with some tokens.
type Resident struct {
	Mode   string `json:"mode"` // reserved or grown
	Tokens int    `json:"tokens"`
	Bytes  int64  `json:"bytes"` // resident
	Copied int64  `json:"copied_bytes"`
}

// Fill fills a reserved cache and one that grows with 1024 tokens, and returns their memory on the way.
func Fill(ctx context.Context, layers, heads, headDim int) (all []Resident, err error) {
	for _, r := range []Resident{{Mode: "reserved", Tokens: 4096}, {Mode: "grown"}} {
		before, _ := procmem.Resident()
		c := kv.Config{Layers: layers, Heads: heads, HeadDim: headDim, Context: r.Tokens}
		err := fill(ctx, c, slices.Repeat([]int{1}, 1024), func(cache *kv.Cache) {
			if n := cache.Len(); n == 24 || n == 256 || n == 1024 {
				own, _ := procmem.Resident()
				all = append(all, Resident{r.Mode, n, max(0, own-before), cache.Copied()})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
