package ops

import (
	"math"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// resizes sample images between their elements. Attrs is a Resize, a Crop for
// crop_resize, a Sampler for affine and resample.
var resizes = []*Def{
	{Name: "upsample_nearest_neighbor", Cost: Moves, Params: scalable,
		infer: func(c *Call, x *Value) { c.resizes(c.scaled(x), Resize{Mode: SampleDefault, Nearest: true}) }},
	{Name: "upsample_bilinear", Params: slices.Concat(scalable, []*Param{boolean("align_corners").or(true).spelled(),
		boolean("half_pixel_centers").optional()}), infer: func(c *Call, x *Value) {
		align, half := c.boolean("align_corners"), c.boolean("half_pixel_centers")
		mode := SampleDefault
		switch {
		case align && half:
			c.refuse("half_pixel_centers", "set one of them to false", "align_corners is true too")
		case align:
			mode = SampleStrictAlign
		case half || c.Value("half_pixel_centers") == nil:
			mode = SampleUnalign
		}
		c.resizes(c.scaled(x), Resize{Mode: mode})
	}},
	{Name: "resize_nearest_neighbor", Cost: Moves, Params: []*Param{picture,
		integer(targets[0]), integer(targets[1])}, infer: func(c *Call, x *Value) {
		c.resizes(c.lengths(targets...), Resize{Mode: SampleDefault, Nearest: true})
	}, Doc: "gives the last two axes of x new lengths; each element is the one before its place in x"},
	{Name: "resize_bilinear", Params: []*Param{picture, integer(targets[0]).or(1), integer(targets[1]).or(1),
		sampling.or(SampleDefault)}, infer: func(c *Call, x *Value) {
		c.resizes(c.lengths(targets...), Resize{Mode: c.word("sampling_mode")})
	}},
	{Name: "resize", Since: 17, Params: []*Param{tensor("x"), integers("shape"), integer("resized_dims").of(mil.UInt32),
		word("interpolation_mode", "LINEAR", "NEAREST_NEIGHBOR").or("LINEAR"), sampling.or(SampleDefault)},
		infer: inferResize},
	{Name: "crop_resize", support: like(placed, "unfold with slices"), Params: []*Param{images,
		tensor("roi").optional(), tensor("boxes", coordinates...).optional(),
		tensor("box_indices", mil.Int32, mil.UInt16).optional(), integer("target_height").or(1),
		integer("target_width").or(1), boolean("normalized_coordinates").or(false), number("spatial_scale").or(1.0),
		word("box_coordinate_mode", "CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST",
			"CENTER_SIZE_WIDTH_FIRST").or("CORNERS_HEIGHT_FIRST"), sampling.or(SampleDefault),
		number("pad_value").or(0.0)}, infer: inferCropResize},
	{Name: "affine", infer: inferAffine, Params: slices.Concat([]*Param{images,
		tensor("transform_matrix"), integer("output_height"), integer("output_width")}, samplerParams)},
	{Name: "resample", infer: inferResample, Params: slices.Concat([]*Param{images,
		tensor("coordinates", coordinates...)}, samplerParams)},
}

// Parameters of several operators above.
var (
	picture = tensor("x", floats...).ranks(3, MaxRank, "give it as [.., C, H, W]", "shape %v")
	images  = tensor("x", floats...).ranks(4, 4, "give it as [B, C, H, W]", "shape %v")

	scales   = []string{"scale_factor_height", "scale_factor_width"}
	scalable = []*Param{picture, setting(scales[0], Element).or(1.0), setting(scales[1], Element).or(1.0)}
	targets  = []string{"target_size_height", "target_size_width"}

	sampling = word("sampling_mode", SampleDefault, SampleStrictAlign, SampleAlign, SampleUnalign, SampleOffset)

	samplerParams = []*Param{word("sampling_mode", "bilinear", "nearest"),
		word("padding_mode", "constant", "border", "reflection", "symmetric"), number("padding_value"),
		word("coordinates_mode", "unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one"),
		boolean("align_corners")}
)

// Sampling modes: the place in x of element i of m, for n elements of x, between 0 and n-1.
const (
	SampleDefault     = "DEFAULT"              // i*n/m
	SampleStrictAlign = "STRICT_ALIGN_CORNERS" // i*(n-1)/(m-1), 0 for m = 1
	SampleAlign       = "ALIGN_CORNERS"        // the same, the middle for m = 1
	SampleUnalign     = "UNALIGN_CORNERS"      // (i+1/2)*n/m - 1/2
	SampleOffset      = "OFFSET_CORNERS"       // (i+1/2)*max(1, n-1)/m
)

// Resize holds the settings of a change of size of the last three axes or fewer.
type Resize struct {
	Mode    string
	Axes    int  // the number of last axes that change; others stay, in every mode
	Nearest bool // take the nearest element, for SampleDefault the one before
}

// resizes finishes the rule of an operator that gives x the last axes of size.
func (c *Call) resizes(size []int, r Resize) {
	x := c.Value("x")
	shape := append(slices.Clone(x.Shape[:x.Rank()-len(size)]), size...)
	r.Axes = len(size)
	c.gives(r, x.DType, shape)
}

// scaled returns the height and width that the scale factors give x: floor(n * factor), in float32.
func (c *Call) scaled(x *Value) (size []int) {
	for i, name := range scales {
		factor, length := c.elements(name, Element, 1)[0], x.Shape[x.Rank()-2+i]
		n := float64(float32(length) * float32(factor))
		c.refuseIf(!(n >= 1 && n <= MaxElements), name, "give 1 to 2^31 elements",
			"%g gives the axis of %d a length of %g", factor, length, math.Floor(n))
		size = append(size, int(n))
	}
	return size
}

// lengths returns settings that are the lengths of axes.
func (c *Call) lengths(names ...string) (size []int) {
	for _, name := range names {
		n := c.integer(name)
		c.refuseIf(n < 1 || n > MaxElements, name, "give 1 to 2^31 elements", "%d is out of range", n)
		size = append(size, n)
	}
	return size
}

func inferResize(c *Call, x *Value) {
	shape, count := c.ints("shape", -1), c.integer("resized_dims")
	nearest := c.word("interpolation_mode") != "LINEAR"
	mode := c.word("sampling_mode")
	if nearest {
		c.needs("x", numerics...)
	} else {
		c.needs("x", floats...)
		c.fp32()
	}
	c.refuseIf(len(shape) > x.Rank(), "shape", "give at most one number for each axis", "%d numbers for x%v",
		len(shape), x.Shape)
	c.refuseIf(count < 0 || count > min(3, len(shape)), "resized_dims", "resize up to three axes, which shape lists",
		"%d of %d numbers", count, len(shape))
	out := slices.Clone(x.Shape)
	for i := range count {
		n := shape[len(shape)-count+i]
		c.refuseIf(n < 0 || n > MaxElements, "shape", "give 1 to 2^31 elements, or 0 for those of x",
			"%d is out of range", n)
		if n > 0 {
			out[len(out)-count+i] = n
		}
	}
	c.gives(Resize{Mode: mode, Axes: count, Nearest: nearest}, x.DType, out)
}

// Crop holds the settings of crop_resize. The result is [N, C, H, W] for boxes [N, 4], and
// [N, B, C, H, W] for regions of interest.
type Crop struct {
	Normalized bool
	Scale      float64
	Center     bool // boxes are center and size, not two corners
	WidthFirst bool
	Mode       string
	Pad        float64 // the value outside x
	Indexed    bool    // the first of five numbers of a region is the index of the image
	EveryImage bool    // each region is cut out of every image
}

// Types of coordinates.
var coordinates = []mil.DType{mil.FP16, mil.FP32, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32}

func inferCropResize(c *Call, x *Value) {
	roi, boxes, indices := c.Value("roi"), c.Value("boxes"), c.Value("box_indices")
	c.refuseIf((roi == nil) == (boxes == nil), "", "give one of roi and boxes",
		"roi and boxes are both given or both missing")
	order := c.word("box_coordinate_mode")
	a := Crop{Normalized: c.boolean("normalized_coordinates"), Scale: c.number("spatial_scale"),
		Center: strings.HasPrefix(order, "CENTER"), WidthFirst: strings.HasSuffix(order, "WIDTH_FIRST"),
		Mode: c.word("sampling_mode"), Pad: c.number("pad_value")}
	size := c.lengths("target_height", "target_width")
	if roi != nil {
		s := roi.Shape
		c.refuseIf(len(s) != 5 || s[1] != 1 || s[2] != 4 && s[2] != 5 || s[3] != 1 || s[4] != 1, "roi",
			"give it as [N, 1, 4, 1, 1], or [N, 1, 5, 1, 1] with the index of the image", "shape %v", s)
		c.refuseIf(indices != nil, "box_indices", "remove it, or give boxes",
			"regions of interest have indexes of their own")
		a.Indexed, a.EveryImage = s[2] == 5, s[2] == 4
		images := 1
		if a.EveryImage {
			images = x.Shape[0]
		}
		c.gives(&a, x.DType, append([]int{s[0], images, x.Shape[1]}, size...))
		return
	}
	if s := boxes.Shape; len(s) != 2 || s[1] != 4 {
		c.refuse("boxes", "give it as [N, 4]", "shape %v", s)
	}
	c.refuseIf(a.Normalized && !boxes.DType.Float(), "boxes", "give fp16 or fp32", "normalized coordinates of type %s",
		boxes.DType)
	c.refuseIf(indices == nil && boxes.Shape[0] > x.Shape[0], "boxes", "give box_indices", "%d boxes for %d images",
		boxes.Shape[0], x.Shape[0])
	c.shaped("box_indices", boxes.Shape[:1], "give one for each box", "shape %v for %d boxes", boxes.Shape[0])
	if indices != nil && indices.Data != nil {
		list := indices.Floats()
		c.refuseIf(slices.Max(list) >= float64(x.Shape[0]) || slices.Min(list) < 0, "box_indices",
			"give indexes of images", "not all are from 0 to %d", x.Shape[0]-1)
	}
	c.gives(&a, x.DType, append([]int{boxes.Shape[0], x.Shape[1]}, size...))
}

// Sampler holds the settings of affine and resample.
type Sampler struct {
	Nearest    bool
	Padding    string // constant, border, reflection or symmetric
	Value      float64
	Normalized bool    // coordinates are from Low to 1, not from 0 to n-1
	Low        float64 // 0 or -1
	Align      bool    // their ends are the centers of the outer elements, not the edges
}

// sampler returns the settings that affine and resample share.
func (c *Call) sampler() Sampler {
	a := Sampler{Nearest: c.word("sampling_mode") == "nearest", Padding: c.word("padding_mode"),
		Value: c.number("padding_value"), Align: c.boolean("align_corners")}
	switch c.word("coordinates_mode") {
	case "normalized_minus_one_to_one":
		a.Normalized, a.Low = true, -1
	case "normalized_zero_to_one":
		a.Normalized = true
	}
	return a
}

func inferAffine(c *Call, x *Value) {
	m := c.Value("transform_matrix")
	a, size := c.sampler(), c.lengths("output_height", "output_width")
	c.refuseIf(m.Rank() != 2 || m.Shape[0] != 1 && m.Shape[0] != x.Shape[0] || m.Shape[1] != 6, "transform_matrix",
		"give [a0, a1, a2, b0, b1, b2] once or for each image", "shape %v for x%v", m.Shape, x.Shape)
	if a.Nearest || a.Padding != "constant" || a.Value != 0 || !a.Normalized || a.Low != -1 || !a.Align {
		c.note("coremltools refuses all but bilinear, constant 0, normalized_minus_one_to_one and align_corners for " +
			"affine")
	}
	c.gives(a, x.DType, append(slices.Clone(x.Shape[:2]), size...))
}

func inferResample(c *Call, x *Value) {
	at := c.Value("coordinates")
	a := c.sampler()
	c.refuseIf(at.Rank() != 4 || at.Shape[0] != x.Shape[0] || at.Shape[3] != 2, "coordinates",
		"give (x, y) for each place of the result, [B, H, W, 2]", "shape %v for x%v", at.Shape, x.Shape)
	c.gives(a, x.DType, []int{x.Shape[0], x.Shape[1], at.Shape[1], at.Shape[2]})
}
