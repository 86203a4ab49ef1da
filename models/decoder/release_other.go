//go:build !linux || macrules

package decoder

import "github.com/anekit/anekit/unimem/safetensors"

// release does nothing: the system takes pages of a mapped file back when it needs memory.
func release(safetensors.Tensor) {}
