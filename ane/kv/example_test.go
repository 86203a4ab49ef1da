package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A pass appends the keys and values of its tokens to each layer; Advance ends it.
func Example() {
	cache, err := kv.New(kv.Config{Layers: 2, Heads: 8, HeadDim: 128, Context: 1000}, unimem.Warm())
	check(err)
	defer cache.Close()
	token := make([]byte, 8*128*2) // fp16
	for layer := range 2 {
		check(cache.Append(layer, token, token))
	}
	check(cache.Advance(1))
	fmt.Println(cache.Len(), "of", cache.Cap(), "tokens")
	fmt.Println(cache.Keys(1).Layout())
	// Output:
	// 1 of 1024 tokens
	// keys fp16[1 8 1024 128] row 256 plane 262144 batch 2097152
}

// ten is a cache of ten tokens.
func ten() *kv.Cache {
	cache, err := kv.New(kv.Config{Layers: 1, Heads: 1, HeadDim: 32, Context: 100})
	check(err)
	prompt := make([]byte, 10*32*2)
	check(cache.Append(0, prompt, prompt))
	check(cache.Advance(10))
	return cache
}

// Two answers continue one prompt.
func ExampleCache_Fork() {
	prompt := ten()
	defer prompt.Close()
	answer, err := prompt.Fork()
	check(err)
	defer answer.Close()
	token := make([]byte, 32*2)
	check(answer.Append(0, token, token))
	check(answer.Advance(1))
	fmt.Println(prompt.Len(), answer.Len())
	// Output: 10 11
}

// A snapshot goes through any stream. A restore of another model's changes nothing.
func ExampleCache_Restore() {
	cache := ten()
	defer cache.Close()
	print := kv.Fingerprint{Model: "tiny", Weights: "3f2a", Tokenizer: "bytes"}
	var stream bytes.Buffer
	check(cache.Save(&stream, print))

	other, err := kv.New(cache.Config())
	check(err)
	defer other.Close()
	text := stream.Bytes()
	err = other.Restore(bytes.NewReader(text), kv.Fingerprint{Model: "tiny", Weights: "0000", Tokenizer: "bytes"})
	fmt.Println(errors.Is(err, kv.ErrFingerprint), other.Len())
	fmt.Println(other.Restore(bytes.NewReader(text), print), other.Len())
	// Output:
	// true 0
	// <nil> 10
}

// The weights of a quantized model are packed integers: their scales have the type to compute in.
func ExampleDTypeFor() {
	fmt.Println(kv.DTypeFor(mil.FP16, mil.UInt32), kv.DTypeFor(mil.NoType, mil.FP32))
	// Output: fp16 fp32
}
