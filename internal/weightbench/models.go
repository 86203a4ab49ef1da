package weightbench

import (
	_ "embed" // the tables
	"encoding/json"
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/internal/decodertest"
)

// Model is a model of the paper, scaled to a size.
type Model struct {
	Name       string `json:"model"`      // such as qwen3-8b-4bit
	Layers     int    `json:"layers"`     // that it has here
	All        int    `json:"all_layers"` // that it has as published
	Vocabulary int    `json:"vocabulary"` // smaller than published if one layer does not fit otherwise

	spec decodertest.Spec
}

// Models lists Qwen3 4B, 8B and 14B with weights of 3, 4, 6 and 8 bits in groups of 64, and a tiny one for tests.
func Models() (all []Model) {
	for _, s := range []struct {
		name                         string
		hidden, inner, layers, heads int
		tied                         bool
	}{{"4b", 2560, 9728, 36, 32, true}, {"8b", 4096, 12288, 36, 32, false}, {"14b", 5120, 17408, 40, 40, false}} {
		for _, bits := range []int{3, 4, 6, 8} {
			all = append(all, of(fmt.Sprintf("qwen3-%s-%dbit", s.name, bits), decodertest.Spec{Hidden: s.hidden,
				Intermediate: s.inner, Layers: s.layers, Heads: s.heads, KVHeads: 8, HeadDim: 128, Vocabulary: 151936,
				Positions: 40960, Tied: s.tied, Bits: bits, Group: 64}))
		}
	}
	return append(all, of("tiny", decodertest.Spec{Hidden: 64, Intermediate: 128, Layers: 4, Heads: 4, KVHeads: 2,
		HeadDim: 16, Vocabulary: 512, Positions: 8192, Tied: true, Bits: 4, Group: 32}))
}

func of(name string, s decodertest.Spec) Model {
	s.Family = decodertest.Qwen3
	s.Config = map[string]any{"eos_token_id": nil} // so that an answer does not end
	return Model{name, s.Layers, s.Layers, s.Vocabulary, s}
}

// FourBit reports whether the weights have 4 bits, as those of the paper's third suite.
func (m Model) FourBit() bool { return m.spec.Bits == 4 }

// Names lists the names of models.
func Names(all []Model) (names []string) {
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

// Find returns the model of a name.
func Find(name string) (Model, bool) {
	i := slices.Index(Names(Models()), name)
	if i < 0 {
		return Model{}, false
	}
	return Models()[i], true
}

// bytes is about the size of the weights: integers, and a scale and a bias of two bytes for each group.
func (m Model) bytes() int64 {
	s := m.spec
	layer := s.Hidden * (2*(s.Heads+s.KVHeads)*s.HeadDim + 3*s.Intermediate)
	tables := 2
	if s.Tied {
		tables = 1
	}
	weights := int64(m.Layers)*int64(layer) + int64(tables*m.Vocabulary*s.Hidden)
	return weights*int64(s.Bits)/8 + weights/int64(s.Group)*4
}

// Scaled is the model with as many layers as fit in some bytes. Where one layer does not fit, it halves the vocabulary
// until it does.
func (m Model) Scaled(most int64) Model {
	for m.Layers > 1 && m.bytes() > most {
		m.Layers--
	}
	for m.Vocabulary > 64 && m.bytes() > most {
		m.Vocabulary /= 2
	}
	m.spec.Layers, m.spec.Vocabulary = m.Layers, m.Vocabulary
	return m
}

// Make writes the model with random weights to a folder.
func (m Model) Make(dir string) error {
	return decoderbench.Make(dir, decoderbench.Shape{Name: m.Name, Spec: m.spec})
}

//go:embed paper.json
var paper []byte

// Paper has tables of the OptMLX paper, measured with MLX on an M4 Max. Pairs in them are standard loading, by pread,
// and mmap.
type Paper struct {
	Variants json.RawMessage `json:"variants,omitempty"` // tables 1 to 3: models of Qwen3
	Reserve  json.RawMessage `json:"reserve"`            // table 4: dynamic caches, and some of reserved tokens
}

// Published returns the tables.
func Published() (p Paper) {
	if err := json.Unmarshal(paper, &p); err != nil {
		panic("BUG: " + err.Error())
	}
	return p
}
