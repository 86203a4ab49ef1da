package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/step"
)

// plain is the type of tensors of float32 in GGUF; the others are form.tensor.
const plain = 0

// alignment is that of tensors in GGUF.
const alignment = 32

// ggufTensor is a tensor to come: the names of its dimensions are those of safetensors, the last one first.
type ggufTensor struct {
	name  string
	shape []int
	kind  uint32
	bytes int
}

// gguf writes a file of GGUF, version 3, whose data follows in the order of the tensors.
type gguf struct {
	file *os.File
	*bufio.Writer
}

func (g *gguf) value(v any) { step.NoError(binary.Write(g, binary.LittleEndian, v)) }

func (g *gguf) text(s string) {
	g.value(uint64(len(s)))
	step.Must(g.WriteString(s))
}

// newGGUF writes what comes before the data.
func newGGUF(path string, s decodertest.Spec, tensors []ggufTensor) *gguf {
	f := step.Must(os.Create(path))
	g := &gguf{file: f, Writer: bufio.NewWriterSize(f, 1<<20)}
	keys := []struct {
		name  string
		value any
	}{
		{"general.architecture", "llama"}, {"tokenizer.ggml.model", "no_vocab"},
		{"llama.vocab_size", s.Vocabulary}, {"llama.context_length", s.Positions}, {"llama.embedding_length", s.Hidden},
		{"llama.block_count", s.Layers}, {"llama.feed_forward_length", s.Intermediate},
		{"llama.attention.head_count", s.Heads}, {"llama.attention.head_count_kv", s.KVHeads},
		{"llama.rope.dimension_count", s.HeadDim}, {"llama.rope.freq_base", 1e4},
		{"llama.attention.layer_norm_rms_epsilon", 1e-5},
	}
	step.Must(g.WriteString("GGUF"))
	g.value(uint32(3))
	g.value([]uint64{uint64(len(tensors)), uint64(len(keys))})
	for _, k := range keys {
		g.text(k.name)
		switch v := k.value.(type) {
		case string:
			g.value(uint32(8))
			g.text(v)
		case int:
			g.value([]uint32{4, uint32(v)})
		case float64:
			g.value([]uint32{6, math.Float32bits(float32(v))})
		}
	}
	at := 0
	for _, t := range tensors {
		g.text(t.name)
		g.value(uint32(len(t.shape)))
		for i := range t.shape {
			g.value(uint64(t.shape[len(t.shape)-1-i]))
		}
		g.value(t.kind)
		g.value(uint64(at))
		at += aligned(t.bytes)
	}
	step.NoError(g.Flush())
	end := int(step.Must(f.Seek(0, 1)))
	step.Must(g.Write(make([]byte, aligned(end)-end)))
	return g
}

func aligned(n int) int { return (n + alignment - 1) / alignment * alignment }

// data appends the data of the next tensor.
func (g *gguf) data(b []byte) {
	step.Must(g.Write(b))
	step.Must(g.Write(make([]byte, aligned(len(b))-len(b))))
}

func (g *gguf) close() {
	step.NoError(g.Flush())
	step.NoError(g.file.Close())
}

// ggufName is llama.cpp's name of a tensor that Hugging Face calls name.
func ggufName(name string) string {
	var layer int
	if rest, ok := strings.CutPrefix(name, "model.layers."); ok {
		_, err := fmt.Sscanf(rest, "%d.", &layer)
		step.NoError(err)
		name = rest[strings.Index(rest, ".")+1:]
	}
	to, ok := map[string]string{"model.embed_tokens.weight": "token_embd", "model.norm.weight": "output_norm",
		"input_layernorm.weight": "attn_norm", "post_attention_layernorm.weight": "ffn_norm",
		"self_attn.q_proj.weight": "attn_q", "self_attn.k_proj.weight": "attn_k", "self_attn.v_proj.weight": "attn_v",
		"self_attn.o_proj.weight": "attn_output", "mlp.gate_proj.weight": "ffn_gate", "mlp.up_proj.weight": "ffn_up",
		"mlp.down_proj.weight": "ffn_down"}[name]
	if !ok {
		step.NoError(fmt.Errorf("GGUF has no name for %s", name))
	}
	if strings.HasPrefix(name, "model.") {
		return to + ".weight"
	}
	return fmt.Sprintf("blk.%d.%s.weight", layer, to)
}

// turned reorders the rows of queries and keys: llama.cpp rotates neighbours, Hugging Face the halves of a head.
func turned(name string, rows [][]byte, head int) [][]byte {
	if !strings.HasSuffix(name, "q_proj.weight") && !strings.HasSuffix(name, "k_proj.weight") {
		return rows
	}
	out := make([][]byte, len(rows))
	for i := range rows {
		first, j := i/head*head, i%head
		out[first+j%(head/2)*2+j/(head/2)] = rows[i]
	}
	return out
}
