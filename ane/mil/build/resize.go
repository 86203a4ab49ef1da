package build

import (
	"cmp"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// SamplingMode is a rule for the places in x of the elements of a larger or smaller image.
type SamplingMode string

// The sampling modes, for element i of m and an axis of n elements of x.
const (
	SampleDefault     SamplingMode = ops.SampleDefault     // i*n/m
	SampleStrictAlign SamplingMode = ops.SampleStrictAlign // i*(n-1)/(m-1), 0 for m = 1
	SampleAlign       SamplingMode = ops.SampleAlign       // the same, the middle for m = 1
	SampleUnalign     SamplingMode = ops.SampleUnalign     // (i+1/2)*n/m - 1/2
	SampleOffset      SamplingMode = ops.SampleOffset      // (i+1/2)*max(1, n-1)/m
)

// UpsampleNearestNeighbor repeats elements: the last two axes of x become longer by the factors, rounded down.
func (f *Func) UpsampleNearestNeighbor(x Value, height, width float64) Value {
	return f.plain("upsample_nearest_neighbor", x, factor(height), factor(width))
}

// factor is a scale factor, an integer if it is one.
func factor(factor float64) *mil.Value {
	if factor == math.Trunc(factor) && math.Abs(factor) <= 1<<20 {
		return mil.Int32Scalar(int(factor))
	}
	return mil.FP32Scalar(factor)
}

// UpsampleBilinear interpolates: the last two axes of x become longer by the factors, rounded down. mode is
// SampleStrictAlign, SampleUnalign or SampleDefault.
func (f *Func) UpsampleBilinear(x Value, height, width float64, mode SamplingMode) Value {
	c := f.call("upsample_bilinear", x, mil.FP32Scalar(height), mil.FP32Scalar(width), mode == SampleStrictAlign,
		mode == SampleUnalign)
	switch mode {
	case SampleStrictAlign, SampleUnalign, SampleDefault:
	default:
		c.fail("mode "+quote(string(mode)), "choose SampleStrictAlign, SampleUnalign or SampleDefault")
	}
	return c.one()
}

// ResizeBilinear gives the last two axes of x new lengths, and interpolates.
func (f *Func) ResizeBilinear(x Value, height, width int, mode SamplingMode) Value {
	return f.plain("resize_bilinear", x, height, width, string(mode))
}

// Resize gives the last axes of x the lengths of shape, up to three; 0 keeps a length. nearest takes the nearest
// element instead of interpolating.
func (f *Func) Resize(x Value, shape []int, mode SamplingMode, nearest bool) Value {
	interpolation := "LINEAR"
	if nearest {
		interpolation = "NEAREST_NEIGHBOR"
	}
	return f.plain("resize", x, shape, len(shape), interpolation, string(mode))
}

// Crop holds the settings of CropResize.
type Crop struct {
	Height, Width int // of the result
	// Order is that of the numbers of a box: CORNERS_HEIGHT_FIRST, the default, CORNERS_WIDTH_FIRST,
	// CENTER_SIZE_HEIGHT_FIRST or CENTER_SIZE_WIDTH_FIRST.
	Order      string
	Normalized bool         // boxes are from 0 to 1
	Scale      float64      // factor of the boxes; 0 means 1
	Mode       SamplingMode // within a box
	Pad        float64      // the value outside x
}

// BoxIndices are the numbers of the images that boxes belong to, by default 0, 1, ..
type BoxIndices Value

func (b BoxIndices) set(c *call) { c.put("box_indices", Value(b)) }

// CropResize cuts boxes [N, 4] out of x [B, C, H, W] and resizes them. The older form takes regions [N, 1, 4, 1, 1] of
// every image, or [N, 1, 5, 1, 1] that begin with the number of the image. Core ML ran it on the CPU of an M4.
func (f *Func) CropResize(x, boxes Value, settings Crop, options ...Optional) Value {
	var regions any
	if boxes.tensor().Rank() == 5 {
		regions, boxes = boxes, Value{}
	}
	return f.plain("crop_resize", x, regions, given(boxes), nil, settings.Height, settings.Width, settings.Normalized,
		mil.FP32Scalar(cmp.Or(settings.Scale, 1)), settings.Order, string(settings.Mode), settings.Pad, options)
}

// Sampler holds the settings of Affine and Resample.
type Sampler struct {
	Sampling    string  // bilinear, the default, or nearest
	Padding     string  // constant, the default, border, reflection or symmetric
	Value       float64 // of constant padding
	Coordinates string  // unnormalized, normalized_minus_one_to_one, the default, or normalized_zero_to_one
	Edges       bool    // the ends of normalized coordinates are edges of the outer elements, not centers
}

func (c *call) sampler(s Sampler) *call {
	return c.put("sampling_mode", cmp.Or(s.Sampling, "bilinear")).put("padding_mode", cmp.Or(s.Padding, "constant")).
		put("padding_value", s.Value).put("align_corners", !s.Edges).
		put("coordinates_mode", cmp.Or(s.Coordinates, "normalized_minus_one_to_one"))
}

// Affine moves the elements of x [B, C, H, W]: the result at (x, y) is x at (a0*x + a1*y + a2, b0*x + b1*y + b2), for
// matrix [a0, a1, a2, b0, b1, b2] of each image, or of all [1, 6].
func (f *Func) Affine(x, matrix Value, height, width int, s Sampler) Value {
	return f.call("affine", x, matrix, height, width).sampler(s).one()
}

// Resample takes the elements of x [B, C, H, W] at places (x, y): coordinates are [B, height, width, 2].
func (f *Func) Resample(x, coordinates Value, s Sampler) Value {
	return f.call("resample", x, coordinates).sampler(s).one()
}
