//go:build !linux || macrules

package pages

import "github.com/anekit/anekit/unimem"

// Drop does nothing: an engine of another system has no second mapping of a Block.
func Drop(*unimem.Block) {}
