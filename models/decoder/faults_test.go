package decoder

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem/safetensors"
)

// one requires an error of a kind on one line, with all of words.
func one(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	fault := (*Error)(nil)
	require.ErrorAs(t, err, &fault)
	require.NotContains(t, err.Error(), "\n")
	for _, w := range words {
		require.ErrorContains(t, err, w)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	write := func(t *testing.T, s decodertest.Spec) string {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, s)
		require.NoError(t, err)
		return dir
	}
	refused := func(t *testing.T, dir string, kind error, words ...string) {
		t.Helper()
		f, err := Open(dir)
		require.Nil(t, f)
		one(t, err, kind, words...)
	}
	t.Run("no folder", func(t *testing.T) {
		refused(t, filepath.Join(t.TempDir(), "none"), ErrConfig, "config.json")
	})
	for name, text := range map[string]string{"no JSON": `{"architectures": [`, "a list": "[]",
		"more": `{} {}`, "bytes": "\x00\xff"} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, decodertest.Spec{})
			require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o644))
			if text == "{} {}" {
				refused(t, dir, ErrConfig, "config.json")
				return
			}
			refused(t, dir, ErrConfig, "config.json", "JSON")
		})
	}
	t.Run("no weights", func(t *testing.T) {
		dir := write(t, decodertest.Spec{})
		require.NoError(t, os.Remove(filepath.Join(dir, "model.safetensors")))
		refused(t, dir, ErrWeights, "no *.safetensors")
	})
	t.Run("missing shard", func(t *testing.T) {
		dir := write(t, decodertest.Spec{Shards: 3})
		require.NoError(t, os.Remove(filepath.Join(dir, "model-00002-of-00003.safetensors")))
		refused(t, dir, ErrWeights, "model-00002-of-00003.safetensors", "missing")
	})
	t.Run("cut shard", func(t *testing.T) {
		dir := write(t, decodertest.Spec{Shards: 2})
		path := filepath.Join(dir, "model-00002-of-00002.safetensors")
		require.NoError(t, os.Truncate(path, 5000))
		refused(t, dir, ErrWeights, "model-00002-of-00002.safetensors", "truncated")
	})
	t.Run("missing tensor", func(t *testing.T) {
		refused(t, write(t, decodertest.Spec{Leave: "model.layers.1.mlp.up_proj.weight"}), ErrWeights,
			"model.layers.1.mlp.up_proj.weight", "no such tensor")
	})
	t.Run("wrong shape", func(t *testing.T) {
		refused(t, write(t, decodertest.Spec{Config: map[string]any{"intermediate_size": 128}}), ErrWeights,
			"model.layers.0.mlp.gate_proj.weight", "[96 64]", "[128 64]", "5 more")
	})
	t.Run("groups without their size", func(t *testing.T) {
		refused(t, write(t, decodertest.Spec{Bits: 4, Config: map[string]any{"quantization": nil,
			"quantization_config": nil}}), ErrWeights, "quantization")
	})
	t.Run("groups of another size", func(t *testing.T) {
		q := map[string]any{"group_size": 64, "bits": 4}
		refused(t, write(t, decodertest.Spec{Bits: 4, Config: map[string]any{"quantization": q}}), ErrWeights, "scales")
	})
}

// Keys of more elements than a tensor may have are refused before a program is built.
// A model with other weights than config.json tells would compute something else than it was trained for.
func TestTensorsWithoutAUse(t *testing.T) {
	for name, c := range map[string]struct {
		family decodertest.Family
		change map[string]any
		tensor string
	}{
		"a layer":  {decodertest.Llama3, map[string]any{"num_hidden_layers": 1}, "model.layers.1."},
		"a bias":   {decodertest.Qwen2, map[string]any{"architectures": []string{"LlamaForCausalLM"}}, "_proj.bias"},
		"the norm": {decodertest.Qwen3, map[string]any{"architectures": []string{"LlamaForCausalLM"}}, "_norm.weight"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := decodertest.Write(dir, decodertest.Spec{Family: c.family})
			require.NoError(t, err)
			path := filepath.Join(dir, configFile)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			var all map[string]any
			require.NoError(t, json.Unmarshal(text, &all))
			maps.Copy(all, c.change)
			text, err = json.Marshal(all)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, text, 0o644))
			f, err := Open(dir)
			require.Nil(t, f)
			one(t, err, ErrWeights, c.tensor, configFile)
		})
	}
}

