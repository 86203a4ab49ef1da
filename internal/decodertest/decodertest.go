// Package decodertest writes folders of small random models of the Llama family, for tests of programs that use package
// decoder. config.json has the keys that each family publishes. Weights are fp32, bf16 or fp16, or in groups as MLX
// packs them, in one file or in shards.
//
//	model, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Seed: 1})
//	folder, err := decoder.Open(dir)
//
// The Model has the numbers of every weight as float64, exactly as stored, for a reference that is computed from them.
package decodertest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Family is a family of models.
type Family string

// The families.
const (
	Llama2    Family = "llama2"
	Llama3    Family = "llama3" // rotations scaled by rope_type llama3
	TinyLlama Family = "tinyllama"
	Qwen2     Family = "qwen2" // queries, keys and values have a bias
	Qwen3     Family = "qwen3" // heads of an explicit size, with norms
)

// Families lists the families, for a test of each.
func Families() []Family { return []Family{Llama2, Llama3, TinyLlama, Qwen2, Qwen3} }

// Spec describes a model. Zeros mean a small model of the family.
type Spec struct {
	Family                       Family
	Hidden, Intermediate, Layers int // 64, 96, 2
	Heads, KVHeads, HeadDim      int // 4, of the family, Hidden/Heads
	Vocabulary, Positions        int // 96, 512
	Tied                         bool
	DType                        safetensors.DType // of weights, or of scales and biases: F32, BF16, F16
	Bits, Group                  int               // groups as MLX packs them; Bits 0: none. Group 0: 32
	Shards                       int               // files with an index; 0: one file without
	Seed                         uint64
	Tokenizer                    []byte // tokenizer.json; nil: none
	// Overrides has the bits of single modules, such as "model.layers.0.mlp.down_proj"; 0 bits: not packed.
	Overrides map[string]int
	// Groups has the group of single modules of Overrides.
	Groups map[string]int
	// Bare omits "model." in the names of tensors, as files of the base model do.
	Bare bool
	// Config replaces keys of config.json; nil removes one.
	Config map[string]any
	// Weights changes the numbers of a tensor before they are rounded and packed.
	Weights func(name string, values []float64)
	// Leave omits the tensor of this name.
	Leave string
}

// Model describes what Write has written.
type Model struct {
	Spec                        // with its defaults
	JSON   map[string]any       // config.json
	Values map[string][]float64 // the numbers of each tensor as stored, by its name: "model.norm.weight"
}

// defaults fills in a small model.
func (s *Spec) defaults() {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	if s.Family == "" {
		s.Family = Llama2
	}
	set(&s.Hidden, 64)
	set(&s.Intermediate, 96)
	set(&s.Layers, 2)
	set(&s.Heads, 4)
	switch s.Family {
	case Llama2:
		set(&s.KVHeads, s.Heads)
	case Qwen3:
		set(&s.HeadDim, 32)
	}
	set(&s.KVHeads, max(s.Heads/2, 1))
	set(&s.HeadDim, s.Hidden/s.Heads)
	set(&s.Vocabulary, 96)
	set(&s.Positions, 512)
	set(&s.Group, 32)
	if s.DType == 0 {
		s.DType = safetensors.BF16
	}
}

// config returns config.json with the keys that the family publishes.
func (s *Spec) config() map[string]any {
	c := map[string]any{
		"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "hidden_act": "silu",
		"hidden_size": s.Hidden, "intermediate_size": s.Intermediate, "num_hidden_layers": s.Layers,
		"num_attention_heads": s.Heads, "num_key_value_heads": s.KVHeads, "vocab_size": s.Vocabulary,
		"max_position_embeddings": s.Positions, "rms_norm_eps": 1e-5, "tie_word_embeddings": s.Tied,
		"bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.02, "use_cache": true,
		"torch_dtype": map[safetensors.DType]string{safetensors.F32: "float32", safetensors.BF16: "bfloat16",
			safetensors.F16: "float16"}[s.DType],
	}
	if s.HeadDim != s.Hidden/s.Heads {
		c["head_dim"] = s.HeadDim
	}
	switch s.Family {
	case Llama2:
		c["rope_scaling"], c["pretraining_tp"] = nil, 1
	case TinyLlama:
		c["rope_scaling"], c["rope_theta"], c["attention_bias"] = nil, 10000.0, false
	case Llama3:
		c["rope_theta"], c["attention_bias"], c["mlp_bias"] = 500000.0, false, false
		c["eos_token_id"] = []int{2, 3}
		c["rope_scaling"] = map[string]any{"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
			"original_max_position_embeddings": 32, "rope_type": "llama3"}
	case Qwen2:
		c["architectures"], c["model_type"] = []string{"Qwen2ForCausalLM"}, "qwen2"
		c["rope_theta"], c["rms_norm_eps"] = 1000000.0, 1e-6
		c["use_sliding_window"], c["sliding_window"], c["max_window_layers"] = false, 32768, s.Layers
	case Qwen3:
		c["architectures"], c["model_type"] = []string{"Qwen3ForCausalLM"}, "qwen3"
		c["rope_theta"], c["rms_norm_eps"], c["attention_bias"] = 1000000.0, 1e-6, false
		c["head_dim"], c["use_sliding_window"], c["sliding_window"] = s.HeadDim, false, nil
		c["rope_scaling"] = nil
	}
	if s.Bits > 0 {
		q := map[string]any{"group_size": s.Group, "bits": s.Bits}
		for name, bits := range s.Overrides {
			if q[name] = map[string]any{"group_size": s.group(name), "bits": bits}; bits == 0 {
				q[name] = false
			}
		}
		c["quantization"], c["quantization_config"] = q, q
	}
	for key, value := range s.Config {
		if c[key] = value; value == nil {
			delete(c, key)
		}
	}
	return c
}

