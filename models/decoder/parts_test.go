package decoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// inSteps rounds numbers so that int8 with a step for each row holds them as they are, however the rows are cut.
func inSteps(name string, values []float64) {
	if len(values) < 1000 {
		return // of a norm, or a bias
	}
	step := math.Exp2(math.Round(math.Log2(4 * math.Abs(values[1]) / 127)))
	step = max(min(step, 1.0/256), 1.0/2048)
	for i, v := range values {
		values[i] = step * max(min(math.Round(v/step), 127), -127)
		if i%32 == 0 {
			values[i] = step * 127 * float64(1-i/32%2*2)
		}
	}
}

// Layers beyond the limit of a program are cut: attention by heads, then by queries, and the feed-forward network.
func TestPartsOfLayers(t *testing.T) {
	effort.SkipShort(t)
	for i, c := range []struct {
		family          decodertest.Family
		heads, kv, dim  int
		limit           int64
		caches, queries int
	}{
		{decodertest.Llama3, 4, 2, 0, 30 << 10, 1, 1},
		{decodertest.Qwen3, 8, 4, 0, 56 << 10, 2, 1},
		{decodertest.Qwen2, 8, 2, 16, 14 << 10, 2, 2},
		{decodertest.TinyLlama, 4, 4, 0, 13000, 4, 1},
	} {
		for f, form := range []Form{Engine, EngineInt8} {
			if !effort.Sample(i+2*f, 12) {
				continue
			}
			t.Run(fmt.Sprint(c.family, form), func(t *testing.T) {
				s := decodertest.Spec{Family: c.family, Heads: c.heads, KVHeads: c.kv, HeadDim: c.dim,
					Seed: uint64(i), Intermediate: 160, DType: safetensors.F32, Tied: i%2 == 0}
				if form == EngineInt8 {
					s.Weights = inSteps
				}
				want, m := open(t, engine.Soft, s, WithForm(form), Context(100), Chunk(64), programBytes(c.limit))
				teach(t, want, m)
				plan := m.Plan()
				require.Equal(t, []int{c.caches, c.queries}, []int{m.parts.caches, m.parts.queries}, "%+v", plan)
				for _, p := range plan.Programs {
					require.LessOrEqual(t, p.WeightBytes, c.limit, p.Name)
				}
				require.Equal(t, 5, plan.Compiles, "attention and feed-forward network for steps and chunks, logits")
			})
		}
	}
}

// More programs than can be loaded at once are loaded in turns.
func TestProgramsInTurns(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{Layers: 8, DType: safetensors.F16, Intermediate: 320},
		Context(40), programBytes(20<<10))
	plan := m.Plan()
	require.Greater(t, plan.Turns, 1, "%+v", plan)
	require.Equal(t, 54, plan.Loads, "one place is for the others")
	require.Equal(t, 32, plan.Chunk)
	tokens := text(40, want.Vocabulary, 9)
	logits := exact(want, tokens)
	limit := bound(want, tokens, logits)
	session := begin(t, m)
	require.NoError(t, session.Prefill(t.Context(), tokens[:39]))
	require.NoError(t, session.Step(t.Context(), tokens[39]))
	d, _ := most(session.Logits(), logits[39])
	require.LessOrEqual(t, d, limit)
}

// An engine that refuses what a chip refuses, and broker, take programs of parts and of int8.
func TestEnginesTakeParts(t *testing.T) {
	leaktest.SkipEmulated(t)
	dir := t.TempDir()
	want, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Weights: inSteps,
		DType: safetensors.F32})
	require.NoError(t, err)
	tokens := text(8, want.Vocabulary, 1)
	logits := exact(want, tokens)
	limit := bound(want, tokens, logits)
	try := func(m *Model) {
		s, err := m.NewSession()
		require.NoError(t, err)
		require.NoError(t, s.Prefill(t.Context(), tokens))
		diff, _ := most(s.Logits(), logits[7])
		require.LessOrEqual(t, diff, limit, m.Receipt().Engine)
		require.NoError(t, s.Close())
	}
	if brokertest.Here() {
		try(load(t, engine.Broker, dir, WithForm(EngineInt8), Context(100), programBytes(20<<10)))
	}
	for i, c := range chip.All() {
		if !effort.Sample(i, 12) {
			continue
		}
		d, err := engine.Open(t.Context(), engine.Soft, engine.Emulate(c))
		require.NoError(t, err)
		f, err := Open(dir)
		require.NoError(t, err)
		m, err := Load(t.Context(), d, f, Chip(c), Context(100), WithForm(EngineInt8), programBytes(20<<10))
		require.NoError(t, err, c)
		try(m)
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, f.Close())
		require.NoError(t, d.Close())
	}
}

// The elements of int8 are within half a step of the row.
func TestInt8IsTheNearestStep(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Bits: 4, Seed: 2})
	require.NoError(t, err)
	f, err := Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	memory, err := unimem.Start(0, unimem.InBlocks(1))
	require.NoError(t, err)
	defer func() { require.NoError(t, memory.Close()) }()
	s := &store{folder: f, memory: memory, made: map[request]*elements{}}
	w := f.weights["model.layers.0.mlp.down_proj"]
	r := request{module: w.name, kind: bytes8, columns: extent{64, 128}}
	e, err := s.get(r)
	require.NoError(t, err)
	r.kind = steps8
	steps, err := s.get(r)
	require.NoError(t, err)
	row := make([]float32, 32)
	for i := range w.out {
		w.part(row, i, 64)
		step := fp16At(steps.data, i)
		for j, v := range row {
			require.InDelta(t, v, step*float32(int8(e.data[64*i+j])), float64(step)*0.5001)
		}
		require.Zero(t, e.data[64*i+32], "after the last column")
	}
}

func fp16At(data []byte, i int) float32 {
	return fp16.Bits(binary.LittleEndian.Uint16(data[2*i:])).Float32()
}
