package decoderbench

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Shape is the shape of a model.
type Shape struct {
	Name string
	decodertest.Spec
}

// Shapes lists the shapes: that of Llama 3.2 1B, and a tiny one for tests. Groups of weights share a scale; each
// weight has 4 bits.
func Shapes() []Shape {
	all := []Shape{
		{"llama-3.2-1b", decodertest.Spec{Hidden: 2048, Intermediate: 8192, Layers: 16, Heads: 32, KVHeads: 8,
			HeadDim: 64, Vocabulary: 128256, Positions: 131072, Group: 64}},
		{"tiny", decodertest.Spec{Hidden: 64, Intermediate: 128, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 16,
			Vocabulary: 128, Positions: 8192, Group: 32}},
	}
	for i := range all {
		s := &all[i]
		s.Family, s.Tied, s.Bits = decodertest.Llama3, true, 4
		s.Config = map[string]any{"eos_token_id": nil, "rope_scaling": map[string]any{"factor": 32.0,
			"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": s.Positions / 16,
			"rope_type": "llama3"}}
	}
	return all
}

// Find returns the shape of a name.
func Find(name string) (Shape, bool) {
	i := slices.IndexFunc(Shapes(), func(s Shape) bool { return s.Name == name })
	if i < 0 {
		return Shape{}, false
	}
	return Shapes()[i], true
}

// Products is the number of multiplications by weights that a prompt of n tokens takes: the logits are those of its
// last token. Attention has more, by keys and values.
func (s Shape) Products(n int) int64 {
	layer := s.Hidden * (2*(s.Heads+s.KVHeads)*s.HeadDim + 3*s.Intermediate)
	return int64(n)*int64(s.Layers*layer) + int64(s.Vocabulary*s.Hidden)
}

// Make writes a model of random weights in groups of integers, as MLX packs them, to the folder dir.
func Make(dir string, s Shape) error {
	return step.Catch(func() {
		config, tensors := decodertest.Describe(s.Spec)
		text := step.Must(json.MarshalIndent(config, "", " "))
		step.NoError(os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600))
		w := step.Must(safetensors.Create(filepath.Join(dir, "model.safetensors"), map[string]string{"format": "mlx"}))
		defer w.Abort()
		random := rand.NewChaCha8([32]byte{1})
		for _, t := range tensors {
			if !t.Packed {
				step.NoError(w.Add(t.Name, safetensors.BF16, t.Shape, bf16(t.Shape[0], 1)))
				continue
			}
			rows, columns, name := t.Shape[0], t.Shape[1], strings.TrimSuffix(t.Name, ".weight")
			words, groups := make([]byte, rows*columns*s.Bits/8), []int{rows, columns / s.Group}
			_, _ = random.Read(words)                 // it does not fail
			spread := math.Sqrt(3 / float64(columns)) // each weight is between -spread and spread
			step.NoError(w.Add(t.Name, safetensors.U32, []int{rows, columns * s.Bits / 32}, words))
			step.NoError(w.Add(name+".scales", safetensors.BF16, groups, bf16(rows*groups[1], 2*spread/float64(int(1)<<s.Bits-1))))
			step.NoError(w.Add(name+".biases", safetensors.BF16, groups, bf16(rows*groups[1], -spread)))
		}
		step.NoError(w.Close())
	})
}

// bf16 returns n times v.
func bf16(n int, v float64) []byte {
	bits := math.Float32bits(float32(v)) >> 16
	return slices.Repeat([]byte{byte(bits), byte(bits >> 8)}, n)
}
