package soft

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// sampler computes elements of images [.., C, H, W] from places in x [B, C, H, W].
type sampler struct {
	grid     grid
	settings ops.Sampler
	channels int
	in, out  [2]int // height and width
	dtype    mil.DType
}

// grid finds places in x for the elements of image number image of the result: the image of x
// and the place (x, y) there. ok is false outside x, where the result is the padding value.
type grid interface {
	at(c *call, spare []float32, image, oh, ow int) (from int, x, y float64, ok bool)
}

func newSampler(s *step, g grid, a ops.Sampler) (runner, int) {
	in, out := s.in[0].shape, s.out[0].shape
	n := len(out)
	return &sampler{grid: g, settings: a, channels: in[1], in: [2]int{in[2], in[3]}, out: [2]int{out[n-2], out[n-1]},
		dtype: s.out[0].dtype}, out[n-1] + 8
}

func (r *sampler) run(c *call) { c.spread(c.out[0].len()/r.out[1], 32*r.out[1]) }

// span computes lines lo to hi of the result.
func (r *sampler) span(c *call, lo, hi, worker int) {
	line, spare := c.work[worker][:r.out[1]], c.work[worker][r.out[1]:]
	for i := lo; i < hi; i++ {
		plane, oh := i/r.out[0], i%r.out[0]
		for ow := range line {
			if ow%chunk == 0 && c.pause(worker) {
				return
			}
			f := r.settings.Value
			if from, x, y, ok := r.grid.at(c, spare, plane/r.channels, oh, ow); ok {
				f = r.sample(c, spare, from*r.channels+plane%r.channels, x, y)
			}
			line[ow] = narrow(r.dtype, f)
		}
		c.out[0].store(line, i*r.out[1])
	}
}

// sample interpolates at a place of a plane of x.
func (r *sampler) sample(c *call, spare []float32, plane int, x, y float64) float64 {
	if r.settings.Nearest {
		return r.element(c, spare, plane, math.RoundToEven(x), math.RoundToEven(y))
	}
	left, top := math.Floor(x), math.Floor(y)
	f := r.row(c, spare, plane, left, x-left, top)
	if part := y - top; part > 0 {
		f = mix(part, f, r.row(c, spare, plane, left, x-left, top+1))
	}
	return f
}

// row interpolates between two elements of a line.
func (r *sampler) row(c *call, spare []float32, plane int, left, part, y float64) float64 {
	f := r.element(c, spare, plane, left, y)
	if part > 0 {
		f = mix(part, f, r.element(c, spare, plane, left+1, y))
	}
	return f
}

// element returns an element of a plane, or of the padding around it.
func (r *sampler) element(c *call, spare []float32, plane int, x, y float64) float64 {
	col, inX := r.inside(x, r.in[1])
	row, inY := r.inside(y, r.in[0])
	if !inX || !inY {
		return r.settings.Value
	}
	c.in[0].load(spare[:1], (plane*r.in[0]+row)*r.in[1]+col)
	return float64(spare[0])
}

// inside returns the element of n that stands at the whole number p, which may lie in the
// padding; false for padding of a constant. NaN is padding, or the first element.
func (r *sampler) inside(p float64, n int) (int, bool) {
	last := float64(n - 1)
	if p >= 0 && p <= last {
		return int(p), true
	}
	switch r.settings.Padding {
	case "border":
		p = min(max(p, 0), last)
	case "reflection":
		p = math.Abs(math.Mod(p, 2*last))
		if p > last {
			p = 2*last - p
		}
	case "symmetric":
		if p < 0 {
			p = -1 - p
		}
		p = math.Mod(p, 2*last+2)
		if p > last {
			p = 2*last + 1 - p
		}
	default:
		return 0, false
	}
	if !(p >= 0 && p <= last) {
		return 0, true
	}
	return int(p), true
}

// coordinateScale converts between coordinates of a Sampler and elements of an axis.
type coordinateScale struct{ ops.Sampler }

// element returns the place among n elements of a coordinate.
func (s coordinateScale) element(at float64, n int) float64 {
	if !s.Normalized {
		return at
	}
	part := (at - s.Low) / (1 - s.Low)
	if s.Align {
		return part * float64(n-1)
	}
	return float64(part*float64(n)) - 0.5
}

