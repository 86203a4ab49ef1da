package kernels

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/engine/soft/spatial"
	"github.com/anekit/anekit/internal/ops"
)

// poolTile is the number of outputs of a line that are computed together.
const poolTile = 64

// pools are what the operators fold a window by.
var pools = map[string]way{"max_pool": byMaximum, "avg_pool": bySum, "l2_pool": bySquare}

// pool returns the largest element of each window, the mean, or the root of the sum of squares. Padding never wins a
// maximum. A mean counts padding unless exclude_padding_from_average is set.
func pool(s *Step) (run.Runner, int) {
	w := pools[s.Op]
	r := &pooler{win: volumetric(s.Attrs.(ops.Window)), way: w, dtype: s.Out[0].DType,
		planes: s.In[0].Shape[0] * s.In[0].Shape[1]}
	r.room = min(r.win.In[2], (poolTile-1)*r.win.Strides[2]+r.win.Kernel[2])
	var other run.Runner = r
	work := r.room + poolTile
	if h := (&halfMaxPooler{*r, (r.win.Out[2]-1)*r.win.Strides[2] + r.win.Kernel[2]}); w == byMaximum && s.halved() &&
		h.quicker() {
		other, work = h, h.width+r.win.Strides[2] // halves of the line, and of its parts by phase
	}
	if s.halved() {
		if q, room := r.quick(other, work); q != nil {
			return q, room
		}
	}
	return other, work
}

// quick returns the runner of package spatial that is quicker than other, or nil.
func (r *pooler) quick(other run.Runner, work int) (run.Runner, int) {
	w := &r.win
	whole := ops.Volume(w.Out) == 1 && ops.Volume(w.Before)+ops.Volume(w.After) == 0 && slices.Equal(w.Kernel, w.In)
	switch {
	case r.way == byMaximum:
		return spatial.Maxima(*w, r.planes, other, work)
	case r.way == bySum && whole:
		n := ops.Volume(w.In)
		return spatial.Sums(spatial.Lanes{Count: r.planes, Length: n, Width: n, Pitch: n},
			spatial.Fold{Divisor: float64(n)}, other, work)
	case r.way == bySum:
		return spatial.Means(*w, r.planes, other, work)
	}
	return nil, 0
}

type pooler struct {
	win    ops.Window // over three spatial axes
	planes int
	way    way
	dtype  mil.DType
	room   int // elements of x under the windows of poolTile outputs
}

func (r *pooler) Run(c *run.Call) {
	w := &r.win
	cost := w.Out[2]
	for i, k := range w.Kernel {
		cost *= min(k, w.In[i])
	}
	c.Spread(r.planes*w.Out[0]*w.Out[1], cost)
}

// Span computes output lines lo to hi, counted through all planes.
func (r *pooler) Span(c *run.Call, lo, hi, worker int) {
	w := &r.win
	row, out := c.Work[worker][:r.room], c.Work[worker][r.room:][:poolTile]
	for i := lo; i < hi && !c.Stopped(); i++ {
		plane, od, oh := i/w.Out[1]/w.Out[0], i/w.Out[1]%w.Out[0], i%w.Out[1]
		d0, d1 := r.inside(0, od)
		h0, h1 := r.inside(1, oh)
		for ow := 0; ow < w.Out[2] && !c.Pause(worker); ow += poolTile {
			tile := out[:min(poolTile, w.Out[2]-ow)]
			var acc [poolTile]float64
			if r.way == byMaximum {
				for t := range acc {
					acc[t] = math.Inf(-1)
				}
			}
			first, _ := r.inside(2, ow)
			_, last := r.inside(2, ow+len(tile)-1)
			for id := d0; id < d1; id++ {
				for ih := h0; ih < h1 && !c.Stopped(); ih++ {
					c.In[0].Load(row[:last-first], ((plane*w.In[0]+id)*w.In[1]+ih)*w.In[2]+first)
					r.fold(c, acc[:len(tile)], row, first, ow)
				}
			}
			across := r.count(0, od) * r.count(1, oh)
			for t, v := range acc[:len(tile)] {
				switch r.way {
				case bySum:
					v /= float64(across * r.count(2, ow+t))
				case bySquare:
					v = math.Sqrt(v)
				}
				tile[t] = narrow(r.dtype, v)
			}
			c.Out[0].Store(tile, i*w.Out[2]+ow)
		}
	}
}

