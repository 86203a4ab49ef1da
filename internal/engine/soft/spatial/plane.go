package spatial

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// kind is what the elements of a plane become: float32 of convolutions; int32 or float64 of means, of units of 2^-24 or
// of 1; and int16 of maxima, whose order is that of the halves.
type kind struct {
	size, lanes int       // bytes of an element; columns of a tile
	chunk       [2]int    // halves of a row that are read at a time, by the stride
	pad         fp16.Bits // what is around x
	padWord     int32     // two such elements, or part of one
	exact       bool      // integers of 4 bytes
}

var (
	floats  = kind{size: 4, lanes: 8, chunk: [2]int{8, 16}}
	units   = kind{size: 4, lanes: 8, chunk: [2]int{8, 16}, exact: true}
	doubles = kind{size: 8, lanes: 8, chunk: [2]int{8, 16}}
	keys    = kind{size: 2, lanes: 16, chunk: [2]int{16, 16}, pad: fp16.Inf | 0x8000, padWord: -0x7c007c01}
)

// spread calls the kernel of the kind. It is no field, so that arguments stay on the stack.
func (k *kind) spread(stride int, s *spreading) {
	switch {
	case k.exact:
		spreadUnits(stride, s)
	case k.size == 2:
		spreadKeys(stride, s)
	case k.size == 4:
		spreadFloats(stride, s)
	default:
		spreadDoubles(stride, s)
	}
}

// slide calls the kernel of the kind.
func (k *kind) slide(s *sliding) {
	switch {
	case k.exact:
		slideUnits(s)
	case k.size == 2:
		slideKeys(s)
	case k.size == 4:
		slideFloats(s)
	default:
		slideDoubles(s)
	}
}

// plane is a strip of the lines of x under some lines of windows, with the padding around it, in the workspace. With a
// stride of 2 it has two phases: the columns of even and of odd places. So neighbors in the result have neighbors in
// the plane. Each position of a window is at one offset from the first, the same for all windows.
type plane struct {
	kind
	win     ops.Window // over three spatial axes, the first of which is 1
	rows    int        // output lines of a strip
	strips  int        // of the result of one plane of x
	many    int        // planes that are beside each other
	high    int        // lines of the plane
	pitch   int        // bytes between these
	bytes   int        // of the plane
	roll    int        // the stride of windows of 3x3 or 5x5 positions, of which the kernel finishes sums; else 0
	offsets []int
	rest    spreading // the settings of all strips
}

// spreading is the argument of a kernel that fills a plane. Reads go to the end of the last chunk.
type spreading struct {
	x           *fp16.Bits
	room        *int32
	at, other   int // bytes from room to the first element, and from there to the second
	from, pitch int // bytes between rows of x and of the plane
	rows        int
	whole, rest int        // chunks of a row, and one more
	keep, pad   [16]uint16 // halves of the last chunk
	planes, gap int        // planes one after another; bytes from what is after the rows of one to the first of the next
	limit       uint16
	beyond      bool // a magnitude is beyond limit; looked for by keys and units
}

// sliding is the argument of a kernel that computes tiles of tileRows rows. Means have inverses of the counts of each
// row i from element ofRow[i] on. shorts are those times 2^-24.
type sliding struct {
	room                *int32
	at                  int
	offsets             *int
	taps                int
	weights, bias       *float32
	more                *float32 // for each plane, added to its rounded sums if these are finished
	least, most         float32  // limits of these
	finish, wrong       bool     // a sum that is finished is NaN
	roll, rows          int      // of the plane; of the results, if there is roll
	spare               *float32 // 32 vectors, if there is roll
	planes              int      // one after another
	nextRoom            int      // bytes from the last tile's row of one to the first of the next
	nextResult          int      // likewise
	dst                 *fp16.Bits
	high, to            int // bytes between the lines of the plane under rows of the result, and between these
	lastRow, lastColumn int // of the first of the last tile
	inverses            *float64
	shorts              *float32
	ofRow               *int
}

// Limits of a plane. A strip fits the first cache, unless four lines are longer.
const (
	tileRows   = 4
	mostTaps   = 256
	mostLength = 1 << 15
	stripBytes = 24 << 10
	planeBytes = 1 << 18
)

