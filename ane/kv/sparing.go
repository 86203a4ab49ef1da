package kv

import "github.com/anekit/anekit/internal/pages"

// Config.Sparing drops pages of a layer after an Append of sparingMany tokens, and of all layers after sparingFew
// tokens in smaller parts. To drop pages for each token, and take them again, costs more than it spares.
const sparingMany, sparingFew = 32, 64

// drop drops the pages of a span: the keys or values of a layer.
func (c *Cache) drop(span int) {
	if c.sparing {
		pages.Drop(c.memory.tensors[span].Block())
	}
}

// dropAll drops the pages of all layers if the cache has written any since it dropped them.
func (c *Cache) dropAll() {
	if c.undropped == 0 {
		return
	}
	for i := range c.memory.spans {
		c.drop(i)
	}
	c.undropped = 0
}
