//go:build !amd64

package halves

import "github.com/anekit/anekit/ane/fp16"

const avx2, avx512 = "avx2", "avx512" // of amd64

// No kernel is wide, and so none of these is called.

func addToVector(int, *float64, *fp16.Bits, int, int, int)                           {}
func spanVector(*Span, *fp16.Bits, int)                                              {}
func tileHalves(*uint16, *uint16, *uint16, *uint16, int, int, int)                   {}
func exp512(*float32, *float64, *fp16.Bits, int, float64, *expConstants)             {}
func divide512(*fp16.Bits, *float32, int, float64, float64, float32, float32)        {}
func moments512(*Moments, *fp16.Bits, int, float64)                                  {}
func stretch512(*fp16.Bits, *fp16.Bits, *fp16.Bits, int, *Scaled)                    {}
func normalize512(*fp16.Bits, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, *Scaled) {}
func mulRowsVector(*float32, *float32, *fp16.Bits, int, int, int)                    {}
func dots(*[dotRows]float32, *float32, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int) {}

func fence()                                                          {}
func mulFour(*float32, *float32, *fp16.Bits, int, int, int, int, int) {}

func spansVector(int, *int16, *int16, *fp16.Bits, int, int, int) {}

func copyRows(*byte, *byte, int, int, int, int) {}

func exp256(*float32, *float64, *fp16.Bits, int, float64, *expConstants) {}
