package decoder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Scalings of rotations beyond the positions of training, by their names in config.json.
const (
	ropeDefault = "default" // none
	ropeLinear  = "linear"  // positions are divided by factor
	ropeDynamic = "dynamic" // the base grows with the position beyond original
	ropeLlama3  = "llama3"  // slow rotations are divided by factor, fast ones are not
	ropeYarn    = "yarn"    // the same by another ramp, with a factor of attention
)

// rope is the rotation of queries and keys by their position: element i of the first half of a head and element i of
// the second half are rotated by the angle position * frequency i.
type rope struct {
	scaling  string
	theta    float64 // frequency i is theta^(-2i/HeadDim) without scaling
	factor   float64
	original int // positions of training

	low, high  float64 // frequencies of llama3
	fast, slow float64 // betas of yarn
	attention  float64 // of yarn: factor of sine and cosine; 1 for all others
	truncate   bool    // of yarn: the ends of the ramp are whole numbers
}

type fileRope struct {
	Type      *string  `json:"rope_type"`
	Theta     *float64 `json:"rope_theta"`
	Factor    *float64 `json:"factor"`
	Original  *int     `json:"original_max_position_embeddings"`
	Low       *float64 `json:"low_freq_factor"`
	High      *float64 `json:"high_freq_factor"`
	BetaFast  *float64 `json:"beta_fast"`
	BetaSlow  *float64 `json:"beta_slow"`
	Attention *float64 `json:"attention_factor"`
	Scale     *float64 `json:"mscale"`
	ScaleAll  *float64 `json:"mscale_all_dim"`
	Truncate  *bool    `json:"truncate"`
	Partial   *float64 `json:"partial_rotary_factor"`
}

