package soft_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
)

// weightedGraph is a random program whose constants are spread over a few weight
// files, several in each.
type weightedGraph struct {
	*graph
	writers [3]blob.Writer
	entries [3][]nd
	axis    bool // file 2 starts with an axis
}

// weight adds a constant of a random file.
func (g *weightedGraph) weight(t testing.TB, shape ...int) string {
	k, x := g.r.IntN(len(g.writers)), weight(g.r, mil.FP16, shape...)
	at, err := g.writers[k].Add(x.d, encode(x), 0)
	require.NoError(t, err)
	g.entries[k] = append(g.entries[k], x)
	name := g.define(x)
	g.body = append(g.body, weightDecl(name, weightPath(k), at, x.d, shape))
	return name
}

// mix adds an operation that reads weights. After it the reference values are wrong
// and only their shapes are used.
func (g *weightedGraph) mix(t testing.TB) {
	name, x := g.any()
	rank := len(x.shape)
	last := x.shape[rank-1]
	switch k := g.r.IntN(6); {
	case k == 0 && volume(x.shape)*8 < 4000:
		n := 1 + g.r.IntN(8)
		w, b := g.weight(t, n, last), g.weight(t, n)
		y := append(append([]int{}, x.shape[:rank-1]...), n)
		g.add(fmt.Sprintf("linear(x = %s, weight = %s, bias = %s)", name, w, b), zeros(mil.FP16, y...))
	case k == 1 && rank == 2:
		n := 1 + g.r.IntN(8)
		if g.r.IntN(2) == 0 {
			g.add(fmt.Sprintf("matmul(x = %s, y = %s, transpose_y = bool(true))", name, g.weight(t, n, last)),
				zeros(mil.FP16, x.shape[0], n))
		} else {
			g.add(fmt.Sprintf("matmul(x = %s, y = %s)", g.weight(t, n, x.shape[0]), name), zeros(mil.FP16, n, last))
		}
	case k == 2:
		gamma, beta := g.weight(t, last), g.weight(t, last)
		g.add(fmt.Sprintf("layer_norm(x = %s, gamma = %s, beta = %s, axes = %s)", name, gamma, beta, intVec(-1)),
			zeros(mil.FP16, x.shape...))
	case k == 3 && rank == 4:
		n := 1 + g.r.IntN(3)
		if x.shape[0]*n*x.shape[2]*x.shape[3] > 4000 {
			return
		}
		g.add(fmt.Sprintf("conv(x = %s, weight = %s)", name, g.weight(t, n, x.shape[1], 1, 1)),
			zeros(mil.FP16, x.shape[0], n, x.shape[2], x.shape[3]))
	case k == 4:
		g.add(fmt.Sprintf("mul(x = %s, y = %s)", name, g.weight(t, last)), zeros(mil.FP16, x.shape...))
	default:
		g.weight(t, 1+g.r.IntN(4), 1+g.r.IntN(6))
	}
}

// newWeightedGraph builds a program from a seed.
func newWeightedGraph(t testing.TB, seed uint64) (*weightedGraph, weightedProgram) {
	g := &weightedGraph{graph: newGraph(rand.New(rand.NewPCG(seed, 17)))}
	if g.axis = g.r.IntN(4) == 0; g.axis {
		_, err := g.writers[2].Add(mil.Int32, []byte{0, 0, 0, 0}, 0)
		require.NoError(t, err)
		g.body = append(g.body, weightDecl("axis", weightPath(2), blob.First, mil.Int32, []int{1}))
	}
	g.input(fill(g.r, mil.FP16, randomShape(g.r, 1, 4)...))
	g.weight(t, g.values["v0"].shape...)
	for len(g.fresh) == 0 || len(g.names) < 8+g.r.IntN(30) {
		if g.r.IntN(2) == 0 {
			g.mix(t)
		} else {
			g.grow()
		}
	}
	if g.axis {
		name, x := g.any()
		g.add(fmt.Sprintf("reduce_max(x = %s, axes = axis, keep_dims = bool(true))", name),
			zeros(mil.FP16, append([]int{1}, x.shape[1:]...)...))
	}
	var results, spare []string
	for _, n := range g.names {
		if g.fresh[n] && g.r.IntN(4) == 0 {
			results = append(results, n)
		} else if g.fresh[n] {
			spare = append(spare, n)
		}
	}
	if len(spare) > 0 { // also the last one
		results = append(results, spare[len(spare)-1])
	}
	p := weightedProgram{text: g.text(results), files: files{}}
	for k := range g.writers {
		p.files[weightPath(k)] = g.writers[k].Bytes()
	}
	return g, p
}