// newPlane returns nil for windows that the kernels do not have. A strip has some output lines, or as many as fit.
func newPlane(w ops.Window, k kind, lines int) *plane {
	if !quick() || w.Strides[2] > 2 || w.In[0]*w.Kernel[0]*w.Out[0] != 1 || w.Before[0] != 0 ||
		ops.Volume(w.Kernel) > mostTaps {
		return nil
	}
	for axis := 1; axis < 3; axis++ {
		if max(w.In[axis], w.Strides[axis], w.Before[axis], (w.Kernel[axis]-1)*w.Dilations[axis]) > mostLength {
			return nil
		}
	}
	stride, across, below := w.Strides[2], (w.Kernel[2]-1)*w.Dilations[2], (w.Kernel[1]-1)*w.Dilations[1]
	columns := (max((w.Out[2]-1)*stride+across, w.Before[2]+w.In[2]-1)/stride + 2) / 2 * 2
	p := &plane{kind: k, win: w, pitch: columns * k.size}
	p.rows = min(max((stripBytes/(stride*p.pitch)-below)/w.Strides[1]/tileRows*tileRows, tileRows), w.Out[1])
	p.strips = (w.Out[1] + p.rows - 1) / p.rows
	p.rows = min(up((w.Out[1]+p.strips-1)/p.strips, tileRows), w.Out[1]) // about as many in each
	if lines > 0 {
		p.rows = lines
	}
	p.strips = (w.Out[1] + p.rows - 1) / p.rows
	tall := p.rows // of the tiles
	if w.Out[2] < tileRows*k.lanes {
		tall = up(p.rows, tileRows)
	}
	p.high = (tall-1)*w.Strides[1] + below + 1
	phase := p.high*p.pitch + 32*k.size
	if p.bytes = stride * phase; p.bytes > planeBytes || p.high > mostLength {
		return nil
	}
	if n := w.Kernel[1]; k == floats && (n == 3 || n == 5) && n == w.Kernel[2] && stride == w.Strides[1] &&
		w.Dilations[1]*w.Dilations[2] == 1 {
		p.roll = stride
	}
	p.many = 1
	if p.strips == 1 && (p.rows >= tileRows || w.Out[2] < tileRows*k.lanes) {
		p.many = max(stripBytes/p.bytes, 1)
	}
	for i := range ops.Volume(w.Kernel) {
		kw, kh := i%w.Kernel[2]*w.Dilations[2], i/w.Kernel[2]*w.Dilations[1]
		p.offsets = append(p.offsets, kw%stride*phase+kh*p.pitch+kw/stride*k.size)
	}
	chunk, before := k.chunk[stride-1], w.Before[2]
	p.rest = spreading{at: before%stride*phase + before/stride*k.size, other: phase, from: 2 * w.In[2],
		pitch: p.pitch, whole: w.In[2] / chunk, rest: min(w.In[2]%chunk, 1), limit: uint16(fp16.Inf)}
	if before%stride == 1 {
		p.rest.other = k.size - phase
	}
	for i := range p.rest.keep {
		if p.rest.keep[i] = 0xffff; i >= w.In[2]%chunk {
			p.rest.keep[i], p.rest.pad[i] = 0, uint16(k.pad)
		}
	}
	return p
}

