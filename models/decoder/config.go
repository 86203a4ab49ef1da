package decoder

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json" // refuses keys that occur twice, and those in another case of letters
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/internal/wholefile"
)

// configFile is the name of the description of a model in its folder.
const configFile = "config.json"

// generationFile is the name of the file with the settings of generation, in the same folder.
const generationFile = "generation_config.json"

// tokenizerFile is the name of the file of the tokenizer, in the same folder.
const tokenizerFile = "tokenizer.json"

// Config describes a model: what config.json says, with the defaults of its family.
type Config struct {
	Architecture string // "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM" or "Qwen3ForCausalLM"

	Hidden       int // elements of the state of a token
	Intermediate int // elements inside of the feed-forward network
	Layers       int
	Heads        int // of queries
	KVHeads      int // of keys and values; divides Heads
	HeadDim      int // elements of a head; even
	Vocabulary   int // number of tokens
	// Positions is how many tokens a conversation may have: max_position_embeddings, or more where the scaling of the
	// rotations extends them.
	Positions int

	Epsilon       float64 // of RMSNorm
	Tied          bool    // the matrix of the logits is that of the embedding
	AttentionBias bool    // queries, keys and values have a bias
	OutputBias    bool    // the projection after attention has a bias
	MLPBias       bool    // the feed-forward network has biases
	QKNorm        bool    // RMSNorm of each head of queries and keys

	BOS int   // token that begins a text, -1 without one
	EOS []int // tokens that end a text

	rope         rope
	quantization *quantization // nil for weights of fp32, bf16 or fp16
	guessed      bool          // HeadDim is not in the file
	tieUntold    bool          // Tied is not in the file
}

// Ends reports whether a token ends a text.
func (c Config) Ends(token int) bool { return slices.Contains(c.EOS, token) }

// quantization says how MLX packed the weights.
type quantization struct {
	groups
	// layers has the exceptions of single modules, by name, such as "model.layers.0.self_attn.q_proj": other numbers,
	// or zeros for one that is not quantized.
	layers map[string]groups
}

// groups are elements that share a scale and a bias.
type groups struct {
	Size int    `json:"group_size"`
	Bits int    `json:"bits"` // of an element: 2, 3, 4, 5, 6 or 8
	Mode string `json:"mode"` // affine
}

// of returns the group and bits of the module with one of names.
func (q *quantization) of(names ...string) (group, bits int) {
	if q == nil {
		return 0, 0
	}
	for _, name := range names {
		if own, ok := q.layers[name]; ok {
			return own.Size, own.Bits
		}
	}
	return q.Size, q.Bits
}

// fileConfig is config.json. Pointers tell absent keys from zeros.
type fileConfig struct {
	Architectures      []string       `json:"architectures"`
	ModelType          string         `json:"model_type"`
	Hidden             int            `json:"hidden_size"`
	Intermediate       int            `json:"intermediate_size"`
	Layers             int            `json:"num_hidden_layers"`
	Heads              int            `json:"num_attention_heads"`
	KVHeads            *int           `json:"num_key_value_heads"`
	HeadDim            *int           `json:"head_dim"`
	Vocabulary         int            `json:"vocab_size"`
	Positions          *int           `json:"max_position_embeddings"`
	Epsilon            *float64       `json:"rms_norm_eps"`
	Theta              *float64       `json:"rope_theta"`
	Scaling            jsontext.Value `json:"rope_scaling"`
	Parameters         jsontext.Value `json:"rope_parameters"`
	Activation         *string        `json:"hidden_act"`
	Tied               *bool          `json:"tie_word_embeddings"`
	AttentionBias      *bool          `json:"attention_bias"`
	MLPBias            *bool          `json:"mlp_bias"`
	SlidingWindow      *bool          `json:"use_sliding_window"`
	Window             jsontext.Value `json:"sliding_window"` // of families with a window
	LayerTypes         []string       `json:"layer_types"`
	Partial            *float64       `json:"partial_rotary_factor"`
	Quantization       jsontext.Value `json:"quantization"`
	QuantizationConfig jsontext.Value `json:"quantization_config"`
	BOS                *int           `json:"bos_token_id"`
	EOS                jsontext.Value `json:"eos_token_id"`
}