// group is the length of the groups of a module.
func (s *Spec) group(module string) int {
	if own := s.Groups[module]; own > 0 {
		return own
	}
	return s.Group
}

// Part is a tensor of a model. A spread of 0 makes factors near 1.
type Part struct {
	Name   string // ends in ".weight" or ".bias"
	Shape  []int
	Spread float64
	Packed bool // if the Spec has Bits
}

// Describe returns config.json and the tensors of a model, for a caller that makes its own numbers.
func Describe(s Spec) (config map[string]any, all []Part) {
	s.defaults()
	return s.config(), s.parts()
}

func (s *Spec) parts() []Part {
	q, kv := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	all := []Part{
		{"model.embed_tokens.weight", []int{s.Vocabulary, s.Hidden}, 1, true},
		{"model.norm.weight", []int{s.Hidden}, 0, false},
	}
	matrix := func(name string, out, in int, gain float64) {
		all = append(all, Part{name + ".weight", []int{out, in}, gain / math.Sqrt(float64(in)), true})
	}
	if !s.Tied {
		matrix("lm_head", s.Vocabulary, s.Hidden, 2)
	}
	for i := range s.Layers {
		at := fmt.Sprintf("model.layers.%d.", i)
		all = append(all, Part{at + "input_layernorm.weight", []int{s.Hidden}, 0, false},
			Part{at + "post_attention_layernorm.weight", []int{s.Hidden}, 0, false})
		matrix(at+"self_attn.q_proj", q, s.Hidden, 1.5)
		matrix(at+"self_attn.k_proj", kv, s.Hidden, 1.5)
		matrix(at+"self_attn.v_proj", kv, s.Hidden, 1)
		matrix(at+"self_attn.o_proj", s.Hidden, q, 1)
		matrix(at+"mlp.gate_proj", s.Intermediate, s.Hidden, 1)
		matrix(at+"mlp.up_proj", s.Intermediate, s.Hidden, 1)
		matrix(at+"mlp.down_proj", s.Hidden, s.Intermediate, 1)
		if s.Family == Qwen2 {
			all = append(all, Part{at + "self_attn.q_proj.bias", []int{q}, 0.3, false},
				Part{at + "self_attn.k_proj.bias", []int{kv}, 0.3, false},
				Part{at + "self_attn.v_proj.bias", []int{kv}, 0.3, false})
		}
		if s.Family == Qwen3 {
			all = append(all, Part{at + "self_attn.q_norm.weight", []int{s.HeadDim}, 0, false},
				Part{at + "self_attn.k_norm.weight", []int{s.HeadDim}, 0, false})
		}
	}
	return all
}

// item is a tensor to write.
type item struct {
	name  string
	dtype safetensors.DType
	shape []int
	data  []byte
}

// Write writes a model to the folder dir, which exists. The same Spec gives the same bytes. The error is that of the
// file system or of safetensors.Writer.
func Write(dir string, s Spec) (*Model, error) {
	s.defaults()
	m := &Model{Spec: s, JSON: s.config(), Values: map[string][]float64{}}
	var items []item
	for i, p := range s.parts() {
		r := rand.New(rand.NewPCG(s.Seed, uint64(i)))
		n := 1
		for _, length := range p.Shape {
			n *= length
		}
		values := make([]float64, n)
		for j := range values {
			if values[j] = r.NormFloat64() * p.Spread; p.Spread == 0 {
				values[j] = 1 + 0.2*r.NormFloat64()
			}
		}
		if s.Weights != nil {
			s.Weights(p.Name, values)
		}
		if p.Name != s.Leave {
			items = append(items, m.store(p, values)...)
		}
	}
	return m, step.Catch(func() {
		writeJSON(filepath.Join(dir, "config.json"), m.JSON)
		if s.Tokenizer != nil {
			step.NoError(os.WriteFile(filepath.Join(dir, "tokenizer.json"), s.Tokenizer, 0o644))
		}
		if s.Bare {
			for i := range items {
				items[i].name = strings.TrimPrefix(items[i].name, "model.")
			}
		}
		s.write(dir, items)
	})
}

