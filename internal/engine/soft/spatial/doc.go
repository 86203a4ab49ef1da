// Package spatial computes operators over the spatial axes of images: convolutions with one input channel in a group,
// pools, means and resizing. Package kernels has it in its table. Its kernels are for AVX2 and halves by the rules of
// the reference. Where they do not fit, a constructor returns nil, and package kernels has the runner.
package spatial

import "github.com/anekit/anekit/internal/engine/soft/internal/simd"

// quick reports whether the machine has the kernels.
func quick() bool { return simd.Best() >= simd.AVX2 }