// families has the differences of the architectures, by the values of "architectures" and "model_type".
var families = []struct {
	architecture, kind string
	own                string // what it has beside Llama
	bias, norm, tied   bool
	window             int // tokens that attention reaches where config.json does not say; 0: it reaches all
	positions          int
	theta              float64
	head               int // elements of a head; 0: the hidden size divided by the heads
}{
	{architecture: "LlamaForCausalLM", kind: "llama", own: "no biases, no norms of heads", positions: 2048, theta: 1e4},
	{architecture: "MistralForCausalLM", kind: "mistral", own: "Llama by another name", window: 4096,
		positions: 131072, theta: 1e4},
	{architecture: "Qwen2ForCausalLM", kind: "qwen2", own: "biases of queries, keys and values", bias: true,
		positions: 32768, theta: 1e4},
	{architecture: "Qwen3ForCausalLM", kind: "qwen3", own: "norms of heads", norm: true, positions: 32768, theta: 1e4,
		head: 128},
}

// limits of numbers in config.json: far above published models, and the product of two of them does not overflow.
const (
	maxNumber = 1 << 28
	maxLayers = 1 << 12
)

func configError(key, detail, hint string) error {
	return &Error{Base: errtext.Base{Op: "open", Detail: detail, Hint: hint, Err: ErrConfig},
		Name: configFile + ": " + key}
}

// readConfig reads config.json of a folder.
func readConfig(dir string) (Config, error) {
	path := filepath.Join(dir, configFile)
	text, err := wholefile.Read(path, maxConfig)
	if err != nil {
		fault := &Error{Base: errtext.Base{Op: "open", Err: ErrConfig, Cause: err,
			Hint: "give the folder of a model as published, with " + configFile + " and safetensors files"}, Name: path}
		if found := sniff.Path(dir); found.Foreign(sniff.ModelFolder) {
			fault.Name, fault.Detail, fault.Hint = dir, "it is "+found.What, found.Next
		}
		return Config{}, fault
	}
	if found := sniff.Start(path, text[:min(len(text), sniff.Enough)], int64(len(text))); found.Absent() {
		return Config{}, &Error{Base: errtext.Base{Op: "open", Err: ErrConfig, Detail: "it is " + found.What,
			Hint: found.Next}, Name: path}
	}
	c, err := parseConfig(text)
	if err != nil {
		return Config{}, err
	}
	return c, c.generation(filepath.Join(dir, generationFile))
}

// maxConfig bounds a JSON file beside the weights.
const maxConfig = 16 << 20

// generation reads the tokens that end a text from generation_config.json, where publishers list those of a
// conversation. Without the file or its eos_token_id, it keeps those of config.json.
func (c *Config) generation(path string) error {
	text, err := wholefile.Read(path, maxConfig)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{Base: errtext.Base{Op: "open", Err: ErrConfig, Cause: err}, Name: path}
	}
	var all map[string]jsontext.Value
	if err := json.Unmarshal(text, &all); err != nil {
		return &Error{Base: errtext.Base{Op: "open", Err: ErrConfig, Detail: jsonFault(err, text)},
			Name: generationFile}
	}
	g := fileConfig{EOS: all["eos_token_id"]}
	ends, err := g.ends(generationFile)
	if len(ends) > 0 {
		c.EOS = ends
	}
	return err
}

// parseConfig reads the text of config.json.
func parseConfig(text []byte) (Config, error) {
	var f fileConfig
	if err := json.Unmarshal(text, &f); err != nil {
		return Config{}, &Error{Base: errtext.Base{Op: "open", Err: ErrConfig, Detail: jsonFault(err, text)},
			Name: configFile}
	}
	return f.config()
}

// jsonFault says where a text is not a JSON object of the form.
func jsonFault(err error, text []byte) string {
	syntax, malformed := errors.AsType[*jsontext.SyntacticError](err)
	value, other := errors.AsType[*json.SemanticError](err)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && malformed:
		return fmt.Sprintf("the key %.40q occurs twice", syntax.JSONPointer.LastToken())
	case malformed:
		return fmt.Sprintf("no JSON at byte %d of %d: %v", syntax.ByteOffset, len(text), syntax.Err)
	case other && value.JSONPointer != "":
		kind := map[jsontext.Kind]string{'{': "object", '[': "array"}[value.JSONKind]
		return fmt.Sprintf("%s is a JSON %s", strings.Join(slices.Collect(value.JSONPointer.Tokens()), "."),
			cmp.Or(kind, value.JSONKind.String()))
	}
	return fmt.Sprintf("no JSON object in %d bytes", len(text))
}

