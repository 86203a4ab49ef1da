package models

// FineConvolution is conv-1x1 on multiples of 1/64 within 1: their products have
// 12 bits after the point, and sums of four need up to 14.
func FineConvolution() (Model, error) {
	return convolution("conv-1x1", "", 64, 32, 1, 1, 64, steps(1))
}
