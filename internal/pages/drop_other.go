//go:build !linux || macrules

package pages

import "github.com/anekit/anekit/unimem"

// Drop does nothing: an engine of another system has no second mapping of a Block.
func Drop(*unimem.Block) {}

// Release does nothing: the system takes pages of a mapped file back when it needs memory.
func Release(b *unimem.Block, offset, n int) {}

// Populate does nothing: the system maps a page when it is read.
func Populate(b *unimem.Block, offset, n int) bool { return true }