func writeJSON(path string, v any) {
	step.NoError(os.WriteFile(path, step.Must(json.MarshalIndent(v, "", "  ")), 0o644))
}

// store rounds or packs a tensor, and keeps the numbers that a reader gets.
func (m *Model) store(p Part, values []float64) []item {
	module := p.Name[:len(p.Name)-len(".weight")]
	bits := m.Bits
	if own, ok := m.Overrides[module]; ok && bits > 0 {
		bits = own
	}
	if !p.Packed || bits == 0 {
		one, stored := m.round(p.Name, p.Shape, values)
		m.Values[p.Name] = stored
		return []item{one}
	}
	out, in := p.Shape[0], p.Shape[1]
	group := m.group(module)
	groups := in / group
	data := make([]byte, out*in*bits/8)
	scales, shifts := make([]float64, out*groups), make([]float64, out*groups)
	for g := range scales {
		scales[g], shifts[g] = span(values[g*group:][:group], bits)
	}
	scale, scales := m.round(module+".scales", []int{out, groups}, scales)
	shift, shifts := m.round(module+".biases", []int{out, groups}, shifts)
	stored := make([]float64, len(values))
	for i, v := range values {
		s, b := scales[i/group], shifts[i/group]
		q := 0.0
		if s != 0 {
			q = min(max(math.Round((v-b)/s), 0), float64(int(1)<<bits-1))
		}
		for bit := range bits {
			data[(i*bits+bit)/8] |= byte(int(q)>>bit&1) << ((i*bits + bit) % 8)
		}
		stored[i] = s*q + b
	}
	m.Values[p.Name] = stored
	return []item{{p.Name, safetensors.U32, []int{out, in * bits / 32}, data},
		scale, shift}
}

// span returns scale and shift of a group as MLX chooses them: the end with the larger magnitude and zero are exact.
func span(values []float64, bits int) (scale, shift float64) {
	low, high := slices.Min(values), slices.Max(values)
	edge := high
	scale = -max(high-low, 1e-7) / float64(int(1)<<bits-1)
	if math.Abs(low) > math.Abs(high) {
		edge, scale = low, -scale
	}
	if q := math.Round(edge / scale); q != 0 {
		return edge / q, edge
	}
	return scale, 0
}

// round makes a tensor of the type of the model, and returns the numbers in it.
func (m *Model) round(name string, shape []int, values []float64) (item, []float64) {
	size := m.DType.Size()
	data, stored := make([]byte, size*len(values)), make([]float64, len(values))
	for i, v := range values {
		var bits uint32
		switch m.DType {
		case safetensors.F32:
			bits, stored[i] = math.Float32bits(float32(v)), float64(float32(v))
		case safetensors.F16:
			h := fp16.FromFloat64(v)
			bits, stored[i] = uint32(h), float64(h.Float32())
		default:
			bits = math.Float32bits(float32(v))
			if !math.IsNaN(v) {
				bits += 0x7fff + bits>>16&1
			}
			bits >>= 16
			stored[i] = float64(math.Float32frombits(bits << 16))
		}
		for b := range size {
			data[i*size+b] = byte(bits >> (8 * b))
		}
	}
	return item{name, m.DType, shape, data}, stored
}

// write writes the tensors to one file, or to shards with an index.
func (s *Spec) write(dir string, items []item) {
	if s.Shards == 0 {
		save(filepath.Join(dir, "model.safetensors"), items)
		return
	}
	index, total := map[string]string{}, 0
	for shard := range s.Shards {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", shard+1, s.Shards)
		own := items[ceil(shard*len(items), s.Shards):ceil((shard+1)*len(items), s.Shards)]
		for _, i := range own {
			index[i.name] = name
			total += len(i.data)
		}
		save(filepath.Join(dir, name), own)
	}
	writeJSON(filepath.Join(dir, "model.safetensors.index.json"),
		map[string]any{"metadata": map[string]int{"total_size": total}, "weight_map": index})
}

func ceil(a, b int) int { return (a + b - 1) / b }

func save(path string, items []item) {
	w := step.Must(safetensors.Create(path, map[string]string{"format": "pt"}, safetensors.NoSync()))
	defer w.Abort()
	for _, i := range items {
		step.NoError(w.Add(i.name, i.dtype, i.shape, i.data))
	}
	step.NoError(w.Close())
}
