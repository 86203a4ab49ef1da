package kv

import "fmt"

// Append writes the keys and values of one or more tokens of a layer after those that the layer has. k and v have
// tokens x Heads x HeadDim elements without padding, little endian. The tokens become part of the cache with Advance.
// Append allocates nothing, except when the cache moves to new memory.
//
// In a cache with a window, Append overwrites the oldest tokens, which are no longer part of the cache from then on.
// More tokens than Window may be appended at once; the last ones remain.
//
// Errors: ErrLayer, ErrSize (lengths that differ, are zero, or are not whole tokens), ErrFull, ErrClosed,
// ane.ErrStale, and those of unimem.Start when the cache moves. After an error the tokens are not appended.
func (c *Cache) Append(layer int, k, v []byte) error {
	if c.empty() || c.closed || c.memory.lent != nil {
		if err := c.usable("append"); err != nil {
			return err
		}
	}
	if layer < 0 || layer >= c.config.Layers {
		return newError("append", ErrLayer, fmt.Sprintf("layer %d of %d", layer, c.config.Layers), "")
	}
	n := len(k) / c.token
	if n == 0 || n*c.token != len(k) || len(k) != len(v) {
		return newError("append", ErrSize,
			fmt.Sprintf("%d bytes of keys, %d of values, %d for each token", len(k), len(v), c.token),
			"pass whole tokens, as many keys as values")
	}
	from := c.next + c.pending[layer]
	if c.shares != nil || !c.slides && from+n > c.memory.tokens {
		if err := c.room(from, from+n); err != nil {
			return err
		}
	}
	skip := 0
	if c.slides {
		skip = max(0, n-c.memory.tokens)
		c.first = max(c.first, from+n-c.memory.tokens)
	}
	c.write(c.memory.spans[2*layer], k, from, skip, n)
	c.write(c.memory.spans[2*layer+1], v, from, skip, n)
	c.pending[layer] += n
	if n >= sparingMany {
		c.drop(2 * layer)
		c.drop(2*layer + 1)
	} else {
		c.undropped = max(1, c.undropped)
	}
	return nil
}

// room makes the slots of positions [from, to) writable.
func (c *Cache) room(from, to int) error {
	tokens := c.memory.tokens
	if !c.slides && to > tokens {
		if !c.config.Grow {
			return newError("append", ErrFull, fmt.Sprintf("%d tokens, room for %d", to, tokens),
				"reserve a longer Context, or set Grow or Window")
		}
		tokens = inSteps(to)
	}
	if tokens == c.memory.tokens && !c.shared(from) {
		return nil
	}
	return c.move("append", tokens)
}

// write copies tokens skip to n of src to the slots of from+skip and after.
func (c *Cache) write(dst, src []byte, from, skip, n int) {
	plane, stride, row := c.memory.layout.PlaneStride, c.memory.layout.RowStride, c.row
	for t := skip; t < n; t++ {
		at := c.memory.slot(from+t) * stride
		token := src[t*c.token:][:c.token]
		for len(token) >= row {
			copy(dst[at:at+row], token[:row])
			token = token[row:]
			at += plane
		}
	}
}
