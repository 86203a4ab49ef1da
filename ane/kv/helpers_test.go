package kv

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// small is a cache of three layers whose rows fill their stride.
var small = Config{Layers: 3, Heads: 2, HeadDim: 32, Context: 256, DType: mil.FP16}

// padded is one whose rows are shorter than their stride.
var padded = Config{Layers: 2, Heads: 3, HeadDim: 5, Context: 256, DType: mil.FP16}

var print1 = Fingerprint{Model: "m", Weights: "w", Adapters: "a", Tokenizer: "t", Numerics: "n", Engine: "e", OS: "o"}

// made makes a cache that the test closes at its end.
func made(t testing.TB, c Config, opts ...unimem.Option) *Cache {
	t.Helper()
	k, err := New(c, opts...)
	require.NoError(t, err)
	closeAtEnd(t, k)
	return k
}

func closeAtEnd(t testing.TB, c *Cache) {
	t.Cleanup(func() { require.NoError(t, c.Close()) })
}

// token is the packed bytes of the keys (side 0) or values of the token at position p: different for every token,
// layer and side, and never zero.
func token(c *Cache, layer, side, p int) []byte {
	b := make([]byte, c.token)
	r := rand.New(rand.NewPCG(uint64(layer*2+side), uint64(p)))
	for i := range b {
		b[i] = byte(1 + r.IntN(255))
	}
	return b
}

// block is the tokens [from, to) of a layer and side, packed.
func block(c *Cache, layer, side, from, to int) (all []byte) {
	for p := from; p < to; p++ {
		all = append(all, token(c, layer, side, p)...)
	}
	return all
}

// add appends n tokens to every layer and advances.
func add(t testing.TB, c *Cache, n int) {
	t.Helper()
	from := c.Position()
	for layer := range c.config.Layers {
		require.NoError(t, c.Append(layer, block(c, layer, 0, from, from+n), block(c, layer, 1, from, from+n)))
	}
	require.NoError(t, c.Advance(n))
}

// at reads the token at position p out of the tensors, packed, through their own addressing.
func at(t rapid.TB, c *Cache, layer, side, p int) (b []byte) {
	t.Helper()
	x := [2]func(int) interface{ Row(int) ([]byte, error) }{
		func(l int) interface{ Row(int) ([]byte, error) } { return c.Keys(l) },
		func(l int) interface{ Row(int) ([]byte, error) } { return c.Values(l) },
	}[side](layer)
	for h := range c.config.Heads {
		row, err := x.Row(h*c.Cap() + c.memory.slot(p))
		require.NoError(t, err)
		b = append(b, row...)
	}
	return b
}

// holds checks that the cache has the tokens [from, to) as token makes them.
func holds(t testing.TB, c *Cache, from, to int) {
	t.Helper()
	require.Equal(t, to-from, c.Len())
	require.Equal(t, to, c.Position())
	for layer := range c.config.Layers {
		for side := range 2 {
			for p := from; p < to; p++ {
				if want := token(c, layer, side, p); !bytes.Equal(want, at(t, c, layer, side, p)) {
					require.Equal(t, want, at(t, c, layer, side, p), "layer %d side %d position %d", layer, side, p)
				}
			}
		}
	}
}

// image is everything of a cache that a failed call must leave: numbers and every byte of its surfaces.
func image(c *Cache) (b []byte) {
	for _, n := range append([]int{c.first, c.next, c.Cap(), c.memory.tokens}, c.pending...) {
		b = append(b, byte(n), byte(n>>8))
	}
	for _, s := range c.memory.spans {
		b = append(b, s...)
	}
	return b
}

// saved is the bytes of Save.
func saved(t rapid.TB, c *Cache, f Fingerprint) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.Save(&b, f))
	return b.Bytes()
}

// typed checks that an error is of this package.
func typed(t testing.TB, err error) {
	t.Helper()
	var e *Error
	require.True(t, errors.As(err, &e), "%v", err)
}

// resum gives a header the checksum of its text.
func resum(head []byte) []byte {
	head = bytes.Clone(head)
	copy(head[8+len(opening):], "0000000000000000")
	copy(head[8+len(opening):], fmt.Sprintf("%016x", xxh3.Hash(head)))
	return head
}
