package kernels

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/engine/soft/spatial"
	"github.com/anekit/anekit/internal/ops"
)

// sampler computes elements of images [.., C, H, W] from places in x [B, C, H, W].
type sampler struct {
	ops.Sampler
	in [2]int // height and width
}

// grid finds places in x for the elements of image number image of the result: the image of x
// and the place (x, y) there. ok is false outside x, where the result is the padding value.
type grid func(c *run.Call, image, oh, ow int) (from int, x, y float64, ok bool)

// newSampler returns a runner whose items are the lines of the result.
func newSampler(s *Step, g grid, a ops.Sampler) (run.Runner, int) {
	in, n := s.In[0].Shape, len(s.Out[0].Shape)
	r := &sampler{a, [2]int{in[2], in[3]}}
	channels, high, wide, d := in[1], s.Out[0].Shape[n-2], s.Out[0].Shape[n-1], s.Out[0].DType
	return newLoop(s.Out[0].len()/wide, 32*wide, s.Out[0].len()/wide, func(c *run.Call, lo, hi, worker int) {
		line := c.Work[worker][:wide]
		for i := lo; i < hi; i++ {
			plane := i / high
			for ow := range line {
				if ow%run.Chunk == 0 && c.Pause(worker) {
					return
				}
				f := a.Value
				if from, x, y, ok := g(c, plane/channels, i%high, ow); ok {
					f = r.sample(&c.In[0], from*channels+plane%channels, x, y)
				}
				line[ow] = narrow(d, f)
			}
			c.Out[0].Store(line, i*wide)
		}
	}), wide
}

// sample interpolates at a place of a plane of x.
func (r *sampler) sample(v *run.Vec, plane int, x, y float64) float64 {
	if r.Nearest {
		return r.element(v, plane, math.RoundToEven(x), math.RoundToEven(y))
	}
	left, top := math.Floor(x), math.Floor(y)
	f := r.between(v, plane, left, x-left, top)
	if part := y - top; part > 0 {
		f = spatial.Mix(part, f, r.between(v, plane, left, x-left, top+1))
	}
	return f
}

// between interpolates between two elements of a line.
func (r *sampler) between(v *run.Vec, plane int, left, part, y float64) float64 {
	f := r.element(v, plane, left, y)
	if part > 0 {
		f = spatial.Mix(part, f, r.element(v, plane, left+1, y))
	}
	return f
}

// element returns an element of a plane, or of the padding around it.
func (r *sampler) element(v *run.Vec, plane int, x, y float64) float64 {
	col, inX := r.inside(x, r.in[1])
	row, inY := r.inside(y, r.in[0])
	if !inX || !inY {
		return r.Value
	}
	return v.Value((plane*r.in[0]+row)*r.in[1] + col)
}

// inside returns the element of n that stands at the whole number p, which may lie in the
// padding; false for padding of a constant. NaN is padding, or the first element.
func (r *sampler) inside(p float64, n int) (int, bool) {
	last := float64(n - 1)
	if p >= 0 && p <= last {
		return int(p), true
	}
	switch r.Padding {
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

// placeOf returns the place among n elements of a coordinate.
func placeOf(s *ops.Sampler, at float64, n int) float64 {
	if !s.Normalized {
		return at
	}
	part := (at - s.Low) / (1 - s.Low)
	if s.Align {
		return part * float64(n-1)
	}
	return float64(part*float64(n)) - 0.5
}

// coordinateOf is the coordinate of element i of n. That of a single one is the middle.
func coordinateOf(s *ops.Sampler, i, n int) float64 {
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

// affineTransform samples x at places that a matrix computes from those of the result. Every image may have a matrix of
// its own.
func affineTransform(s *Step) (run.Runner, int) {
	a, in, out := s.Attrs.(ops.Sampler), s.In[0].Shape[2:], s.Out[0].Shape[2:]
	each := min(s.In[1].Shape[0]-1, 1)
	return newSampler(s, func(c *run.Call, image, oh, ow int) (int, float64, float64, bool) {
		var m [6]float32
		c.In[1].Load(m[:], 6*image*each)
		x, y := coordinateOf(&a, ow, out[1]), coordinateOf(&a, oh, out[0])
		return image, placeOf(&a, float64(float64(m[0])*x)+float64(float64(m[1])*y)+float64(m[2]), in[1]),
			placeOf(&a, float64(float64(m[3])*x)+float64(float64(m[4])*y)+float64(m[5]), in[0]), true
	}, a)
}

// resample samples x at given places.
func resample(s *Step) (run.Runner, int) {
	a, in, out := s.Attrs.(ops.Sampler), s.In[0].Shape[2:], s.Out[0].Shape[2:]
	return newSampler(s, func(c *run.Call, image, oh, ow int) (int, float64, float64, bool) {
		i := 2 * ((image*out[0]+oh)*out[1] + ow)
		return image, placeOf(&a, c.In[1].Value(i), in[1]), placeOf(&a, c.In[1].Value(i+1), in[0]), true
	}, a)
}

// cropResize samples boxes of x. Places outside x have the padding value.
func cropResize(s *Step) (run.Runner, int) {
	a, in, out := s.Attrs.(*ops.Crop), s.In[0].Shape, s.Out[0].Shape
	g := &boxGrid{Crop: *a, images: in[0], in: in[2:], out: out[len(out)-2:], boxes: 2, stride: 4,
		indexes: s.In[3].Given}
	if s.In[1].Given {
		g.boxes, g.stride = 1, s.In[1].Shape[2]
	}
	return newSampler(s, g.at, ops.Sampler{Padding: "border", Value: a.Pad})
}

type boxGrid struct {
	ops.Crop
	images  int
	in, out []int
	boxes   int // index of the operand
	stride  int // numbers of a box
	indexes bool
}

func (g *boxGrid) at(c *run.Call, image, oh, ow int) (int, float64, float64, bool) {
	box, from := image, float64(image)
	if g.EveryImage {
		box, from = image/g.images, float64(image%g.images)
	}
	at := box * g.stride
	switch {
	case g.Indexed:
		from = c.In[1].Value(at)
		at++
	case g.indexes:
		from = c.In[3].Value(box)
	}
	if from = math.RoundToEven(from); !(from >= 0 && from < float64(g.images)) {
		return 0, 0, 0, false
	}
	y, okY := g.along(c, at, 0, oh)
	x, okX := g.along(c, at, 1, ow)
	return int(from), x, y, okX && okY
}

// along returns the place in x of element i of a box along an axis, 0 for height. The box
// begins at number at of its operand. ok is false outside x.
func (g *boxGrid) along(c *run.Call, at, axis, i int) (p float64, ok bool) {
	k := axis
	if g.WidthFirst {
		k = 1 - axis
	}
	boxes := &c.In[g.boxes]
	start, end := boxes.Value(at+k), boxes.Value(at+2+k)
	if g.Center {
		start, end = start-end/2, start+end/2
	}
	last := float64(g.in[axis] - 1)
	if g.Normalized {
		start, end = start*last, end*last
	}
	start, end = start*g.Scale, end*g.Scale
	p = start + spatial.SampleAt(g.Mode, i, end-start+1, g.out[axis])
	const slack = 1e-6 // rounding moves a place beyond the last element
	if p > -slack && p < last+slack {
		p = min(max(p, 0), last)
	}
	return p, p >= 0 && p <= last
}

// resize changes the size of the last axes.
func resize(s *Step) (run.Runner, int) {
	return spatial.Resize(s.Attrs.(ops.Resize), s.In[0].Shape, s.Out[0].Shape, s.Out[0].DType, s.halved())
}
