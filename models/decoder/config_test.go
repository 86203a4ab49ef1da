package decoder

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/decodertest"
)

func TestConfigsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]any
		kind   error
		words  []string
	}{
		"architecture": {map[string]any{"architectures": []string{"MambaForCausalLM"}}, ErrArchitecture,
			[]string{"architectures", "MambaForCausalLM", "LlamaForCausalLM", "MistralForCausalLM (Llama by another name)",
				"by name alone"}},
		"model type": {map[string]any{"architectures": nil, "model_type": "gpt2"}, ErrArchitecture,
			[]string{"model_type", "gpt2"}},
		"activation": {map[string]any{"hidden_act": "gelu"}, ErrConfig, []string{"hidden_act", "gelu", "silu"}},
		"rope type": {map[string]any{"rope_scaling": map[string]any{"rope_type": "longrope", "factor": 2.0}}, ErrConfig,
			[]string{"rope_scaling", "rope_type", "longrope"}},
		"rope type of a newer file": {map[string]any{"rope_scaling": nil,
			"rope_parameters": map[string]any{"rope_type": "su", "factor": 2.0}}, ErrConfig,
			[]string{"rope_parameters", "rope_type", "su"}},
		"no factor": {map[string]any{"rope_scaling": map[string]any{"type": "linear"}}, ErrConfig, []string{"factor"}},
		"llama3 without frequencies": {map[string]any{
			"rope_scaling": map[string]any{"rope_type": "llama3", "factor": 8.0}}, ErrConfig,
			[]string{"low_freq_factor"}},
		"rope_scaling is a number": {map[string]any{"rope_scaling": 7}, ErrConfig, []string{"rope_scaling"}},
		"no layers":                {map[string]any{"num_hidden_layers": 0}, ErrConfig, []string{"num_hidden_layers"}},
		"no hidden size":           {map[string]any{"hidden_size": nil}, ErrConfig, []string{"hidden_size"}},
		"hidden size is a text":    {map[string]any{"hidden_size": "64"}, ErrConfig, []string{"hidden_size", "string"}},
		"heads": {map[string]any{"num_key_value_heads": 3}, ErrConfig,
			[]string{"num_key_value_heads", "3"}},
		"odd head": {map[string]any{"head_dim": 15}, ErrConfig, []string{"head_dim", "15"}},
		"epsilon":  {map[string]any{"rms_norm_eps": -1}, ErrConfig, []string{"rms_norm_eps"}},
		"window":   {map[string]any{"use_sliding_window": true}, ErrConfig, []string{"use_sliding_window"}},
		"window of tokens": {map[string]any{"architectures": []string{"MistralForCausalLM"}, "sliding_window": 511},
			ErrConfig, []string{"sliding_window", "window of 511 tokens", "512 positions", "to null"}},
		"window where none is told": {map[string]any{"architectures": nil, "model_type": "mistral",
			"max_position_embeddings": 4097}, ErrConfig, []string{"sliding_window", "4096"}},
		"window that is a text": {map[string]any{"architectures": []string{"MistralForCausalLM"}, "sliding_window": "x"},
			ErrConfig, []string{"sliding_window", "number of tokens"}},
		"partial rotations": {map[string]any{"partial_rotary_factor": 0.5}, ErrConfig,
			[]string{"partial_rotary_factor"}},
		"layers with windows": {map[string]any{"layer_types": []string{"full_attention", "sliding_attention"}}, ErrConfig,
			[]string{"layer_types", "sliding_attention"}},
		"rotations of no type": {map[string]any{"rope_scaling": map[string]any{"factor": 4.0}}, ErrConfig,
			[]string{"rope_scaling", "rope_type"}},
		"rotations by layer": {map[string]any{"rope_scaling": nil,
			"rope_parameters": map[string]any{"full_attention": map[string]any{"rope_theta": 1e6},
				"sliding_attention": map[string]any{"rope_theta": 1e4}}}, ErrConfig,
			[]string{"rope_parameters", "full_attention"}},
		"rotations of other layers": {map[string]any{"rope_scaling": nil,
			"rope_parameters": map[string]any{"sliding_attention": map[string]any{"rope_theta": 1e6}}}, ErrConfig,
			[]string{"rope_parameters", "sliding_attention"}},
		"two factors": {map[string]any{"rope_scaling": map[string]any{"type": "linear", "factor": 4.0},
			"rope_parameters": map[string]any{"rope_type": "linear", "factor": 2.0}}, ErrConfig,
			[]string{"rope_parameters", `"factor" is 2, rope_scaling has 4`}},
		"two types": {map[string]any{"rope_scaling": map[string]any{"rope_type": "default"},
			"rope_parameters": map[string]any{"rope_type": "linear", "factor": 2.0}}, ErrConfig,
			[]string{"rope_parameters", `"rope_type" is "linear", rope_scaling has "default"`}},
		"rope_parameters is a list": {map[string]any{"rope_scaling": map[string]any{},
			"rope_parameters": []any{}}, ErrConfig, []string{"rope_parameters"}},
		"theta": {map[string]any{"rope_theta": 0}, ErrConfig, []string{"rope_theta"}},
		"end":   {map[string]any{"eos_token_id": "x"}, ErrConfig, []string{"eos_token_id"}},
		"no end in a list": {map[string]any{"eos_token_id": []any{2, nil}}, ErrConfig,
			[]string{"eos_token_id", "list of numbers"}},
		"method": {map[string]any{"quantization_config": map[string]any{"quant_method": "awq", "bits": 4}}, ErrConfig,
			[]string{"quantization_config", "awq"}},
		"bits": {map[string]any{"quantization": map[string]any{"group_size": 32, "bits": 7}}, ErrConfig,
			[]string{"bits", "7"}},
		"group": {map[string]any{"quantization": map[string]any{"group_size": 17, "bits": 4}}, ErrConfig,
			[]string{"group_size", "17"}},
		"mode": {map[string]any{"quantization": map[string]any{"group_size": 32, "bits": 4, "mode": "mxfp4"}},
			ErrConfig,
			[]string{"mode", "mxfp4"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Config: c.change})
			require.NoError(t, err)
			_, err = Open(dir)
			one(t, err, c.kind, append(c.words, "config.json")...)
		})
	}
}

