package decoder

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/unimem/safetensors"
)

func TestBigTemp(t *testing.T) {
	dir := os.Getenv("DECBIG")
	if dir == "" {
		t.Skip()
	}
	if !exists(filepath.Join(dir, "model.safetensors")) {
		c := map[string]any{"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "hidden_act": "silu",
			"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
			"num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "max_position_embeddings": 131072,
			"rms_norm_eps": 1e-5, "tie_word_embeddings": true, "rope_theta": 500000.0,
			"quantization": map[string]any{"group_size": 64, "bits": 4}}
		text, _ := json.Marshal(c)
		_ = os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644)
		cc, err := parseConfig(text)
		if err != nil {
			t.Fatal(err)
		}
		w, err := safetensors.Create(filepath.Join(dir, "model.safetensors"), nil, safetensors.Expect(700))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for _, m := range cc.modules() {
			if len(m.shape) == 1 {
				data := make([]byte, 2*m.shape[0])
				for i := range m.shape[0] {
					binary.LittleEndian.PutUint16(data[2*i:], 0x3c00)
				}
				_ = w.Add(m.name+".weight", safetensors.F16, m.shape, data)
				continue
			}
			o, in := m.shape[0], m.shape[1]
			data := make([]byte, o*in/2)
			for i := 0; i < len(data); i += 8 {
				binary.LittleEndian.PutUint64(data[i:], r.Uint64())
			}
			s, b := make([]byte, o*in/64*2), make([]byte, o*in/64*2)
			for i := 0; i < len(s); i += 2 {
				binary.LittleEndian.PutUint16(s[i:], 0x1800)   // 2^-9
				binary.LittleEndian.PutUint16(b[i:], 0xa400-0) // -8*2^-9 = -2^-6 = 0xa400
			}
			_ = w.Add(m.name+".weight", safetensors.U32, []int{o, in / 8}, data)
			_ = w.Add(m.name+".scales", safetensors.F16, []int{o, in / 64}, s)
			_ = w.Add(m.name+".biases", safetensors.F16, []int{o, in / 64}, b)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d, err := engine.Open(t.Context(), engine.Soft)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	m, err := Load(t.Context(), d, f, WithForm(Compact), Context(512))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("load", time.Since(at), "mapped", m.Plan().WeightsMapped, "converted", m.Plan().WeightsConverted, "bytes", f.Bytes())
	status := func() {
		text, _ := os.ReadFile("/proc/self/status")
		for _, l := range []string{"VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem"} {
			i := 0
			for i = range text {
				if string(text[i:min(i+len(l), len(text))]) == l {
					break
				}
			}
			var n int
			fmt.Sscanf(string(text[i+len(l)+1:]), "%d", &n)
			fmt.Print(l, " ", n/1024, " MB; ")
		}
		fmt.Println()
	}
	status()
	s, err := m.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		at = time.Now()
		if err := s.Step(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
		fmt.Println("step", time.Since(at))
	}
	status()
	at = time.Now()
	if err := s.Prefill(t.Context(), text(256, 1000, 1)); err != nil {
		t.Fatal(err)
	}
	fmt.Println("prefill 256", time.Since(at))
	status()
	_ = s.Close()
	_ = m.Close(t.Context())
	_ = f.Close()
	_ = d.Close()
}