func TestUsed(t *testing.T) {
	c := Config{Architecture: "LlamaForCausalLM", Layers: 2, Heads: 1, KVHeads: 1, HeadDim: 2, Tied: true}
	used := c.used()
	for name, want := range map[string]bool{
		"model.layers.1.mlp.up_proj.weight": true, "model.layers.1.mlp.up_proj.scales": true,
		"model.layers.0.self_attn.rotary_emb.inv_freq": true, "lm_head.weight": true, "visual.patch.weight": true,
		"model.layers.2.mlp.up_proj.weight": false, "model.layers.0.mlp.up_proj.bias": false,
		"model.layers.0.pre_feedforward_layernorm.weight": false, "lm_head.bias": false, "model.norm.bias": false,
	} {
		require.Equal(t, want, used(name), name)
	}
}

// A weight that is no number is found when the model is loaded, wherever it is.
func TestWeightsThatAreNotFinite(t *testing.T) {
	effort.SkipShort(t)
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for i, c := range []struct {
		tensor, named string
		value         float64
		bits          int
	}{
		{"model.layers.1.mlp.down_proj.weight", "", math.NaN(), 0},
		{"model.layers.0.self_attn.k_proj.bias", "", math.Inf(1), 0},
		{"model.norm.weight", "", math.Inf(-1), 4},
		{"model.embed_tokens.weight", "", math.NaN(), 0},
		{"lm_head.weight", "", 1e6, 0}, // beyond fp16
		{"model.layers.0.self_attn.o_proj.weight", "model.layers.0.self_attn.o_proj.scales", math.Inf(1), 4},
		{"model.embed_tokens.weight", "model.embed_tokens.", math.NaN(), 8},
	} {
		if i%3 != 0 && !effort.Full() {
			continue
		}
		for _, dtype := range []safetensors.DType{safetensors.F32, safetensors.F16} {
			for _, form := range []Form{Engine, Compact} {
				dir := t.TempDir()
				_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Qwen2, Bits: c.bits, DType: dtype,
					Weights: func(name string, values []float64) {
						if name == c.tensor {
							values[len(values)-3] = c.value
						}
					}})
				require.NoError(t, err)
				f, err := Open(dir)
				require.NoError(t, err)
				m, err := Load(t.Context(), d, f, WithForm(form), Context(32))
				require.Nil(t, m)
				if c.named == "" {
					c.named = c.tensor
				}
				one(t, err, ErrNaN, c.named, "element")
				require.NoError(t, f.Close(), "the refused model lets go of the folder")
			}
		}
	}
}

func TestTokensThatAreRefused(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{Positions: 300}, Context(40), Chunk(32))
	s := begin(t, m)
	require.NoError(t, s.Prefill(t.Context(), text(30, want.Vocabulary, 1)))
	logits := append([]float32(nil), s.Logits()...)
	copied := s.Copied()
	one(t, s.Step(t.Context(), want.Vocabulary), ErrVocabulary, "96", "position 30")
	one(t, s.Step(t.Context(), -1), ErrVocabulary, "-1")
	one(t, s.Prefill(t.Context(), []int{1, 2, 1000}), ErrVocabulary, "1000", "position 32")
	one(t, s.Prefill(t.Context(), make([]int, 11)), ErrTooLong, "41", "40")
	require.Equal(t, 30, s.Position(), "nothing has run")
	require.Equal(t, copied, s.Copied())
	require.Equal(t, logits, s.Logits())
	require.NoError(t, s.Prefill(t.Context(), make([]int, 10)))
	one(t, s.Step(t.Context(), 1), ErrTooLong, "41")
	require.NoError(t, s.Prefill(t.Context(), nil))
	require.Error(t, s.Truncate(41))
	require.Error(t, s.Truncate(-1))
	require.Equal(t, 40, s.Position())

	_, err := Load(t.Context(), m.device, m.folder, Context(301))
	one(t, err, ErrTooLong, "301", "300")
	_, err = Load(t.Context(), m.device, m.folder, Chunk(33))
	one(t, err, ErrLimits, "33")
}