// Mistral without a window, or with one that no conversation exceeds, is Llama; other families have no window.
func TestMistralIsLlama(t *testing.T) {
	open := func(change map[string]any) Config {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama2, Config: change})
		require.NoError(t, err)
		f, err := Open(dir)
		require.NoError(t, err)
		defer f.Close()
		return f.Config()
	}
	want := open(map[string]any{"sliding_window": 5})
	require.Equal(t, "LlamaForCausalLM", want.Architecture)
	want.Architecture = "MistralForCausalLM"
	for _, window := range []any{jsontext.Value("null"), 512, 4096} {
		require.Equal(t, want, open(map[string]any{"architectures": []string{want.Architecture}, "model_type": "mistral",
			"sliding_window": window}), "%v", window)
	}
	require.Equal(t, want, open(map[string]any{"architectures": nil, "model_type": "mistral"}), "the default: 4096")
}

func TestFaultsOfJSONAreInItsWords(t *testing.T) {
	for _, text := range []string{`{"hidden_size": "64"}`, `{"architectures": {}}`, "[]", `{"vocab_size": 1.5}`} {
		_, err := parseConfig([]byte(text))
		one(t, err, ErrConfig, "JSON")
		require.NotContains(t, err.Error(), "Go ", text)
	}
}

func TestRoomOfHugeNumbers(t *testing.T) {
	one(t, Config{Positions: 8}.Room(2, math.MaxInt), ErrTooLong, "9223372036854775807")
}

func TestContextsBeyondATensor(t *testing.T) {
	c := Config{Positions: 1 << 28, KVHeads: 2, HeadDim: 16}
	for tokens, ok := range map[int]bool{1 << 26: true, 1<<26 + 1: false, 1 << 28: false} {
		o := options{form: Compact, context: tokens}
		if err := o.settle(c); !ok {
			one(t, err, ErrTooLong, "67108864")
		} else {
			require.NoError(t, err)
		}
	}
}

// Defaults of the family and the tokens of generation_config.json complete config.json.
func TestConfigsThatAreCompleted(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Qwen3, HeadDim: 128,
		Config: map[string]any{"head_dim": nil}})
	require.NoError(t, err)
	path := filepath.Join(dir, "generation_config.json")
	for text, want := range map[string][]int{"": {2}, `{"eos_token_id": [7, 9]}`: {7, 9}, `{"eos_token_id": 5}`: {5},
		`{"eos_token_id": null}`: {2}, `{"top_p": 0.9}`: {2}} {
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		f, err := Open(dir)
		require.NoError(t, err)
		require.Equal(t, 128, f.Config().HeadDim)
		require.Equal(t, want, f.Config().EOS, text)
		require.NoError(t, f.Close())
		require.NoError(t, os.RemoveAll(path))
	}
	for _, text := range []string{`{`, `[]`, `{"eos_token_id": "x"}`} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := Open(dir)
		one(t, err, ErrConfig, "generation_config.json")
	}
}