// rotations returns what a file says of rotations, and the key that says it: rope_scaling, rope_parameters of newer
// files, or what both say, unless they differ. The settings of full_attention are those of all layers, if there are no
// others.
func (f *fileConfig) rotations() (key string, raw json.RawMessage, err error) {
	merged := map[string]json.RawMessage{}
	for _, one := range []struct {
		key string
		raw json.RawMessage
	}{{"rope_scaling", f.Scaling}, {"rope_parameters", f.Parameters}} {
		text := bytes.TrimSpace(one.raw)
		if len(text) == 0 || string(text) == "null" {
			continue
		}
		all, err := members(text)
		if err != nil {
			return "", nil, configError(one.key, jsonFault(err, text), "", ErrConfig)
		}
		if len(all) > 0 {
			key = one.key
		}
		if whole, ok := all["full_attention"]; ok && len(all) == 1 && strings.HasPrefix(string(whole), "{") {
			if all, err = members(whole); err != nil {
				return "", nil, configError(one.key, jsonFault(err, whole), "", ErrConfig)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			value := all[name]
			if value[0] == '{' {
				return "", nil, configError(one.key, fmt.Sprintf("%.40q: rotations that differ between layers are not "+
					"supported", name), "", ErrConfig)
			}
			if name == "type" && all["rope_type"] == nil {
				name = "rope_type" // of older files
			}
			if other, ok := merged[name]; ok && !sameJSON(other, value) {
				return "", nil, configError(one.key, fmt.Sprintf("%.40q is %.40s, rope_scaling has %.40s", name, value,
					other), "remove one of the two objects", ErrConfig)
			}
			merged[name] = value
		}
	}
	raw, err = json.Marshal(merged)
	return cmp.Or(key, "rope_scaling"), raw, err
}

// sameJSON reports whether two texts have the same value.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// rope reads the rotations into c.
func (f *fileConfig) rope(c *Config, theta float64) error {
	key, raw, err := f.rotations()
	if err != nil {
		return err
	}
	var r fileRope
	if err := readObject(raw, &r); err != nil {
		return configError(key, jsonFault(err, raw), "", ErrConfig)
	}
	fault := func(format string, args ...any) error {
		return configError(key, fmt.Sprintf(format, args...), "", ErrConfig)
	}
	c.rope = rope{scaling: or(r.Type, ropeDefault), theta: or(r.Theta, theta), factor: or(r.Factor, 1),
		original: or(r.Original, c.Positions), attention: 1}
	rope := &c.rope
	if !(rope.theta > 1 && rope.theta < 1e15) {
		return configError("rope_theta", fmt.Sprintf("%v is not above 1", rope.theta), "", ErrConfig)
	}
	if !slices.Contains([]string{ropeDefault, ropeLinear, ropeDynamic, ropeLlama3, ropeYarn}, rope.scaling) {
		return configError(key, fmt.Sprintf("rope_type %q is not known", rope.scaling),
			"default, linear, dynamic, llama3 and yarn are", ErrConfig)
	}
	if r.Type == nil && (r.Factor != nil || r.Original != nil) {
		return configError(key, "a scaling without rope_type", "default, linear, dynamic, llama3 and yarn are known",
			ErrConfig)
	}
	if p := or(r.Partial, 1); p != 1 {
		return fault("partial_rotary_factor %v is not 1", p)
	}
	if rope.original < 1 || rope.original > maxNumber {
		return fault("original_max_position_embeddings is %d", rope.original)
	}
	if rope.scaling != ropeDefault && (r.Factor == nil || !(*r.Factor >= 1 && *r.Factor < 1e6)) {
		return fault("factor of rope_type %s is not at least 1", rope.scaling)
	}
	switch rope.scaling {
	case ropeDefault, ropeLinear:
	case ropeDynamic:
		if c.HeadDim < 4 {
			return fault("rope_type dynamic needs heads of at least 4 elements")
		}
		if r.Original == nil {
			c.Positions = int(float64(c.Positions) * rope.factor)
		}
	case ropeLlama3:
		rope.low, rope.high = or(r.Low, 0), or(r.High, 0)
		if !(rope.low > 0 && rope.high > rope.low) || r.Original == nil {
			return fault("rope_type llama3 needs low_freq_factor below high_freq_factor, and " +
				"original_max_position_embeddings")
		}
	case ropeYarn:
		rope.fast, rope.slow, rope.truncate = or(r.BetaFast, 32), or(r.BetaSlow, 1), or(r.Truncate, true)
		if !(rope.fast > 0 && rope.slow > 0) {
			return fault("beta_fast and beta_slow of rope_type yarn are not positive")
		}
		rope.attention = magnitude(rope.factor, 1)
		if all := or(r.ScaleAll, 0); or(r.Scale, 0) != 0 && all != 0 {
			rope.attention = magnitude(rope.factor, *r.Scale) / magnitude(rope.factor, all)
		}
		rope.attention = or(r.Attention, rope.attention)
		if !(rope.attention > 0 && rope.attention < 1e3) {
			return fault("attention_factor of rope_type yarn is not positive")
		}
		c.Positions = max(c.Positions, int(float64(rope.original)*rope.factor))
	}
	return nil
}

// magnitude is the factor of attention that YaRN takes for a context that is factor times as long.
func magnitude(factor, scale float64) float64 {
	if factor <= 1 {
		return 1
	}
	return 0.1*scale*math.Log(factor) + 1
}

// frequencies returns the radians per position of the pairs of a head of dim elements, for a token at a position.
// Only dynamic scaling depends on the position: it takes the base for a conversation that ends with the token, as
// generation token by token does.
func (r rope) frequencies(dim, position int) []float64 {
	theta := r.theta
	if over := max(position+1, r.original); r.scaling == ropeDynamic {
		grown := r.factor*float64(over)/float64(r.original) - (r.factor - 1)
		theta *= math.Pow(grown, float64(dim)/float64(dim-2))
	}
	out := make([]float64, dim/2)
	for i := range out {
		out[i] = math.Pow(theta, -2*float64(i)/float64(dim))
	}
	switch r.scaling {
	case ropeLinear:
		for i := range out {
			out[i] /= r.factor
		}
	case ropeLlama3:
		for i, f := range out {
			turns := float64(r.original) * f / (2 * math.Pi) // within the positions of training
			fast := min(max((turns-r.low)/(r.high-r.low), 0), 1)
			out[i] = f * (fast + (1-fast)/r.factor)
		}
	case ropeYarn:
		low, high := r.ramp(dim)
		for i, f := range out {
			slow := min(max((float64(i)-low)/(high-low), 0), 1)
			out[i] = f * ((1 - slow) + slow/r.factor)
		}
	}
	return out
}

// ramp returns between which pairs YaRN goes from not scaled to scaled.
func (r rope) ramp(dim int) (low, high float64) {
	// pair with this many turns within the positions of training
	pair := func(turns float64) float64 {
		return float64(dim) * math.Log(float64(r.original)/(turns*2*math.Pi)) / (2 * math.Log(r.theta))
	}
	low, high = pair(r.fast), pair(r.slow)
	if r.truncate {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(dim-1))
	if low == high {
		high += 0.001
	}
	return low, high
}

// rotation stores cosine and sine of the pairs of a head for a token at a position.
func (r rope) rotation(dim, position int, cos, sin []float32) {
	for i, f := range r.frequencies(dim, position) {
		s, c := math.Sincos(float64(position) * f)
		cos[i], sin[i] = float32(c*r.attention), float32(s*r.attention)
	}
}