// What exceeds a chip is refused with the numbers, before anything is compiled.
func TestModelsBeyondAChip(t *testing.T) {
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for name, c := range map[string]struct {
		spec  decodertest.Spec
		words []string
	}{
		"a head":      {decodertest.Spec{HeadDim: 64}, []string{"32896", "13000"}},
		"a network":   {decodertest.Spec{Hidden: 96}, []string{"18624", "13000"}},
		"the context": {decodertest.Spec{Positions: 20000}, []string{"tokens of an axis", "20224", "16384"}},
	} {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, c.spec)
		require.NoError(t, err)
		f, err := Open(dir)
		require.NoError(t, err)
		opts := []Option{programBytes(13000), Context(f.Config().Positions)}
		_, err = Load(t.Context(), d, f, opts...)
		one(t, err, ErrLimits, c.words...)
		require.NoError(t, f.Close(), name)
	}
}

// A context whose scores no program can have is refused as a limit, by the first pass that sees it.
func TestContextsBeyondAProgram(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Positions: 1 << 28})
	require.NoError(t, err)
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	f, err := Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	m, err := Load(t.Context(), d, f, WithForm(Compact), Context(1<<24))
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	all := m.layersOf[4*len(m.shown)-2] // passes of 32 that see the whole room
	one(t, m.complete(t.Context(), "prefill", all), ErrLimits, "intermediate values", "smaller Context")
	require.Empty(t, all.models)
}

func TestOrderOfClosing(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{})
	require.NoError(t, err)
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	f, err := Open(dir)
	require.NoError(t, err)
	m, err := Load(t.Context(), d, f, Context(32))
	require.NoError(t, err)
	s, err := m.NewSession()
	require.NoError(t, err)
	one(t, f.Close(), ErrInUse)
	one(t, m.Close(t.Context()), ErrInUse)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	one(t, s.Step(t.Context(), 1), ErrClosed)
	one(t, f.Close(), ErrInUse)
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, m.Close(t.Context()))
	_, err = m.NewSession()
	one(t, err, ErrClosed)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	_, err = Load(t.Context(), d, f)
	one(t, err, ErrClosed)
	_, err = f.Fingerprint(t.Context())
	one(t, err, ErrClosed)
	require.NoError(t, d.Close())
}

// The tokens of passes that have ended remain; those of the pass that failed are dropped.
func TestAFailedPassChangesNothing(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{}, Context(100), Chunk(64))
	s := begin(t, m)
	tokens := text(90, want.Vocabulary, 2)
	require.NoError(t, s.Prefill(t.Context(), tokens[:20]))
	require.NoError(t, m.layersOf[0].models[0].Unload(t.Context()))
	require.ErrorIs(t, s.Step(t.Context(), 1), ane.ErrNotLoaded)
	require.Equal(t, tokens[:20], s.Tokens())
	require.Equal(t, 20, s.Cache().Len())
	require.Nil(t, s.Logits())
	require.NoError(t, m.head.models[0].Unload(t.Context()))
	require.ErrorIs(t, s.Prefill(t.Context(), tokens[20:]), ane.ErrNotLoaded, "the second chunk needs logits")
	require.Equal(t, tokens[:84], s.Tokens(), "the first chunk remains")
	require.NoError(t, m.layersOf[0].models[0].Load(t.Context()))
	require.NoError(t, m.head.models[0].Load(t.Context()))
	require.NoError(t, s.Prefill(t.Context(), tokens[84:]))
	again := begin(t, m)
	require.NoError(t, again.Prefill(t.Context(), tokens[:20]))
	require.NoError(t, again.Prefill(t.Context(), tokens[20:84]))
	require.NoError(t, again.Prefill(t.Context(), tokens[84:]))
	require.Equal(t, again.Logits(), s.Logits())
}

// What stands in the place of a file is called what it is.
func TestPlaceholdersAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"": "config.json cannot be used: it is empty; get the file again",
		"version https://git-lfs.github.com/spec/v1\nsize 9\n": "it is a Git LFS pointer to a file of 9 bytes; run git lfs " +
			"pull in its repository",
		"<html></html>": "it is an HTML page; download the file again",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600))
		_, err := Open(dir)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, want)
	}
	t.Chdir(t.TempDir())
	_, err := Open("org/name")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "it is no path, but may be the id of a model on a hub")
	dir := t.TempDir()
	_, err = decodertest.Write(dir, decodertest.Spec{})
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "pytorch_model.bin")))
	_, err = Open(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "but PyTorch files: file does not exist; save the model with save_pretrained")
}