// replaced returns other files for the program: bit k of which replaces file k, and
// harm damages bytes of the files.
func (g *weightedGraph) replaced(t testing.TB, which byte, harm []byte) files {
	own := files{}
	for k, list := range g.entries {
		if which>>k&1 == 0 {
			continue
		}
		var w blob.Writer
		if g.axis && k == 2 {
			_, err := w.Add(mil.Int32, []byte{which >> 7, 0, 0, 0}, 0)
			require.NoError(t, err)
		}
		for _, old := range list {
			x := old
			if g.r.IntN(3) > 0 {
				x = weight(g.r, old.d, old.shape...)
			}
			_, err := w.Add(x.d, encode(x), 0)
			require.NoError(t, err)
		}
		data := w.Bytes()
		for ; len(harm) >= 3; harm = harm[3:] {
			data[int(binary.LittleEndian.Uint16(harm))%len(data)] ^= harm[2]
		}
		if len(harm) == 2 && harm[0] > 200 {
			data = data[:int(harm[1])*len(data)/256]
		}
		own[weightPath(k)] = data
	}
	return own
}

// FuzzInstance makes instances of random programs in which random files, damaged or
// not, replace some. An instance is rejected if Compile rejects the files, with the
// same message, and otherwise computes the same. Only a changed axis may give another
// outcome.
func FuzzInstance(f *testing.F) {
	for seed := range uint64(effort.Cases(120)) {
		f.Add(seed, byte(seed%8), []byte(nil), byte(seed/3%8))
	}
	f.Add(uint64(3), byte(0x87), []byte(nil), byte(4))
	f.Add(uint64(4), byte(7), []byte{64, 0, 1, 81, 0, 4}, byte(1))
	f.Add(uint64(3), byte(0xde), []byte("090"), byte(60)) // an axis and damage at once
	f.Add(uint64(5), byte(1), []byte{250, 100}, byte(7))
	f.Add(uint64(1), byte(3), []byte(" 70"), byte(1)) // a note about a constant that no output needs
	f.Fuzz(func(t *testing.T, seed uint64, which byte, harm []byte, next byte) {
		ctx, e := context.Background(), soft.New()
		defer func() { require.NoError(t, e.Close()) }()
		g, p := newWeightedGraph(t, seed)
		base := compileOn(t, e, p.text, p.files)
		before := runOn(t, base, seed)
		own := g.replaced(t, which, harm)
		fresh, refusal := e.Compile(ctx, ane.Source{File: "test.mil", Text: []byte(p.text), Weights: own.over(p.files)})
		x, err := base.(instancer).NewInstance(ctx, own)
		require.Equal(t, before, runOn(t, base, seed), "the base is unchanged")
		if err != nil {
			require.ErrorIs(t, err, ane.ErrCompile)
			if g.axis && which>>2&1 != 0 && errors.Is(err, ane.ErrMismatch) {
				return // compiling may accept another axis or report it differently
			}
			var mine, theirs mil.ErrorList
			require.ErrorAs(t, err, &mine)
			require.ErrorAs(t, refusal, &theirs)
			require.Equal(t, theirs.Error(), mine.Error())
			return
		}
		require.NoError(t, refusal)
		requireSame(t, p.text, fresh, x, seed)
		again := g.replaced(t, next&0x7f, nil)
		requireSame(t, p.text, compileOn(t, e, p.text, again.over(own).over(p.files)), instanceOf(t, x, again), seed)
	})
}
