package weightbench

import (
	"errors"
	"strconv"
	"time"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/unimem"
)

// Kept is a row of the third suite: a cache of keys and values that grows or is reserved.
type Kept struct {
	Mode     string  `json:"mode"`           // dynamic, or the tokens reserved
	First    Seconds `json:"first_ns"`       // from New until the first token is in the cache
	Prompt   float64 `json:"prompt_per_s"`   // tokens a second, of the paper's 34
	Generate float64 `json:"generate_per_s"` // tokens a second, one at a time
	Bytes    int     `json:"bytes"`          // of the cache at the end
	Delta    int     `json:"delta_bytes"`    // beyond dynamic
	Copied   int64   `json:"copied_bytes"`   // to new memory while it grew
	Steps    []Point `json:"steps"`          // memory over tokens, where it changes and every 64
}

// Point is the memory of a cache at a number of tokens.
type Point struct {
	Tokens int `json:"tokens"`
	Bytes  int `json:"bytes"`
}

// generated is the number of tokens after the prompt: enough that a growing cache grows several
// times.
const generated = 1200

// Reserve measures a cache of a model of 4B parameters: 36 layers of 8 heads of 128. reserved is
// the number of tokens, 0 for a cache that grows.
func Reserve(reserved int) (row Kept, err error) {
	c := kv.Config{Layers: 36, Heads: 8, HeadDim: 128, Context: reserved}
	row.Mode = strconv.Itoa(reserved)
	if reserved == 0 {
		c.Context, c.Grow, row.Mode = kv.Step, true, "dynamic"
	}
	token := make([]byte, promptTokens*c.Heads*c.HeadDim*2)
	one := token[:c.Heads*c.HeadDim*2]
	start := time.Now()
	cache, err := kv.New(c, unimem.Warm())
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	add := func(data []byte, n int) error {
		for l := range c.Layers {
			if err := cache.Append(l, data, data); err != nil {
				return err
			}
		}
		now := Point{cache.Len() + n, cache.Bytes()}
		if k := len(row.Steps); k == 0 || row.Steps[k-1].Bytes != now.Bytes || now.Tokens%64 == 0 {
			row.Steps = append(row.Steps, now)
		}
		return cache.Advance(n)
	}
	if err := add(one, 1); err != nil {
		return row, err
	}
	row.First = Seconds(time.Since(start).Seconds())
	start = time.Now()
	if err := add(token, promptTokens); err != nil {
		return row, err
	}
	row.Prompt = promptTokens / time.Since(start).Seconds()
	start = time.Now()
	for range generated {
		if err := add(one, 1); err != nil {
			return row, err
		}
	}
	row.Generate = generated / time.Since(start).Seconds()
	row.Bytes, row.Copied = cache.Bytes(), cache.Copied()
	return row, nil
}