// up is n, or the next multiple.
func up(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// words is the float32s of workspace: the planes, the last lines of x with what is read after them, and a strip of the
// result.
func (p *plane) words() int {
	return p.many*p.bytes/4 + (p.high*p.win.In[2]+16)/2 + 1 + (up(p.rows, tileRows)*p.win.Out[2]+32)/2 + 1
}

// strip returns the plane of x of strip i, its first line of the result, how many it has, and its first element if there
// is one plane of the result for each of x.
func (p *plane) strip(i int) (plane, line, rows, at int) {
	plane, line = i, 0
	if p.strips > 1 {
		plane, line = i/p.strips, i%p.strips*p.rows
	}
	return plane, line, min(p.rows, p.win.Out[1]-line), (plane*p.win.Out[1] + line) * p.win.Out[2]
}

// clear fills the planes with padding.
func (p *plane) clear(c *run.Call, worker int) { fill(c.Words[worker][:p.many*p.bytes/4], p.padWord) }

func fill(words []int32, w int32) {
	if w == 0 {
		clear(words)
		return
	}
	for i := range words {
		words[i] = w
	}
}

// load fills the inside of planes with the lines of x for some output lines from one on. It reports whether keys or
// units are beyond their limit.
func (p *plane) load(c *run.Call, worker, i, planes, from, rows int) (beyond bool) {
	w, words := &p.win, c.Words[worker][:p.bytes/4]
	first := from*w.Strides[1] - w.Before[1] // the line of x that is the first of the plane
	needed := (rows-1)*w.Strides[1] + (w.Kernel[1]-1)*w.Dilations[1] + 1
	lo, hi := min(max(-first, 0), needed), max(min(needed, w.In[1]-first), 0)
	if p.rows < w.Out[1] && (lo > 0 || hi < needed) {
		for phase := 0; phase < len(words); phase += len(words) / w.Strides[2] {
			fill(words[phase:][:lo*p.pitch/4], p.padWord)
			fill(words[phase+hi*p.pitch/4:][:(needed-hi)*p.pitch/4], p.padWord)
		}
	}
	if lo >= hi {
		return false
	}
	s, chunk := p.rest, p.chunk[w.Strides[2]-1]
	x := c.In[0].Half[(i*w.In[1]+first+lo)*w.In[2]:]
	if n := (planes*w.In[1] - w.In[1] + hi - lo) * w.In[2]; n-w.In[2]+(s.whole+s.rest)*chunk > len(x) {
		spare := c.Rooms[worker].Half[p.many*p.bytes/2:][:n+16]
		copy(spare, x[:n])
		x = spare
	}
	s.room, s.rows = &words[0], hi-lo
	s.gap = p.bytes - (hi-lo)*p.pitch
	s.at += lo * p.pitch
	some := planes
	if s.rows < w.In[1] {
		some = 1 // lines that no window reads are between the planes
	}
	for n := 0; n < planes; n += some {
		part := s // which a kernel changes
		part.planes, part.x = some, &x[n*w.In[1]*w.In[2]]
		p.spread(w.Strides[2], &part)
		s.at, beyond = s.at+p.bytes, beyond || part.beyond
	}
	return beyond
}

// results computes output lines from planes into out. It may write to all that out has room for. of is where the counts
// of the lines are, if they have some. It reports whether a sum that is finished is NaN.
func (p *plane) results(c *run.Call, worker, planes int, s sliding, of []int, out []fp16.Bits) (wrong bool) {
	w := &p.win
	s.room, s.offsets, s.taps, s.roll = &c.Words[worker][0], &p.offsets[0], len(p.offsets), p.roll
	s.high, s.to, s.planes = w.Strides[1]*p.pitch, 2*w.Out[2], planes
	s.rows = len(out) / w.Out[2] / planes
	s.lastRow, s.lastColumn = up(s.rows, tileRows)-tileRows, max(w.Out[2]-p.lanes, 0)
	wide := w.Out[2] >= p.lanes && (s.rows >= tileRows || p.roll > 0)
	if wide {
		s.lastRow = s.rows - tileRows
	}
	if p.roll > 0 {
		s.lastRow = 0
	}
	s.nextRoom, s.nextResult = p.bytes-s.lastRow*s.high, (s.rows-s.lastRow)*s.to
	if of != nil {
		s.ofRow = &of[0]
	}
	room := up(s.rows, tileRows)*w.Out[2] + p.lanes
	switch s.dst = &out[0]; {
	case !wide && w.Out[2] >= tileRows*p.lanes:
		p.quarters(s, of, out)
	case wide || planes > 1 || room <= cap(out): // tiles may be larger than the result
		p.slide(&s)
	default:
		room := c.Rooms[worker].Half[p.many*p.bytes/2+p.high*w.In[2]+18:][:room]
		s.dst = &room[0]
		p.slide(&s)
		copy(out, room)
	}
	return s.wrong
}

// together returns how many planes from one on, before another, are computed at a time: those whose kernels read and
// write no more than what belongs to the planes before end.
func (p *plane) together(i, end int) int {
	w := &p.win
	size := w.Out[1] * w.Out[2]
	beyond := max((up(w.Out[1], tileRows)*w.Out[2]+p.lanes-size+size-1)/size, 16/(w.In[1]*w.In[2])+1)
	return min(p.many, end-i-beyond)
}

// quarters is results for a few long lines, each of which becomes four that overlap.
func (p *plane) quarters(s sliding, of []int, out []fp16.Bits) {
	width, high := p.win.Out[2], s.high
	quarter := width / tileRows
	s.lastRow, s.lastColumn = 0, width-(tileRows-1)*quarter-p.lanes
	s.high, s.to = quarter*p.size, 2*quarter
	var ofRow [tileRows]int
	for i := 0; len(out) > 0; i, out = i+1, out[width:] {
		for k := range ofRow {
			if of != nil {
				ofRow[k] = of[i] + k*quarter
			}
		}
		s.dst, s.ofRow, s.planes = &out[0], &ofRow[0], 1
		p.slide(&s)
		s.at += high
	}
}
