package decoderbench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/unimem/safetensors"
)

// Shape is the shape of a model.
type Shape struct {
	Name                         string
	Hidden, Intermediate, Layers int
	Heads, KVHeads, HeadDim      int
	Vocabulary, Positions        int
	Group                        int // weights that share a scale; each has 4 bits
}

// Shapes lists the shapes by name: that of Llama 3.2 1B, and a tiny one for tests.
func Shapes() []Shape {
	return []Shape{
		{"llama-3.2-1b", 2048, 8192, 16, 32, 8, 64, 128256, 131072, 64},
		{"tiny", 64, 128, 2, 4, 2, 16, 128, 8192, 32},
	}
}

// Find returns the shape of a name.
func Find(name string) (Shape, bool) {
	for _, s := range Shapes() {
		if s.Name == name {
			return s, true
		}
	}
	return Shape{}, false
}

// KVBytes is the size of the keys and values of a token in fp16.
func (s Shape) KVBytes() int64 { return int64(2*s.Layers*s.KVHeads*s.HeadDim) * 2 }

// Weights is the number of weights of the layers and of the logits, each of which a step multiplies once.
func (s Shape) Weights() int64 { return s.layers() + s.logits() }

// Products is the number of multiplications by weights that a prompt of n tokens takes: the logits are those of its
// last token. Attention has more, by keys and values.
func (s Shape) Products(n int) int64 { return int64(n)*s.layers() + s.logits() }

func (s Shape) layers() int64 {
	q, kv := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	return int64(s.Layers) * int64(s.Hidden) * int64(2*q+2*kv+3*s.Intermediate)
}

func (s Shape) logits() int64 { return int64(s.Vocabulary) * int64(s.Hidden) }

// config is config.json, with the keys of Llama 3.2.
func (s Shape) config() map[string]any {
	return map[string]any{
		"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "hidden_act": "silu",
		"hidden_size": s.Hidden, "intermediate_size": s.Intermediate, "num_hidden_layers": s.Layers,
		"num_attention_heads": s.Heads, "num_key_value_heads": s.KVHeads, "head_dim": s.HeadDim,
		"vocab_size": s.Vocabulary, "max_position_embeddings": s.Positions, "rms_norm_eps": 1e-5,
		"tie_word_embeddings": true, "rope_theta": 500000.0, "eos_token_id": nil,
		"rope_scaling": map[string]any{"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
			"original_max_position_embeddings": s.Positions / 16, "rope_type": "llama3"},
		"quantization": map[string]any{"group_size": s.Group, "bits": 4},
	}
}

// Make writes a model of random weights in groups of 4 bits, as MLX packs them, to the folder dir.
func Make(dir string, s Shape) error {
	text, err := json.MarshalIndent(s.config(), "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600); err != nil {
		return err
	}
	w, err := safetensors.Create(filepath.Join(dir, "model.safetensors"), map[string]string{"format": "mlx"})
	if err != nil {
		return err
	}
	m := maker{w: w, group: s.Group, random: rand.NewChaCha8([32]byte{1})}
	m.packed("model.embed_tokens", s.Vocabulary, s.Hidden)
	for i := range s.Layers {
		at := fmt.Sprintf("model.layers.%d.", i)
		m.ones(at+"input_layernorm.weight", s.Hidden)
		m.packed(at+"self_attn.q_proj", s.Heads*s.HeadDim, s.Hidden)
		m.packed(at+"self_attn.k_proj", s.KVHeads*s.HeadDim, s.Hidden)
		m.packed(at+"self_attn.v_proj", s.KVHeads*s.HeadDim, s.Hidden)
		m.packed(at+"self_attn.o_proj", s.Hidden, s.Heads*s.HeadDim)
		m.ones(at+"post_attention_layernorm.weight", s.Hidden)
		m.packed(at+"mlp.gate_proj", s.Intermediate, s.Hidden)
		m.packed(at+"mlp.up_proj", s.Intermediate, s.Hidden)
		m.packed(at+"mlp.down_proj", s.Hidden, s.Intermediate)
	}
	m.ones("model.norm.weight", s.Hidden)
	if m.err != nil {
		return m.err // the writer has removed what it wrote
	}
	return w.Close()
}

// maker writes tensors until the first error.
type maker struct {
	w      *safetensors.Writer
	group  int
	random *rand.ChaCha8
	err    error
}

func (m *maker) add(name string, d safetensors.DType, shape []int, data []byte) {
	if m.err == nil {
		m.err = m.w.Add(name, d, shape, data)
	}
}

// ones adds a vector of ones.
func (m *maker) ones(name string, n int) { m.add(name, safetensors.BF16, []int{n}, bf16(n, 1)) }

// packed adds a matrix: each weight is between -spread and spread.
func (m *maker) packed(name string, rows, columns int) {
	words := make([]byte, rows*columns/2)
	_, _ = m.random.Read(words) // it does not fail
	spread := math.Sqrt(3 / float64(columns))
	n := rows * columns / m.group
	m.add(name+".weight", safetensors.U32, []int{rows, columns / 8}, words)
	m.add(name+".scales", safetensors.BF16, []int{rows, columns / m.group}, bf16(n, spread/7.5))
	m.add(name+".biases", safetensors.BF16, []int{rows, columns / m.group}, bf16(n, -spread))
}

// bf16 returns n times v.
func bf16(n int, v float64) []byte {
	b := make([]byte, 0, 2*n)
	for range n {
		b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(v))>>16))
	}
	return b
}
