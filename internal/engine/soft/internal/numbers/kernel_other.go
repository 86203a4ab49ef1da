//go:build !amd64

package numbers

import "github.com/anekit/anekit/ane/fp16"

func detect() bool { return false }

// The portable code is used, and so none of these is called.

func binaryAway(int, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, int) {}
func binaryEven(int, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, int) {}
func decodeVector(*float32, *fp16.Bits, int)                            {}
func encodeAway(*fp16.Bits, *float32, int)                              {}
func encodeEven(*fp16.Bits, *float32, int)                              {}
