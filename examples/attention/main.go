// Command attention runs one step of attention for each token. The cache of keys and values is
// bound once, each token writes one row into it, and the engine reads it in place.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

const heads, length, dim = 2, 64, 32 // the cache has room for 64 tokens

func main() {
	ctx := context.Background()
	b := build.New()
	f := b.Func("main")
	keys := f.Input("keys", build.FP16, 1, heads, length, dim)
	mask := f.Input("mask", build.FP16, 1, 1, 1, length) // 0 for an existing token, -10000 otherwise
	query := f.Input("query", build.FP16, 1, heads, 1, dim)
	values := f.Input("values", build.FP16, 1, heads, length, dim)
	scores := f.Mul(f.Matmul(query, keys, build.TransposeY(true)), f.Scalar(1/math.Sqrt(dim)))
	f.Output("y", f.Matmul(f.Softmax(f.Add(scores, mask), -1), values))
	p := ane.Must(b.Program())
	device := ane.Must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: p}))
	defer model.Close(ctx)
	r := ane.Must(model.NewRequest(ctx)) // binds the cache once
	defer r.Close()
	seen := slices.Repeat([]float32{-10000}, length)
	cacheK, cacheV := r.Input("keys"), r.Input("values")
	worst, written := 0.0, 0
	for t := range length {
		written += ane.Must(r.Input("query").WriteFloat32(features(0, t)))
		// A slice is a view of the cache: row t of every head.
		written += ane.Must(ane.Must(cacheK.Slice(2, t, t+1)).WriteFloat32(features(1, t)))
		written += ane.Must(ane.Must(cacheV.Slice(2, t, t+1)).WriteFloat32(features(2, t)))
		seen[t] = 0
		written += ane.Must(r.Input("mask").WriteFloat32(seen))
		ane.Must(r.Evaluate(ctx))
		worst = max(worst, off(ane.Must(r.Output("y").Float32s()), t))
	}
	cache := len(cacheK.Bytes()) + len(cacheV.Bytes())
	fmt.Printf("%d tokens: %d bytes written for each; the cache of %d bytes stayed in place\n", length, written/length,
		cache)
	if worst > 0.01 {
		log.Fatalf("wrong: off by %v", worst)
	}
	fmt.Println("every result is within 0.01 of the definition")
}

// features are query (kind 0), key (1) or value (2) of token t, numbers that fp16 holds.
func features(kind, t int) []float32 {
	all := make([]float32, heads*dim)
	for i := range all {
		all[i] = float32((kind*37+t*29+i*(11+t%5))%129-64) / 64
	}
	return all
}

// off returns the largest difference between got and the definition of attention.
func off(got []float32, t int) (worst float64) {
	query := features(0, t)
	for i, y := range got {
		head := i / dim * dim // first feature of the head
		var sum, want float64
		for past := range t + 1 {
			key, dot := features(1, past), 0.0
			for d := head; d < head+dim; d++ {
				dot += float64(query[d]) * float64(key[d])
			}
			sum += math.Exp(dot / math.Sqrt(dim))
			want += math.Exp(dot/math.Sqrt(dim)) * float64(features(2, past)[i])
		}
		worst = max(worst, math.Abs(want/sum-float64(y)))
	}
	return worst
}
