package decoder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/errtext"
)

// stage is the part of its layers that a program computes.
type stage string

const (
	whole    stage = "layers"
	attends  stage = "attention" // of some heads of a layer
	forwards stage = "feed"      // some elements inside of the feed-forward network of a layer
)

// piece is the part of the model that a program computes.
type piece struct {
	stage  stage
	at     int // the first layer
	layers int // 1 for a part of a layer
	part   int // of the layer: heads or elements after those of the parts before
	last   bool
}

// grouping is how cut splits the layers and the logits into programs.
type grouping struct {
	pieces  []piece // of the layers, in their order
	caches  int     // surfaces of keys of a layer, each of KVHeads/caches heads
	queries int     // programs that share the keys of one surface
	inner   int     // elements of the feed-forward network in a part
	rows    int     // of the logits in one program
	parts   int     // of the logits
}

// cache is the index of the keys of layer i of a program in the cache.
func (g grouping) cache(p piece, i int) int { return (p.at+i)*g.caches + p.part/g.queries }

// part describes what a piece computes: a model with fewer heads, or fewer elements inside the
// feed-forward network.
func (g grouping) part(c Config, p piece) Config {
	switch p.stage {
	case attends:
		c.Heads /= g.caches * g.queries
		c.KVHeads /= g.caches
	case forwards:
		c.Intermediate = g.inner
	}
	return c
}

// programLayers bounds the layers of one program: the compile time grows faster than the length of a program.
const programLayers = 32

// lowest returns the lowest known limit of the chips of the options.
func (o options) lowest(limit func(chip.Limits) chip.Fact[int64]) (low chip.Fact[int64]) {
	for _, c := range o.chips() {
		if l := limit(c.Spec().Limits); l.Known() && (!low.Known() || l.Value < low.Value) {
			low = l
		}
	}
	return low
}

func (o options) chips() []chip.Chip {
	if o.chip.Valid() {
		return []chip.Chip{o.chip}
	}
	return chip.All()
}

func wide(f chip.Fact[int]) chip.Fact[int64] {
	return chip.Fact[int64]{Value: int64(f.Value), Degree: f.Degree, Source: f.Source}
}

func (o options) weightLimit() chip.Fact[int64] {
	if o.weights > 0 {
		return chip.Fact[int64]{Value: o.weights, Degree: chip.Stated, Source: "a test"}
	}
	return o.lowest(func(l chip.Limits) chip.Fact[int64] { return l.WeightBytes })
}

func (o options) loadLimit() chip.Fact[int64] {
	return o.lowest(func(l chip.Limits) chip.Fact[int64] { return wide(l.Loaded) })
}

// channels is the largest number of elements of a state.
func (o options) channels() int {
	n := 1 << 14
	if low := o.lowest(func(l chip.Limits) chip.Fact[int64] { return wide(l.Channels) }); low.Known() {
		n = min(n, int(low.Value))
	}
	return n
}

// matrixBytes is the size of a matrix in a program. The compiler of M1 expands integers to fp16.
func (o options) matrixBytes(out, in int) int64 {
	if o.form == EngineInt8 && !slices.Contains(o.chips(), chip.M1) {
		return int64(out)*int64(in) + 2*int64(out)
	}
	return 2 * int64(out) * int64(in)
}

// pieceBytes is the size of the weights of a layer, or of a part of it.
func (o options) pieceBytes(c Config, g grouping, s stage) (n int64) {
	c = g.part(c, piece{stage: s})
	c.Layers = 1
	for _, m := range c.modules() {
		name, ok := strings.CutPrefix(m.name, layerName(0, ""))
		feed := strings.HasPrefix(name, "mlp.") || name == norm2
		if !ok || s == attends && feed || s == forwards && !feed {
			continue
		}
		if len(m.shape) == 1 {
			n += 2 * int64(m.shape[0])
		} else {
			n += o.matrixBytes(m.shape[0], m.shape[1])
		}
		if m.bias {
			n += 2 * int64(m.shape[0])
		}
	}
	return n
}

// cut decides what each program computes. It splits a layer that exceeds a limit: attention by heads, the feed-forward
// network by its inner elements. The parts add to one sum, each in a program.
func (o options) cut(c Config) (grouping, error) {
	g := grouping{caches: 1, queries: 1, inner: c.Intermediate, rows: c.Vocabulary, parts: 1}
	if o.form == Compact {
		for at := range c.Layers { // instances of one program, unless their weights are packed in other ways
			g.pieces = append(g.pieces, piece{stage: whole, at: at, layers: 1, last: true})
		}
		return g, nil
	}
	limit, channels := o.weightLimit(), o.channels()
	fits := func(s stage) bool {
		part := g.part(c, piece{stage: s})
		wide := s != forwards && part.Heads*part.HeadDim > channels || s != attends && part.Intermediate > channels
		return !wide && (!limit.Known() || o.pieceBytes(c, g, s) <= limit.Value)
	}
	refuse := func(name string, used int64) error {
		return &Error{Base: errtext.Base{Op: "load", Err: ErrLimits,
			Detail: fmt.Sprintf("%d bytes of weights, at most %s in a program", used, limit),
			Hint:   "use the form compact on a software engine"}, Name: name}
	}
	if fits(whole) {
		per := programLayers
		if limit.Known() {
			per = int(min(int64(per), limit.Value/o.pieceBytes(c, g, whole)))
		}
		for at := 0; at < c.Layers; at += per {
			g.pieces = append(g.pieces, piece{stage: whole, at: at, layers: min(per, c.Layers-at), last: true})
		}
	} else {
		for !fits(attends) {
			if g.caches < c.KVHeads {
				g.caches = divisor(c.KVHeads, g.caches)
			} else if g.queries < c.Heads/c.KVHeads {
				g.queries = divisor(c.Heads/c.KVHeads, g.queries)
			} else {
				return g, refuse("a head of attention", o.pieceBytes(c, g, attends))
			}
		}
		for n := 1; !fits(forwards); n++ {
			if g.inner == 32 {
				return g, refuse("32 elements of the feed-forward network", o.pieceBytes(c, g, forwards))
			}
			g.inner = up((c.Intermediate+n-1)/n, 32)
		}
		for at := range c.Layers {
			g.add(attends, at, g.caches*g.queries)
			g.add(forwards, at, (c.Intermediate+g.inner-1)/g.inner)
		}
	}
	rows, row := channels, o.matrixBytes(32, c.Hidden)
	if limit.Known() {
		if rows = min(rows, int((limit.Value-2*int64(c.Hidden))/row*32)); rows <= 0 {
			return g, refuse("32 rows of the logits", row+2*int64(c.Hidden))
		}
	}
	g.parts = (c.Vocabulary + rows - 1) / rows
	g.rows = up((c.Vocabulary+g.parts-1)/g.parts, 32)
	return g, nil
}

// add adds n parts of a layer.
func (g *grouping) add(s stage, at, n int) {
	for i := range n {
		g.pieces = append(g.pieces, piece{stage: s, at: at, layers: 1, part: i, last: i == n-1})
	}
}

// divisor returns the least divisor of n above low.
func divisor(n, low int) int {
	for low++; n%low != 0; low++ {
	}
	return low
}

// up returns the least multiple of step that is at least n.
func up(n, step int) int { return (n + step - 1) / step * step }