// coordinate is the coordinate of element i of n. That of a single one is the middle.
func (s coordinateScale) coordinate(i, n int) float64 {
	switch {
	case !s.Normalized:
		return float64(i)
	case !s.Align:
		return s.Low + (1-s.Low)*(float64(i)+0.5)/float64(n)
	case n == 1:
		return s.Low + (1-s.Low)/2
	}
	return s.Low + (1-s.Low)*float64(i)/float64(n-1)
}

// affineTransform samples x at places that a matrix computes from those of the result.
func affineTransform(s *step) (runner, int) {
	a, in, out := s.attrs.(ops.Sampler), s.in[0].shape, s.out[0].shape
	return newSampler(s, &affineGrid{coordinateScale{a}, in[2:], out[2:], s.in[1].shape[0] > 1}, a)
}

type affineGrid struct {
	scale   coordinateScale
	in, out []int
	each    bool // every image has a matrix of its own
}

func (g *affineGrid) at(c *call, spare []float32, image, oh, ow int) (int, float64, float64, bool) {
	m := spare[:6]
	if g.each {
		c.in[1].load(m, 6*image)
	} else {
		c.in[1].load(m, 0)
	}
	x, y := g.scale.coordinate(ow, g.out[1]), g.scale.coordinate(oh, g.out[0])
	return image, g.scale.element(float64(float64(m[0])*x)+float64(float64(m[1])*y)+float64(m[2]), g.in[1]),
		g.scale.element(float64(float64(m[3])*x)+float64(float64(m[4])*y)+float64(m[5]), g.in[0]), true
}

// resample samples x at given places.
func resample(s *step) (runner, int) {
	a, in, out := s.attrs.(ops.Sampler), s.in[0].shape, s.out[0].shape
	return newSampler(s, &givenGrid{coordinateScale{a}, in[2:], out[2:]}, a)
}

type givenGrid struct {
	scale   coordinateScale
	in, out []int
}

func (g *givenGrid) at(c *call, spare []float32, image, oh, ow int) (int, float64, float64, bool) {
	i := 2 * ((image*g.out[0]+oh)*g.out[1] + ow)
	return image, g.scale.element(c.in[1].value(i), g.in[1]),
		g.scale.element(c.in[1].value(i+1), g.in[0]), true
}

// cropResize samples boxes of x. Places outside x have the padding value.
func cropResize(s *step) (runner, int) {
	a, in, out := s.attrs.(*ops.Crop), s.in[0].shape, s.out[0].shape
	g := &boxGrid{Crop: *a, images: in[0], in: in[2:], out: out[len(out)-2:], boxes: 2, stride: 4,
		indexes: s.in[3].where != absent}
	if s.in[1].where != absent {
		g.boxes, g.stride = 1, s.in[1].shape[2]
	}
	return newSampler(s, g, ops.Sampler{Padding: "border", Value: a.Pad})
}

type boxGrid struct {
	ops.Crop
	images  int
	in, out []int
	boxes   int // index of the operand
	stride  int // numbers of a box
	indexes bool
}

func (g *boxGrid) at(c *call, spare []float32, image, oh, ow int) (int, float64, float64, bool) {
	box, from := image, float64(image)
	if g.EveryImage {
		box, from = image/g.images, float64(image%g.images)
	}
	at := box * g.stride
	switch {
	case g.Indexed:
		from = c.in[1].value(at)
		at++
	case g.indexes:
		from = c.in[3].value(box)
	}
	if from = math.RoundToEven(from); !(from >= 0 && from < float64(g.images)) {
		return 0, 0, 0, false
	}
	y, okY := g.along(c, spare, at, 0, oh)
	x, okX := g.along(c, spare, at, 1, ow)
	return int(from), x, y, okX && okY
}

// along returns the place in x of element i of a box along an axis, 0 for height. The box
// begins at number at of its operand. ok is false outside x.
func (g *boxGrid) along(c *call, spare []float32, at, axis, i int) (p float64, ok bool) {
	k := axis
	if g.WidthFirst {
		k = 1 - axis
	}
	boxes := &c.in[g.boxes]
	start, end := boxes.value(at+k), boxes.value(at+2+k)
	if g.Center {
		start, end = start-end/2, start+end/2
	}
	last := float64(g.in[axis] - 1)
	if g.Normalized {
		start, end = start*last, end*last
	}
	start, end = start*g.Scale, end*g.Scale
	p = start + sampleAt(g.Mode, i, end-start+1, g.out[axis])
	const slack = 1e-6 // rounding moves a place beyond the last element
	if p > -slack && p < last+slack {
		p = min(max(p, 0), last)
	}
	return p, p >= 0 && p <= last
}
