//go:build !amd64

package halves

import "github.com/anekit/anekit/ane/fp16"

// No kernel is wide, and so none of these is called.

func decodeVector(*float32, *fp16.Bits, int)                                                    {}
func encodeVector(*fp16.Bits, *float32, int, bool)                                              {}
func addToVector(int, *float64, *fp16.Bits, int, int, int)                                      {}
func spanVector(*fp16.Bits, int) (low, high int)                                                { return }
func spansVector(*int16, *int16, *fp16.Bits, int, int, int, bool)                               {}
func tileVector(*uint16, *uint16, *uint16, *uint16, int, int, bool)                             {}
func fence()                                                                                    {}
func expVector(*float32, *float64, *fp16.Bits, int, float64, *expConstants)                     {}
func normalize512(*fp16.Bits, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, *Scaled)            {}
func stretch512(*fp16.Bits, *fp16.Bits, *fp16.Bits, int, *Scaled)                               {}
func mulRowsVector(*float32, *float32, *fp16.Bits, int, int, int)                               {}
func mulFourVector(*float32, *float32, *fp16.Bits, int, int, int, int, int)                     {}
func dotsVector(*[dotRows]float32, *float32, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, int) {}
func copyRows(*byte, *byte, int, int, int, int)                                                 {}
func quickScale(*fp16.Bits, *float32, int, *[2]float32) (done int)                              { return }
func quickNormalize(*fp16.Bits, *fp16.Bits, *fp16.Bits, *fp16.Bits, int, int, int, *Scaled) (done int) {
	return
}
func finishRows(*half, *float32, *float32, int, int, int, float32, float32) (bad int) { return }
func softmaxStep(int, *softmaxing, *softmaxRow, int) (left int)                       { return }
func reachOf(*[2]float32, *float32, int)                                              {}
func topOf(*[4]float64, *float32, *float32, int, float64)                             {}
func weigh(int, *float32, *float32, int, *weighing) (left int)                        { return }