// Every number of config.json that a fingerprint is for changes it; so does one bit of the weights.
func TestFingerprint(t *testing.T) {
	prints := map[any]bool{}
	add := func(s decodertest.Spec) {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, s)
		require.NoError(t, err)
		f, err := Open(dir)
		require.NoError(t, err)
		p, err := f.Fingerprint(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, p.Model)
		require.NotEmpty(t, p.Weights)
		prints[p] = true
		require.NoError(t, f.Close())
	}
	add(decodertest.Spec{})
	add(decodertest.Spec{})
	require.Len(t, prints, 1, "equal models have one fingerprint")
	for i, s := range []decodertest.Spec{
		{Seed: 1},
		{Config: map[string]any{"rms_norm_eps": 1e-6}},
		{Config: map[string]any{"rope_theta": 20000.0}},
		{Weights: func(name string, values []float64) {
			if name == "model.norm.weight" {
				values[7] *= 1.01
			}
		}},
		{Tokenizer: []byte("{}")},
	} {
		add(s)
		require.Len(t, prints, i+2)
	}
}

// Keys of config.json that this package does not know change nothing.
func FuzzConfig(f *testing.F) {
	for _, family := range decodertest.Families() {
		m, err := decodertest.Write(f.TempDir(), decodertest.Spec{Family: family, Bits: 4})
		if err != nil {
			f.Fatal(err)
		}
		text, err := json.Marshal(m.JSON)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		more := maps.Clone(m.JSON)
		more["rope_scaling"] = map[string]any{"rope_type": "yarn", "factor": 2.0}
		if text, err = json.Marshal(more); err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseConfig(text)
		if err != nil {
			fault := (*Error)(nil)
			require.ErrorAs(t, err, &fault)
			return
		}
		require.Positive(t, c.HeadDim)
		require.Zero(t, c.Heads%c.KVHeads)
		if c.HeadDim < 1000 {
			for _, f := range c.rope.frequencies(c.HeadDim, 5) {
				require.False(t, math.IsNaN(f))
			}
		}
	})
}

// Without tie_word_embeddings, a model without a matrix of the logits takes that of the embedding; with false it lacks
// one.
func TestMatrixOfLogitsThatIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		key  any
		want bool
	}{{nil, true}, {false, false}} {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Seed: 1, Tied: true,
			Config: map[string]any{"tie_word_embeddings": c.key}})
		require.NoError(t, err)
		f, err := Open(dir)
		if !c.want {
			one(t, err, ErrWeights, "lm_head")
			continue
		}
		require.NoError(t, err)
		require.True(t, f.Config().Tied)
		require.NoError(t, f.Close())
	}
}

// A module's own object may leave out what MLX has by default.
func TestOverridesWithDefaults(t *testing.T) {
	for text, want := range map[string]groups{
		`{"bits": 8}`:        {Size: 64, Bits: 8},
		`{"group_size": 32}`: {Size: 32, Bits: 4},
		`{}`:                 {Size: 64, Bits: 4},
		`false`:              {},
	} {
		f := fileConfig{Quantization: jsontext.Value(`{"bits": 6, "group_size": 128, "x": 1, "m": ` + text + "}")}
		q, err := f.quantization()
		require.NoError(t, err)
		require.Equal(t, map[string]groups{"m": want}, q.layers)
		require.Equal(t, groups{Size: 128, Bits: 6}, q.groups)
	}
}

// rope_scaling and rope_parameters count both, and the settings of all layers may be those of full_attention.
func TestRotationsOfTwoKeys(t *testing.T) {
	linear := map[string]any{"rope_type": "linear", "factor": 4.0}
	for name, change := range map[string]map[string]any{
		"an empty rope_scaling": {"rope_scaling": map[string]any{},
			"rope_parameters": map[string]any{"rope_type": "linear", "factor": 4.0, "rope_theta": 500.0}},
		"both": {"rope_scaling": linear,
			"rope_parameters": map[string]any{"rope_type": "linear", "factor": 4.0, "rope_theta": 500.0}},
		"a base alone": {"rope_scaling": map[string]any{"type": "linear", "factor": 4},
			"rope_parameters": map[string]any{"rope_theta": 500.0}},
		"of full_attention": {"rope_scaling": nil, "layer_types": []string{"full_attention", "full_attention"},
			"rope_parameters": map[string]any{
				"full_attention": map[string]any{"rope_type": "linear", "factor": 4.0, "rope_theta": 500.0}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			change["rope_theta"] = nil
			_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Config: change})
			require.NoError(t, err)
			f, err := Open(dir)
			require.NoError(t, err)
			defer f.Close()
			rope := f.Config().rope
			require.Equal(t, ropeLinear, rope.Type)
			require.EqualValues(t, 4, rope.Factor)
			require.EqualValues(t, 500, rope.Theta)
		})
	}
}

func TestTypeOfRotationsCountsBesideNull(t *testing.T) {
	f := fileConfig{Scaling: []byte(`{"type":"linear","rope_type":null,"factor":2}`)}
	_, raw, err := f.rotations()
	require.NoError(t, err)
	require.JSONEq(t, `{"rope_type":"linear","factor":2}`, string(raw))
}