func (f *fileConfig) config() (Config, error) {
	i, err := f.family()
	if err != nil {
		return Config{}, err
	}
	family := families[i]
	c := Config{
		Architecture: family.architecture, Hidden: f.Hidden, Intermediate: f.Intermediate, Layers: f.Layers,
		Heads: f.Heads, KVHeads: or(f.KVHeads, f.Heads), Vocabulary: f.Vocabulary,
		Positions: or(f.Positions, family.positions), Epsilon: or(f.Epsilon, 1e-6), Tied: or(f.Tied, family.tied),
		AttentionBias: or(f.AttentionBias, false) && family.window == 0 || family.bias,
		OutputBias:    or(f.AttentionBias, false) && family.window == 0 && !family.bias,
		MLPBias:       or(f.MLPBias, false), QKNorm: family.norm, BOS: or(f.BOS, -1),
	}
	for _, n := range []struct {
		key   string
		value int
		most  int
	}{
		{"hidden_size", c.Hidden, maxNumber}, {"intermediate_size", c.Intermediate, maxNumber},
		{"num_hidden_layers", c.Layers, maxLayers}, {"num_attention_heads", c.Heads, maxNumber},
		{"num_key_value_heads", c.KVHeads, maxNumber}, {"vocab_size", c.Vocabulary, maxNumber},
		{"max_position_embeddings", c.Positions, maxNumber},
	} {
		if n.value < 1 || n.value > n.most {
			return Config{}, configError(n.key, fmt.Sprintf("%d is not within 1 and %d", n.value, n.most), "")
		}
	}
	if c.Heads%c.KVHeads != 0 {
		return Config{}, configError("num_key_value_heads",
			fmt.Sprintf("%d heads are not a multiple of %d key-value heads", c.Heads, c.KVHeads), "")
	}
	c.guessed, c.tieUntold = f.HeadDim == nil, f.Tied == nil
	if c.guessed && family.head > 0 {
		f.HeadDim = &family.head
	}
	if f.HeadDim == nil && c.Hidden%c.Heads != 0 {
		return Config{}, configError("hidden_size",
			fmt.Sprintf("%d is not a multiple of %d heads", c.Hidden, c.Heads), "give head_dim")
	}
	c.HeadDim = or(f.HeadDim, c.Hidden/c.Heads)
	if c.HeadDim < 2 || c.HeadDim%2 != 0 || c.HeadDim > maxNumber/c.Heads {
		return Config{}, configError("head_dim", fmt.Sprintf("%d is not an even number that fits", c.HeadDim), "")
	}
	if !(c.Epsilon > 0 && c.Epsilon < 1) {
		return Config{}, configError("rms_norm_eps", fmt.Sprintf("%v is not within 0 and 1", c.Epsilon), "")
	}
	if act := or(f.Activation, "silu"); act != "silu" && act != "swish" {
		return Config{}, configError("hidden_act", fmt.Sprintf("%q is not known", act), `"silu" is`)
	}
	if or(f.SlidingWindow, false) {
		return Config{}, configError("use_sliding_window", "attention to a window is not supported", "")
	}
	if err := f.window(family.window, c.Positions); err != nil {
		return Config{}, err
	}
	for i, kind := range f.LayerTypes {
		if kind != "full_attention" {
			return Config{}, configError("layer_types", fmt.Sprintf("layer %d: %.40q is not supported", i, kind),
				`"full_attention" is`)
		}
	}
	if p := or(f.Partial, 1); p != 1 {
		return Config{}, configError("partial_rotary_factor", fmt.Sprintf("%v is not 1", p), "")
	}
	if c.EOS, err = f.ends(configFile); err != nil {
		return Config{}, err
	}
	if c.quantization, err = f.quantization(); err != nil {
		return Config{}, err
	}
	return c, f.rope(&c, or(f.Theta, family.theta))
}

