//go:build !amd64 && !arm64

package halves

import "github.com/anekit/anekit/ane/fp16"

// The portable code is used, and so none of these is called.

func binaryVector(int, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, int)                    {}
func clampVector(*fp16.Bits, *fp16.Bits, int, int16, int16, fp16.Bits)                       {}
func absVector(*fp16.Bits, *fp16.Bits, int)                                                  {}
func sumVector(int, *float64, *fp16.Bits, int)                                               {}
func momentsVector(*Moments, *fp16.Bits, int, float64)                                       {}
func divideVector(*fp16.Bits, *float32, int, float64, float64, float32, float32)             {}
func normalizeVector(*fp16.Bits, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, int, *Scaled) {}
