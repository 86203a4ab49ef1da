package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem/safetensors"
)

// form is how the weights of a model are stored: halves, or groups of 64 integers as MLX packs them, which llama.cpp
// has as two blocks of 32 with the same scale.
type form struct {
	name   string
	bits   int
	tensor uint32 // in GGUF
	step   float64
	prompt float64 // wanted, as step
}

const group, block32 = 64, 32

func forms() []form {
	return []form{{"fp16", 16, 1, 1.2, 1.3}, {"8 bits", 8, 8, 1.2, 1.1}, {"4 bits", 4, 2, 1.2, 1.1}}
}

// spec is the shape of the model: 222 or 15 million weights.
func (o options) spec() decodertest.Spec {
	s := decodertest.Spec{Hidden: 1024, Intermediate: 2816, Layers: 16, Heads: 16, KVHeads: 8, HeadDim: 64,
		Vocabulary: 32000, Positions: 8192}
	if o.small {
		s = decodertest.Spec{Hidden: 512, Intermediate: 1408, Layers: 4, Heads: 8, KVHeads: 4, HeadDim: 64,
			Vocabulary: 8000, Positions: 8192}
	}
	s.Family, s.Tied, s.DType, s.Group = decodertest.TinyLlama, true, safetensors.F16, group
	s.Config = map[string]any{"eos_token_id": nil}
	return s
}

// write writes a model twice with the same weights: the folder "hf" for anekit, and the file "gguf".
func (o options) write(dir string, f form) {
	s := o.spec()
	if f.bits < 16 {
		s.Bits = f.bits
	}
	config, parts := decodertest.Describe(s)
	hf := filepath.Join(dir, "hf")
	step.NoError(os.MkdirAll(hf, 0o700))
	step.NoError(os.WriteFile(filepath.Join(hf, "config.json"), step.Must(json.Marshal(config)), 0o600))
	w := step.Must(safetensors.Create(filepath.Join(hf, "model.safetensors"), nil, safetensors.NoSync()))
	defer w.Abort()
	var tensors []ggufTensor
	for _, p := range parts {
		t := ggufTensor{ggufName(p.Name), p.Shape, plain, 4 * elements(p.Shape)}
		if p.Packed {
			if t.kind, t.bytes = f.tensor, elements(p.Shape)*f.bits/8; f.bits < 16 {
				t.bytes += elements(p.Shape) / block32 * 2
			}
		}
		tensors = append(tensors, t)
	}
	g := newGGUF(filepath.Join(dir, "gguf"), s, tensors)
	for i, p := range parts {
		v := weights(p, rand.New(rand.NewPCG(1, uint64(i))))
		halves := make([]fp16.Bits, len(v))
		fp16.Encode(halves, v)
		fp16.Decode(v, halves)
		module := p.Name[:len(p.Name)-len(".weight")]
		switch {
		case !p.Packed:
			step.NoError(w.Add(p.Name, safetensors.F16, p.Shape, little(halves)))
			g.data(little(v))
		case f.bits == 16:
			data := little(halves)
			step.NoError(w.Add(p.Name, safetensors.F16, p.Shape, data))
			g.rows(p, data, s.HeadDim)
		default:
			scales, codes := quantized(v, f.bits)
			least := make([]fp16.Bits, len(scales))
			for i, d := range scales {
				least[i] = fp16.FromFloat32(d.Float32() * -float32(int(1)<<(f.bits-1)))
			}
			groups := []int{p.Shape[0], p.Shape[1] / group}
			words := []int{p.Shape[0], p.Shape[1] * f.bits / 32}
			step.NoError(w.Add(p.Name, safetensors.U32, words, dense(codes, f.bits)))
			step.NoError(w.Add(module+".scales", safetensors.F16, groups, little(scales)))
			step.NoError(w.Add(module+".biases", safetensors.F16, groups, little(least)))
			g.rows(p, blocks(scales, codes, f.bits), s.HeadDim)
		}
	}
	g.close()
	step.NoError(w.Close())
}

// weights are random numbers with the spread of a part.
func weights(p decodertest.Part, r *rand.Rand) []float32 {
	v := make([]float32, elements(p.Shape))
	spread, middle := float32(p.Spread*math.Sqrt(3)), float32(0)
	if p.Spread == 0 {
		spread, middle = .3, 1
	}
	for i := range v {
		v[i] = middle + spread*(2*r.Float32()-1)
	}
	return v
}

func little(v any) []byte { return step.Must(binary.Append(nil, binary.LittleEndian, v)) }

// rows appends the rows of a matrix in llama.cpp's order.
func (g *gguf) rows(p decodertest.Part, data []byte, head int) {
	all := turned(p.Name, slices.Collect(slices.Chunk(data, len(data)/p.Shape[0])), head)
	g.data(slices.Concat(all...))
}

// quantized returns a scale for each group, and for each weight its integer plus half of their range.
func quantized(v []float32, bits int) (scales []fp16.Bits, codes []byte) {
	half := float64(int(1) << (bits - 1))
	for g := range slices.Chunk(v, group) {
		most := float32(0)
		for _, x := range g {
			if math.Abs(float64(x)) > math.Abs(float64(most)) {
				most = x
			}
		}
		d := fp16.FromFloat64(float64(most) / -half)
		scales = append(scales, d)
		for _, x := range g {
			q := 0.
			if scale := float64(d.Float32()); scale != 0 {
				q = math.RoundToEven(float64(x) / scale)
			}
			codes = append(codes, byte(min(max(q, -half), half-1)+half))
		}
	}
	return scales, codes
}

// dense packs integers as MLX does, the first one in the lowest bits.
func dense(codes []byte, bits int) []byte {
	if bits == 8 {
		return codes
	}
	out := make([]byte, len(codes)/2)
	for i := range out {
		out[i] = codes[2*i] | codes[2*i+1]<<4
	}
	return out
}

// blocks packs integers as llama.cpp does: a scale, then 32 signed bytes, or 16 bytes that have the first 16 integers
// in their lower halves.
func blocks(scales []fp16.Bits, codes []byte, bits int) (out []byte) {
	for i := 0; i < len(codes); i += block32 {
		c := codes[i:][:block32]
		out = binary.LittleEndian.AppendUint16(out, uint16(scales[i/group]))
		for j := range block32 * bits / 8 {
			if bits == 8 {
				out = append(out, c[j]^0x80)
			} else {
				out = append(out, c[j]|c[j+16]<<4)
			}
		}
	}
	return out
}
