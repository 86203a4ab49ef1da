package decoder

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// norm2 is the module of the norm before the feed-forward network.
const norm2 = "post_attention_layernorm"

// layer names the weights of one layer of a program.
type layer struct {
	*graph
	folder *Folder
	at, i  int // number of the layer in the model and in the program
}

func (l layer) name(short string) string { return fmt.Sprintf("l%04d_%s", l.i, short) }

func (l layer) weight(module string) *weight { return l.folder.weights[layerName(l.at, module)] }

// project multiplies x by rows and columns of a module's weight.
func (l layer) project(short, module string, x build.Value, rows, columns extent) build.Value {
	return l.matrix(l.name(short), l.weight(module), x, rows, columns)
}

// attend adds attention of the heads of the graph to sum.
func (l layer) attend(x, sum build.Value, in map[string]build.Value, causal build.Value) (y, k, v build.Value) {
	c := l.c
	q := extentOf(l.piece.part, c.Heads*c.HeadDim)
	kv := extentOf(l.piece.part/max(l.parts.queries, 1), c.KVHeads*c.HeadDim)
	h := l.norm(l.name("norm1"), layerName(l.at, "input_layernorm"), x)
	query := l.heads(l.project("q", "self_attn.q_proj", h, q, extent{}), c.Heads)
	k = l.heads(l.project("k", "self_attn.k_proj", h, kv, extent{}), c.KVHeads)
	v = l.heads(l.project("v", "self_attn.v_proj", h, kv, extent{}), c.KVHeads)
	if c.QKNorm {
		axis, gamma := 3, []int{1, 1, 1, c.HeadDim}
		if l.form != Compact {
			axis, gamma = 2, []int{1, 1, c.HeadDim, 1}
		}
		normed := func(short, module string, x build.Value) build.Value {
			r := request{module: layerName(l.at, module), kind: halves}
			return l.rms(x, axis, c.HeadDim, l.constant(l.name(short), r, mil.FP16, gamma...))
		}
		query, k = normed("qnorm", "self_attn.q_norm", query), normed("knorm", "self_attn.k_norm", k)
	}
	query, k = l.rotate(query, in[inputCos], in[inputSin]), l.rotate(k, in[inputCos], in[inputSin])
	query = l.Mul(l.queries(query), l.Scalar(1/math.Sqrt(float64(c.HeadDim))))
	a := l.scores(query, in[inputK(l.i)], in[inputV(l.i)], in[inputMask], l.perHead(k), l.perHead(v), causal)
	a = l.join(a)
	if l.columns > 1 && l.form == Compact {
		a = l.Mul(a, in[inputUsed])
	}
	y = l.Add(sum, l.project("o", "self_attn.o_proj", a, extent{}, q))
	return y, l.tokens(k), l.tokens(v)
}

// forward adds the result of the graph's inner elements of the feed-forward network to sum.
func (l layer) forward(x, sum build.Value) build.Value {
	inner := extentOf(l.piece.part, l.c.Intermediate)
	h := l.norm(l.name("norm2"), layerName(l.at, norm2), x)
	h = l.Mul(l.Silu(l.project("gate", "mlp.gate_proj", h, inner, extent{})),
		l.project("up", "mlp.up_proj", h, inner, extent{}))
	return l.Add(sum, l.project("down", "mlp.down_proj", h, extent{}, inner))
}

// layers builds the program of a piece of the layers, for passes of columns tokens and a cache of context tokens, of
// which it reads those that are shown: no input is the cache, if none are.
// Programs of pieces that differ only in their place differ only in their weights.
func (f *Folder) layers(form Form, columns, shown, context int, parts grouping, p piece, dense map[string]bool) (
	*build.Program, map[string]want, error,
) {
	b := build.New(build.FilePerWeight())
	c := parts.part(f.config, p)
	g := &graph{Func: b.Func("main"), c: c, form: form, columns: columns, piece: p, parts: parts, dense: dense,
		wants: map[string]want{}}
	in := map[string]build.Value{}
	input := func(name string, shape ...int) { in[name] = g.Input(name, build.FP16, shape...) }
	cache := func(name func(int) string) {
		for i := range p.layers {
			if shown > 0 {
				input(name(i), 1, c.KVHeads, context, c.HeadDim)
			}
		}
	}
	if p.stage != forwards {
		input(inputCos, g.rotations()...)
		cache(inputK)
		if shown > 0 {
			input(inputMask, 1, 1, 1, context)
		}
		input(inputSin, g.rotations()...)
	}
	if p.stage != whole {
		input(inputSum, g.state(c.Hidden)...)
	}
	if p.stage != forwards {
		if columns > 1 && form == Compact {
			input(inputUsed, columns, 1)
		}
		cache(inputV)
	}
	input(inputX, g.state(c.Hidden)...)
	show := func(name string, axis int) {
		if end := in[name].Shape(); p.stage != forwards && shown < context && len(end) == 4 {
			end[axis] = shown
			in[name] = g.SliceByIndex(in[name], []int{0, 0, 0, 0}, end)
		}
	}
	show(inputMask, 3)
	for i := range p.layers {
		show(inputK(i), 2)
		show(inputV(i), 2)
	}
	var causal build.Value
	if columns > 1 && p.stage != forwards {
		causal = g.causal()
	}
	x, sum := in[inputX], in[inputSum]
	keys, values := make([]build.Value, p.layers), make([]build.Value, p.layers)
	for i := range p.layers {
		l := layer{g, f, p.at + i, i}
		switch p.stage {
		case attends:
			x, keys[i], values[i] = l.attend(x, sum, in, causal)
		case forwards:
			x = l.forward(x, sum)
		default:
			x, keys[i], values[i] = l.attend(x, x, in, causal)
			x = l.forward(x, x)
		}
	}
	if p.stage != forwards {
		for i := range p.layers {
			g.Output(outputK(i), keys[i])
		}
		for i := range p.layers {
			g.Output(outputV(i), values[i])
		}
	}
	g.Output(outputY, x)
	program, err := g.program(b)
	return program, g.wants, err
}
