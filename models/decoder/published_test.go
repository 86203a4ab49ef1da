package decoder

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Folders with the keys and tensors that published ones have, beside those of the families' tests.
func TestFoldersAsPublished(t *testing.T) {
	effort.SkipShort(t)
	llama3 := map[string]any{"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
		"original_max_position_embeddings": 8192, "rope_type": "llama3"}
	with := func(m map[string]any, key string, value any) map[string]any {
		m = maps.Clone(m)
		m[key] = value
		return m
	}
	mlx := func(group int) decodertest.Spec {
		return decodertest.Spec{Family: decodertest.Llama3, Tied: true, Bits: 4, Group: group, Hidden: 128,
			Intermediate: 256, Heads: 4, KVHeads: 2, DType: safetensors.BF16, Positions: 131072}
	}
	mixed := mlx(64)
	mixed.Tied, mixed.Shards = false, 2
	mixed.Overrides = map[string]int{"model.embed_tokens": 8, "lm_head": 6, "model.layers.0.self_attn.v_proj": 8,
		"model.layers.1.mlp.down_proj": 0, "model.layers.1.mlp.up_proj": 4}
	mixed.Groups = map[string]int{"model.embed_tokens": 32, "model.layers.0.self_attn.v_proj": 128,
		"model.layers.1.mlp.up_proj": 32}
	all := map[string]decodertest.Spec{
		"Llama 3.2, tied": {Family: decodertest.Llama3, Tied: true, Heads: 8, KVHeads: 2, Positions: 131072,
			Config: map[string]any{"rope_scaling": llama3, "head_dim": 8, "pretraining_tp": 1,
				"eos_token_id": []int{2, 3, 5}}},
		"Llama 3.2, newer keys": {Family: decodertest.Llama3, Tied: true, Positions: 131072, Config: map[string]any{
			"rope_scaling": nil, "rope_theta": nil, "dtype": "bfloat16", "torch_dtype": nil,
			"rope_parameters": with(llama3, "rope_theta", 500000.0)}},
		"Qwen 2.5, tied": {Family: decodertest.Qwen2, Tied: true, Heads: 4, KVHeads: 1, Shards: 3,
			Config: map[string]any{
				"use_mrope": false, "sliding_window": 32768, "max_window_layers": 1, "use_sliding_window": false,
				"layer_types": []string{"full_attention", "full_attention"}, "rope_scaling": nil}},
		"Qwen 3, wide heads": {Family: decodertest.Qwen3, Tied: true, Heads: 4, KVHeads: 2, HeadDim: 48,
			Config: map[string]any{"max_window_layers": 2, "sliding_window": nil, "attention_dropout": 0.0}},
		"Qwen 3, narrow heads": {Family: decodertest.Qwen3, Heads: 2, KVHeads: 1, HeadDim: 16, Config: map[string]any{
			"rope_theta": nil, "rope_scaling": nil,
			"rope_parameters": map[string]any{"rope_theta": 1000000.0, "rope_type": "default"}}},
		"TinyLlama": {Family: decodertest.TinyLlama, Heads: 8, KVHeads: 1, DType: safetensors.F32, Shards: 2},
		"MLX 32":    mlx(32), "MLX 64": mlx(64), "MLX 128": mlx(128), "MLX, mixed": mixed,
		"base model": {Family: decodertest.Llama2, Bare: true, Tied: true},
		"base model, shards": {Family: decodertest.Qwen2, Bare: true, Shards: 2, Bits: 4, Overrides: map[string]int{
			"model.layers.0.mlp.up_proj": 8}},
	}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		for f, form := range []Form{Engine, Compact} {
			if !effort.Sample(i+f, 18) {
				continue
			}
			t.Run(fmt.Sprint(name, " ", form), func(t *testing.T) {
				want, m := open(t, engine.Soft, all[name], WithForm(form), Context(70))
				teach(t, want, m)
			})
		}
	}
}
