package weightbench

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// Kept is a row of the third suite: a cache of keys and values that grows or is reserved.
type Kept struct {
	Mode     string        `json:"mode"`           // dynamic, or the tokens reserved
	First    time.Duration `json:"first_ns"`       // from New until the first token is in the cache
	Prompt   float64       `json:"prompt_per_s"`   // tokens a second, of the paper's 34
	Generate float64       `json:"generate_per_s"` // tokens a second, one at a time
	Bytes    int           `json:"bytes"`          // of the cache at the end
	Delta    int           `json:"delta_bytes"`    // beyond the first row
	Copied   int64         `json:"copied_bytes"`   // to new memory while it grew
	Steps    []Point       `json:"steps"`          // memory over tokens, where it changes and every 64
}

// Point is the memory of a cache at a number of tokens.
type Point struct {
	Tokens int `json:"tokens"`
	Bytes  int `json:"bytes"`
}

// generated is the number of tokens after the prompt: enough that a growing cache grows several times.
const generated = 1200

// Reserve measures caches of a model of 4B parameters: 36 layers of 8 heads of 128. reserved has their tokens, 0 for a
// cache that grows.
func Reserve(ctx context.Context, reserved ...int) (all []Kept, err error) {
	pieces := append([]int{1, promptTokens}, slices.Repeat([]int{1}, generated)...)
	for _, tokens := range reserved {
		row := Kept{Mode: strconv.Itoa(tokens)}
		if tokens == 0 {
			row.Mode = "dynamic"
		}
		start := time.Now()
		err := fill(ctx, kv.Config{Layers: 36, Heads: 8, HeadDim: 128, Context: tokens}, pieces, func(cache *kv.Cache) {
			now := Point{cache.Len(), cache.Bytes()}
			if k := len(row.Steps); k == 0 || row.Steps[k-1].Bytes != now.Bytes || now.Tokens%64 == 0 {
				row.Steps = append(row.Steps, now)
			}
			row.Bytes, row.Copied = now.Bytes, cache.Copied()
			switch took := time.Since(start); now.Tokens {
			case 1:
				row.First, start = took, time.Now()
			case 1 + promptTokens:
				row.Prompt, start = promptTokens/took.Seconds(), time.Now()
			case 1 + promptTokens + generated:
				row.Generate = generated / took.Seconds()
			}
		}, unimem.Warm())
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