// window refuses attention to fewer tokens than a conversation may have. absent is the window of a file without
// sliding_window, 0 for a family that has none; null is no window.
func (f *fileConfig) window(absent, positions int) error {
	tokens := absent
	switch {
	case absent == 0 || string(f.Window) == "null":
		return nil
	case f.Window != nil && (json.Unmarshal(f.Window, &tokens) != nil || tokens < 1):
		return configError("sliding_window", fmt.Sprintf("%.40s is not a number of tokens", f.Window), "")
	case tokens >= positions:
		return nil
	}
	return configError("sliding_window", fmt.Sprintf("attention to a window of %d tokens is not supported, the model has "+
		"%d positions", tokens, positions), fmt.Sprintf("conversations of up to %d tokens do not differ: for those set "+
		`"sliding_window" to null and "max_position_embeddings" to %d`, tokens, tokens))
}

// or returns what p points to, or the default for nil.
func or[T any](p *T, absent T) T {
	if p != nil {
		return *p
	}
	return absent
}

// family returns the index of the model's family. A file without architectures has a model_type.
func (f *fileConfig) family() (int, error) {
	var known []string
	for i, family := range families {
		if slices.Contains(f.Architectures, family.architecture) ||
			len(f.Architectures) == 0 && f.ModelType == family.kind {
			return i, nil
		}
		known = append(known, family.architecture+" ("+family.own+")")
	}
	key, got := "architectures", strings.Join(f.Architectures, ", ")
	if len(f.Architectures) == 0 {
		key, got = "model_type", f.ModelType
	}
	return 0, &Error{Base: errtext.Base{Op: "open", Detail: fmt.Sprintf("%q", got), Err: ErrArchitecture,
		Hint: "known are " + strings.Join(known, ", ") + "; a family that differs from one of them by name alone runs under " +
			"that name in " + configFile}, Name: configFile + ": " + key}
}

// ends reads eos_token_id: a number, a list, or null.
func (f *fileConfig) ends(file string) ([]int, error) {
	if absent(f.EOS) {
		return nil, nil
	}
	var one int
	if json.Unmarshal(f.EOS, &one) == nil {
		return []int{one}, nil
	}
	var all []*int // null would be token 0
	if json.Unmarshal(f.EOS, &all) != nil || slices.Contains(all, nil) {
		return nil, &Error{Base: errtext.Base{Op: "open", Err: ErrConfig,
			Detail: "neither a number nor a list of numbers"}, Name: file + ": eos_token_id"}
	}
	ends := make([]int, len(all))
	for i, token := range all {
		ends[i] = *token
	}
	return ends, nil
}

// quantization reads "quantization" of MLX, which MLX writes as "quantization_config" too.
func (f *fileConfig) quantization() (*quantization, error) {
	key, text := "quantization", f.Quantization
	if absent(text) {
		key, text = "quantization_config", f.QuantizationConfig
	}
	if absent(text) {
		return nil, nil
	}
	var all map[string]jsontext.Value
	err := json.Unmarshal(text, &all)
	if err != nil {
		return nil, configError(key, jsonFault(err, text), "")
	}
	if method, ok := all["quant_method"]; ok {
		return nil, configError(key, "quant_method "+string(method)+" is not supported",
			"weights quantized by MLX are, with group_size and bits")
	}
	q := &quantization{layers: map[string]groups{}}
	if q.groups, err = readGroups(key, text, groups{}); err != nil {
		return nil, err
	}
	for name, raw := range all {
		switch {
		case string(raw) == "false":
			q.layers[name] = groups{} // not quantized
		case raw[0] == '{':
			// without its numbers, those of MLX
			if q.layers[name], err = readGroups(key+": "+name, raw, groups{Size: 64, Bits: 4}); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

// readGroups reads the groups of an object, which replace what absent has.
func readGroups(key string, text jsontext.Value, absent groups) (groups, error) {
	g := absent
	if err := json.Unmarshal(text, &g); err != nil {
		return g, configError(key, jsonFault(err, text), "")
	}
	switch {
	case g.Mode != "" && g.Mode != "affine":
		return g, configError(key, fmt.Sprintf("mode %q is not supported", g.Mode), `"affine" is`)
	case !slices.Contains([]int{2, 3, 4, 5, 6, 8}, g.Bits):
		return g, configError(key, fmt.Sprintf("bits is %d", g.Bits), "2, 3, 4, 5, 6 and 8 are supported")
	case g.Size < 1 || g.Size > math.MaxInt16 || g.Size%32 != 0:
		return g, configError(key, fmt.Sprintf("group_size is %d", g.Size), "multiples of 32 are supported")
	}
	return g, nil
}

// absent reports whether a value is missing or null.
func absent(value jsontext.Value) bool { return len(value) == 0 || string(value) == "null" }
