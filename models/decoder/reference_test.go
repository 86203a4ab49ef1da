package decoder

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/anekit/anekit/internal/decodertest"
)

// reference computes the logits of every token of a text in float64, the whole text at once, from the numbers of the
// stored tensors and the keys of config.json. It shares no code with the package: it is written from the papers on
// RMSNorm, rotary embeddings, grouped queries and SwiGLU, and from what the keys of config.json mean.
type reference struct {
	m *decodertest.Model
	// store stands where the programs keep a number as fp16.
	store func(x float64) float64

	stored map[string][]float64
}

// weight returns the numbers of a tensor as the programs keep them.
func (r *reference) weight(name string) []float64 {
	if r.stored == nil {
		r.stored = map[string][]float64{}
	}
	if r.stored[name] == nil {
		for _, v := range r.m.Values[name] {
			r.stored[name] = append(r.stored[name], r.store(v))
		}
	}
	return r.stored[name]
}

func (r *reference) number(key string, absent float64) float64 {
	switch v := r.m.JSON[key].(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return absent
}

func (r *reference) integer(key string) int { return int(r.number(key, 0)) }

// matrix multiplies each row of x by the transposed matrix of a module.
func (r *reference) matrix(x [][]float64, module string) [][]float64 {
	w, b := r.weight(module+".weight"), r.weight(module+".bias")
	n := len(x[0])
	out := make([][]float64, len(x))
	for t := range x {
		out[t] = make([]float64, len(w)/n)
		for i := range out[t] {
			for j, v := range x[t] {
				out[t][i] += w[i*n+j] * v
			}
			if out[t][i] = r.store(out[t][i]); b != nil {
				out[t][i] = r.store(out[t][i] + b[i])
			}
		}
	}
	return out
}

func (r *reference) rms(x []float64, weight string) []float64 {
	sum := 0.0
	for _, v := range x {
		small := r.store(v)
		sum += r.store(small * small)
	}
	factor := r.store(1 / math.Sqrt(r.store(r.store(sum)/float64(len(x)))+r.number("rms_norm_eps", 0)))
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = r.store(r.store(v*r.store(factor)) * r.weight(weight)[i])
	}
	return out
}

// angles returns the radians per position, and the factor of cosine and sine, for a text of n tokens.
func (r *reference) angles(dim, n int) ([]float64, float64) {
	theta := r.number("rope_theta", 10000)
	scaling, _ := r.m.JSON["rope_scaling"].(map[string]any)
	if scaling == nil {
		scaling, _ = r.m.JSON["rope_parameters"].(map[string]any)
		if t, ok := scaling["rope_theta"].(float64); ok {
			theta = t
		}
	}
	get := func(key string, absent float64) float64 {
		switch v := scaling[key].(type) {
		case float64:
			return v
		case int:
			return float64(v)
		}
		return absent
	}
	kind, _ := scaling["rope_type"].(string)
	if kind == "" {
		kind, _ = scaling["type"].(string)
	}
	factor := get("factor", 1)
	trained := get("original_max_position_embeddings", r.number("max_position_embeddings", 0))
	if kind == "dynamic" && float64(n) > trained {
		theta *= math.Pow(factor*float64(n)/trained-(factor-1), float64(dim)/float64(dim-2))
	}
	out, attention := make([]float64, dim/2), 1.0
	for i := range out {
		f := 1 / math.Pow(theta, float64(2*i)/float64(dim))
		switch kind {
		case "linear":
			f /= factor
		case "llama3":
			low, high := get("low_freq_factor", 1), get("high_freq_factor", 4)
			switch wave := 2 * math.Pi / f; {
			case wave > trained/low:
				f /= factor
			case wave >= trained/high:
				smooth := (trained/wave - low) / (high - low)
				f = (1-smooth)*f/factor + smooth*f
			}
		case "yarn":
			dimension := func(rotations float64) float64 {
				return float64(dim) * math.Log(trained/(rotations*2*math.Pi)) / (2 * math.Log(theta))
			}
			low := math.Max(math.Floor(dimension(get("beta_fast", 32))), 0)
			high := math.Min(math.Ceil(dimension(get("beta_slow", 1))), float64(dim-1))
			if low == high {
				high += 0.001
			}
			ramp := math.Min(math.Max((float64(i)-low)/(high-low), 0), 1)
			f = f/factor*ramp + f*(1-ramp)
			attention = get("attention_factor", 0.1*math.Log(factor)+1)
		}
		out[i] = f
	}
	return out, attention
}

// rotate turns the heads of each token by its position.
func (r *reference) rotate(x [][]float64, dim int) {
	for t := range x {
		frequencies, attention := r.angles(dim, t+1)
		for at := 0; at < len(x[t]); at += dim {
			head := x[t][at:][:dim]
			for i, f := range frequencies {
				cos := r.store(math.Cos(float64(t)*f) * attention)
				sin := r.store(math.Sin(float64(t)*f) * attention)
				a, b := head[i], head[i+dim/2]
				head[i] = r.store(r.store(a*cos) - r.store(b*sin))
				head[i+dim/2] = r.store(r.store(b*cos) + r.store(a*sin))
			}
		}
	}
}

