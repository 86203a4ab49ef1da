package soft_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// Shapes of Llama 3.2 1B with tied embeddings.
const (
	llamaHidden, llamaInner, llamaLayers = 2048, 8192, 16
	llamaKV, llamaVocabulary             = 8 * 64, 128256
	llamaGroup                           = 64
)

// packedModel is a program with the matrices of a model for some tokens: gather of the embeddings, the products of all
// layers one after the other, and those with the embeddings. Its constants share the bytes of one Block.
type packedModel struct {
	text   strings.Builder
	at     map[uint64][]byte
	memory []byte
	stored int // bytes of integers, scales and offsets, as if each had its own
}

func (p *packedModel) constant(name, d string, out, in, bits int) {
	size := out * in * bits / 8
	p.stored += size
	offset := uint64(len(p.at))
	p.at[offset] = p.memory[:size:size]
	fmt.Fprintf(&p.text, "tensor<%s, [%d, %d]> %s = const()[val = tensor<%[1]s, [%[2]d, %[3]d]>(BLOBFILE(path = "+
		"string(\"held\"), offset = uint64(%[5]d)))];\n", d, out, in, name, offset)
}

func (p *packedModel) weight(name string, out, in int) {
	p.constant(name+"_q", "uint4", out, in, 4)
	p.constant(name+"_s", "fp16", out, in/llamaGroup, 16)
	p.constant(name+"_o", "fp16", out, in/llamaGroup, 16)
	fmt.Fprintf(&p.text, "tensor<fp16, [%d, %d]> %s = constexpr_blockwise_shift_scale(data = %[3]s_q, scale = %[3]s_s, "+
		"offset = %[3]s_o);\n", out, in, name)
}

func (p *packedModel) linear(name, x string, tokens, out, in int) {
	p.weight(name+"_w", out, in)
	fmt.Fprintf(&p.text, "tensor<fp16, [%d, %d]> %s = linear(x = %s, weight = %s_w);\n", tokens, out, name, x, name)
}

func newPackedModel(t testing.TB, tokens int) (*packedModel, *unimem.Block) {
	b, err := unimem.Open(llamaVocabulary * llamaHidden / 2)
	require.NoError(t, err)
	p := &packedModel{at: map[uint64][]byte{}, memory: b.Bytes()}
	fmt.Fprintf(&p.text, "program(1.3)\n{\nfunc main<ios18>(tensor<int32, [%d]> tokens) {\n", tokens)
	p.weight("e", llamaVocabulary, llamaHidden)
	row := fmt.Sprintf("tensor<fp16, [%d, %d]>", tokens, llamaHidden)
	fmt.Fprintf(&p.text, "%s h0 = gather(x = e, indices = tokens, axis = int32(0));\n", row)
	for l := range llamaLayers {
		h := fmt.Sprintf("h%d", l)
		name := func(s string) string { return fmt.Sprintf("l%d%s", l, s) }
		p.linear(name("q"), h, tokens, llamaHidden, llamaHidden)
		p.linear(name("k"), h, tokens, llamaKV, llamaHidden)
		p.linear(name("v"), h, tokens, llamaKV, llamaHidden)
		fmt.Fprintf(&p.text, "tensor<fp16, [%d, %d]> %s = concat(values = (%s, %s, %s, %s), axis = int32(1), interleave = "+
			"bool(false));\n", tokens, llamaHidden, name("c"), name("k"), name("v"), name("k"), name("v"))
		fmt.Fprintf(&p.text, "%s %s = add(x = %s, y = %s);\n", row, name("a"), name("q"), name("c"))
		p.linear(name("o"), name("a"), tokens, llamaHidden, llamaHidden)
		p.linear(name("g"), name("o"), tokens, llamaInner, llamaHidden)
		p.linear(name("u"), name("o"), tokens, llamaInner, llamaHidden)
		fmt.Fprintf(&p.text, "tensor<fp16, [%d, %d]> %s = mul(x = %s, y = %s);\n", tokens, llamaInner, name("m"),
			name("g"), name("u"))
		p.linear(fmt.Sprintf("h%d", l+1), name("m"), tokens, llamaHidden, llamaInner)
	}
	fmt.Fprintf(&p.text, "tensor<fp16, [%d, %d]> y = linear(x = h%d, weight = e);\n} -> (y);\n}\n", tokens, llamaVocabulary,
		llamaLayers)
	return p, b
}

// heap is what the program holds on the Go heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestPackedModelMemory: weights of a language model with 4 bits take at most 0.15 of their bytes as stored besides
// these, on the heap and in the memory of a run, as the engine says itself.
func TestPackedModelMemory(t *testing.T) {
	for _, tokens := range []int{1, 256} {
		p, b := newPackedModel(t, tokens)
		before := heap()
		d, err := ane.Open(soft.New(soft.Workers(2)), "")
		require.NoError(t, err)
		m, err := d.Compile(t.Context(), ane.Source{Text: []byte(p.text.String()), Weights: &held{at: p.at}})
		require.NoError(t, err)
		grown := heap() - before
		limit := int64(p.stored) * 15 / 100
		require.Less(t, grown, limit, "heap for %d tokens and %d bytes of weights", tokens, p.stored)
		x, err := soft.New(soft.Workers(2)).Compile(t.Context(), ane.Source{Text: []byte(p.text.String()),
			Weights: &held{at: p.at}})
		require.NoError(t, err)
		kept, loaded, bound := x.(interface {
			Footprint() (held, loaded, bound int64)
		}).Footprint()
		require.NoError(t, x.Close())
		if tokens == 1 {
			require.Less(t, kept+loaded+bound, limit, "Footprint")
			r, err := m.NewRequest(t.Context())
			require.NoError(t, err)
			_, err = r.Evaluate(t.Context())
			require.NoError(t, err)
			require.Less(t, heap()-before, limit, "after a step")
			require.NoError(t, r.Close())
		}
		t.Logf("%d tokens: %d bytes of weights, heap %d, Footprint %d, %d, %d", tokens, p.stored, grown, kept,
			loaded, bound)
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, d.Close())
		require.NoError(t, b.Close())
	}
}