// fold adds a run of x, which begins at element first of its line, to the windows of the outputs from ow.
func (r *pooler) fold(c *run.Call, acc []float64, row []float32, first, ow int) {
	w := &r.win
	if len(acc) == 1 {
		from, to := r.inside(2, ow)
		acc[0] = r.way.addRun(acc[0], row[from-first:to-first])
		return
	}
	stride, length := w.Strides[2], w.In[2]
	for k := range w.Kernel[2] {
		if k%run.Chunk == run.Chunk-1 && c.Stopped() {
			return
		}
		at := ow*stride - w.Before[2] + k // of the first output
		lo := (max(-at, 0) + stride - 1) / stride
		hi := min((length-1-at+stride)/stride, len(acc))
		if at >= length || lo >= hi {
			continue
		}
		x, some := row[at+lo*stride-first:], acc[lo:hi]
		switch {
		case stride == 1:
			addRows(r.way, some, x[:len(some)], len(some))
		case r.way == bySum:
			for t := range some {
				some[t] += float64(x[t*stride])
			}
		default:
			addEvery(r.way, some, x, stride)
		}
	}
}

// addEvery is addRows of one row, whose elements are a stride apart.
func addEvery(w way, acc []float64, x []float32, stride int) {
	var gathered [poolTile]float32
	matrix.Every(gathered[:len(acc)], x, stride)
	addRows(w, acc, gathered[:len(acc)], len(acc))
}

// inside returns the positions of window i within x along an axis.
func (r *pooler) inside(axis, i int) (from, to int) {
	from = i*r.win.Strides[axis] - r.win.Before[axis]
	return max(from, 0), min(from+r.win.Kernel[axis], r.win.In[axis])
}

// count is the number of positions of window i along an axis: within x, or within x and its padding.
func (r *pooler) count(axis, i int) int {
	w := &r.win
	from, to := r.inside(axis, i)
	if !w.ExcludePadding {
		from = i*w.Strides[axis] - w.Before[axis]
		to = min(from+w.Kernel[axis], w.In[axis]+w.After[axis])
	}
	return to - from
}

// halfMaxPooler is max_pool of halves. It takes the greatest of the lines under a window, element by element. It sorts
// the result by its place within a stride. Then it takes the greatest of as many shifted lines as a window has columns.
type halfMaxPooler struct {
	pooler
	width int // of a line with its padding: that under all windows
}

// Bounds of halfMaxPooler: the columns of a window, for each of which it passes over a line, and the elements of one.
const (
	mostColumns = 32
	mostWidth   = 1 << 16
)

// quicker reports whether it is quicker than pooler.
func (r *halfMaxPooler) quicker() bool {
	w := &r.win
	return w.Out[2] >= 8 && w.Kernel[2] <= mostColumns && w.Strides[2] <= mostColumns && r.width <= mostWidth
}

func (r *halfMaxPooler) Span(c *run.Call, lo, hi, worker int) {
	w, stride := &r.win, r.win.Strides[2]
	line, dealt := c.Rooms[worker].Half[:r.width], c.Rooms[worker].Half[r.width:]
	phase := (r.width + stride - 1) / stride
	for i := lo; i < hi && !c.Pause(worker); i++ {
		plane, od, oh := i/w.Out[1]/w.Out[0], i/w.Out[1]%w.Out[0], i%w.Out[1]
		r.lines(c, line, plane, od, oh)
		if stride > 1 {
			for p := range stride {
				matrix.Every(dealt[p*phase:][:(r.width-p+stride-1)/stride], line[p:], stride)
			}
		} else {
			dealt = line
		}
		out := c.Out[0].Half[i*w.Out[2]:][:w.Out[2]]
		copy(out, dealt)
		for k := 1; k < w.Kernel[2]; k++ {
			halves.Binary(halves.Max, out, out, dealt[k%stride*phase+k/stride:][:len(out)], 0)
		}
	}
}

// lines sets line to the greatest elements of the lines under a row of windows, and to -Inf where it is outside of x.
func (r *halfMaxPooler) lines(c *run.Call, line []fp16.Bits, plane, od, oh int) {
	w := &r.win
	to := min(w.In[2], len(line)-w.Before[2])
	fill(line, fp16.Inf|0x8000)
	if to <= 0 {
		return
	}
	inside := line[w.Before[2]:][:to]
	d0, d1 := r.inside(0, od)
	h0, h1 := r.inside(1, oh)
	for id := d0; id < d1; id++ {
		for ih := h0; ih < h1 && !c.Stopped(); ih++ {
			x := c.In[0].Half[((plane*w.In[0]+id)*w.In[1]+ih)*w.In[2]:][:to]
			if id == d0 && ih == h0 {
				copy(inside, x)
			} else {
				halves.Binary(halves.Max, inside, inside, x, 0)
			}
		}
	}
}