func (r *reference) normHeads(x [][]float64, dim int, weight string) {
	for t := range x {
		for at := 0; at < len(x[t]); at += dim {
			copy(x[t][at:], r.rms(x[t][at:at+dim], weight))
		}
	}
}

// attend is causal attention of grouped heads.
func (r *reference) attend(q, k, v [][]float64, dim int) [][]float64 {
	out := make([][]float64, len(q))
	group := len(q[0]) / len(k[0])
	for t := range q {
		out[t] = make([]float64, len(q[t]))
		for h := range len(q[t]) / dim {
			at := h / group * dim
			scores, top := make([]float64, t+1), math.Inf(-1)
			for s := range scores {
				for i := range dim {
					scores[s] += r.store(q[t][h*dim+i]/math.Sqrt(float64(dim))) * k[s][at+i]
				}
				scores[s] = r.store(scores[s])
				top = math.Max(top, scores[s])
			}
			sum := 0.0
			for s := range scores {
				scores[s] = r.store(math.Exp(r.store(scores[s] - top)))
				sum += scores[s]
			}
			for i := range dim {
				for s := range scores {
					out[t][h*dim+i] += r.store(scores[s]/r.store(sum)) * v[s][at+i]
				}
				out[t][h*dim+i] = r.store(out[t][h*dim+i])
			}
		}
	}
	return out
}

// logits returns those of each token of a text.
func (r *reference) logits(tokens []int) [][]float64 {
	hidden := r.integer("hidden_size")
	dim := hidden / r.integer("num_attention_heads")
	if n := r.integer("head_dim"); n != 0 {
		dim = n
	}
	x := make([][]float64, len(tokens))
	for t, token := range tokens {
		x[t] = make([]float64, hidden)
		for i := range x[t] {
			x[t][i] = r.store(r.m.Values["model.embed_tokens.weight"][token*hidden+i])
		}
	}
	norm := func(weight string) [][]float64 {
		out := make([][]float64, len(x))
		for t := range x {
			out[t] = r.rms(x[t], weight)
		}
		return out
	}
	add := func(y [][]float64) {
		for t := range x {
			for i := range x[t] {
				x[t][i] = r.store(x[t][i] + y[t][i])
			}
		}
	}
	for layer := range r.integer("num_hidden_layers") {
		at := fmt.Sprintf("model.layers.%d.", layer)
		h := norm(at + "input_layernorm.weight")
		q, k := r.matrix(h, at+"self_attn.q_proj"), r.matrix(h, at+"self_attn.k_proj")
		v := r.matrix(h, at+"self_attn.v_proj")
		if _, ok := r.m.Values[at+"self_attn.q_norm.weight"]; ok {
			r.normHeads(q, dim, at+"self_attn.q_norm.weight")
			r.normHeads(k, dim, at+"self_attn.k_norm.weight")
		}
		r.rotate(q, dim)
		r.rotate(k, dim)
		add(r.matrix(r.attend(q, k, v, dim), at+"self_attn.o_proj"))
		h = norm(at + "post_attention_layernorm.weight")
		gate, up := r.matrix(h, at+"mlp.gate_proj"), r.matrix(h, at+"mlp.up_proj")
		for t := range gate {
			for i, g := range gate[t] {
				gate[t][i] = r.store(r.store(g/(1+math.Exp(-g))) * up[t][i])
			}
		}
		add(r.matrix(gate, at+"mlp.down_proj"))
	}
	h := norm("model.norm.weight")
	if tied, _ := r.m.JSON["tie_word_embeddings"].(bool); tied {
		return r.matrix(h, "model.embed_tokens")
	}
	return r.matrix(h, "lm_head")
}

// exact is the reference itself.
func exact(m *decodertest.Model, tokens []int) [][]float64 {
	r := reference{m: m, store: func(x float64) float64 { return x }}
	return r.logits(tokens)
}

// bound is how far the logits of a program may be from the reference.
//
// A program keeps every result as fp16: its relative error is at most u = 2^-11, its absolute error below the normal
// numbers at most 2^-25; products are summed in wider numbers. The bound follows from that by Monte Carlo arithmetic
// (D. S. Parker, 1997): the reference is computed again with an independent random error, uniform within those limits,
// wherever the program rounds, and compared with itself. The greatest difference of a few such runs is a draw from the
// tail of the distribution of the sum of thousands of small errors, of which the program's own is one more; with a
// factor of 3 for that tail, and for roundings that the reference has no place for (the quotients inside of RMSNorm,
// the two parts of attention), a correct program stays below it. What is wrong beside rounding does not: see
// TestFaultsAreBeyondTheBound.
func bound(m *decodertest.Model, tokens []int, want [][]float64) float64 {
	const u = 1.0 / (1 << 11)
	most := 0.0
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 99))
		r := reference{m: m, store: func(x float64) float64 {
			return x*(1+u*(2*random.Float64()-1)) + (2*random.Float64()-1)/(1<<25)
		}}
		for t, logits := range r.logits(tokens) {
			for i, v := range logits {
				most = math.Max(most, math.Abs(v-want[t][i]))
			}
		}
	}
	return 3 * most
}
