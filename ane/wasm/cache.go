package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// cache is a cache of a guest.
type cache struct {
	*kv.Cache
	bytes int
}

// cacheOpen makes a cache within the limits.
func cacheOpen(_ context.Context, g *Guest, p []uint64) (int, error) {
	layers, heads, dim, tokens := int(p[0]), int(p[1]), int(p[2]), int(p[3])
	// Keys and values of a layer are surfaces of their own, of whole pages.
	surface := 2 * float64(heads) * float64(dim) * (float64(tokens) + kv.Step)
	bytes := 2 * float64(layers) * max(surface, unimem.PageSize)
	if bytes > float64(g.limits.Caches-g.caches) {
		return 0, fmt.Errorf("%w: %.0f bytes, %d are left", CodeLimit, bytes, g.limits.Caches-g.caches)
	}
	made, err := kv.New(kv.Config{Layers: layers, Heads: heads, HeadDim: dim, Context: tokens, DType: mil.FP16})
	if err != nil {
		return 0, err
	}
	c := &cache{made, max(made.Bytes(), 2*layers*unimem.PageSize)}
	handle, err := g.add(c)
	if err != nil {
		return 0, errors.Join(err, made.Close())
	}
	g.caches += c.bytes
	return handle, nil
}

func cacheAppend(_ context.Context, g *Guest, c *cache, p []uint64) (int, error) {
	config := c.Config()
	// At most 2^32 times 2^32 bytes: Limits.Caches keeps heads times dim below the second number.
	size := p[4] * uint64(config.Heads) * uint64(config.HeadDim) * uint64(config.DType.Size())
	k, err := g.memory.Range(p[2], size)
	if err != nil {
		return 0, err
	}
	v, err := g.memory.Range(p[3], size)
	if err != nil {
		return 0, err
	}
	if err := c.Append(int(int32(p[1])), k, v); err != nil {
		return 0, err
	}
	g.AddCopied(int64(len(k) + len(v)))
	return 0, nil
}

func cacheClose(_ context.Context, g *Guest, c *cache, p []uint64) (int, error) {
	if err := c.Close(); err != nil {
		return 0, fmt.Errorf("%w; close its requests first", err)
	}
	g.caches -= c.bytes
	delete(g.objects, int32(p[0]))
	return 0, nil
}

// bindCache is the function that binds a cache's keys or values of a layer to an input.
func bindCache(side func(*kv.Cache, int) *ane.Tensor) func(context.Context, *Guest, *request, []uint64) (int, error) {
	return func(_ context.Context, g *Guest, r *request, p []uint64) (int, error) {
		name, err := g.name(p[1], p[2])
		if err != nil {
			return 0, err
		}
		c, ok := g.objects[int32(p[3])].(*cache)
		if !ok {
			return 0, fmt.Errorf("%w: %d is not a cache", CodeHandle, int32(p[3]))
		}
		_, input, err := r.port(name)
		switch {
		case err != nil:
			return 0, err
		case !input:
			return 0, fmt.Errorf("%w: %s is an output", CodeMismatch, name)
		}
		t := side(c.Cache, int(int32(p[4])))
		if t == nil {
			return 0, fmt.Errorf("%w: layer %d of %d", CodeArgument, int32(p[4]), c.Config().Layers)
		}
		return 0, r.set(name, &binding{tensor: t, input: true})
	}
}
