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

// RopeType is how rotations are scaled beyond the positions of training.
type RopeType string

// The scalings of config.json.
const (
	RopeDefault RopeType = "default" // none
	RopeLinear  RopeType = "linear"  // positions are divided by Factor
	RopeDynamic RopeType = "dynamic" // the base grows with the position beyond Original
	RopeLlama3  RopeType = "llama3"  // slow rotations are divided by Factor, fast ones are not
	RopeYarn    RopeType = "yarn"    // the same by another ramp, with a factor of attention
)

// Rope is the rotation of queries and keys by their position: element i of the first half of a head and element i of
// the second half are rotated by the angle position * frequency i.
type Rope struct {
	Type     RopeType
	Theta    float64 // frequency i is Theta^(-2i/HeadDim) without scaling
	Factor   float64
	Original int // positions of training

	LowFreqFactor, HighFreqFactor float64 // of llama3
	BetaFast, BetaSlow            float64 // of yarn
	Attention                     float64 // of yarn: factor of sine and cosine; 1 for all others
	Truncate                      bool    // of yarn: the ends of the ramp are whole numbers
}

type fileRope struct {
	Type      *string  `json:"rope_type"`
	OldType   *string  `json:"type"`
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
	if name := nested(raw); name != "" {
		return configError(key, fmt.Sprintf("%.40q: rotations that differ between layers are not supported", name), "",
			ErrConfig)
	}
	fault := func(format string, args ...any) error {
		return configError(key, fmt.Sprintf(format, args...), "", ErrConfig)
	}
	kind := or(r.Type, or(r.OldType, string(RopeDefault)))
	c.Rope = Rope{Type: RopeType(kind), Theta: or(r.Theta, theta), Factor: or(r.Factor, 1),
		Original: or(r.Original, c.Positions), Attention: 1}
	if !(c.Rope.Theta > 1 && c.Rope.Theta < 1e15) {
		return configError("rope_theta", fmt.Sprintf("%v is not above 1", c.Rope.Theta), "", ErrConfig)
	}
	if r.Type == nil && r.OldType == nil && (r.Factor != nil || r.Original != nil) {
		return configError(key, "a scaling without rope_type", "default, linear, dynamic, llama3 and yarn are known",
			ErrConfig)
	}
	if p := or(r.Partial, 1); p != 1 {
		return fault("partial_rotary_factor %v is not 1", p)
	}
	if c.Rope.Original < 1 || c.Rope.Original > maxNumber {
		return fault("original_max_position_embeddings is %d", c.Rope.Original)
	}
	switch c.Rope.Type {
	case RopeDefault:
		return nil
	case RopeLinear, RopeDynamic, RopeLlama3, RopeYarn:
	default:
		return configError(key, fmt.Sprintf("rope_type %q is not known", kind),
			"default, linear, dynamic, llama3 and yarn are", ErrConfig)
	}
	if r.Factor == nil || !(*r.Factor >= 1 && *r.Factor < 1e6) {
		return fault("factor of rope_type %s is not at least 1", kind)
	}
	switch c.Rope.Type {
	case RopeDynamic:
		if c.HeadDim < 4 {
			return fault("rope_type dynamic needs heads of at least 4 elements")
		}
		if r.Original == nil {
			c.Positions = int(float64(c.Positions) * c.Rope.Factor)
		}
	case RopeLlama3:
		c.Rope.LowFreqFactor, c.Rope.HighFreqFactor = or(r.Low, 0), or(r.High, 0)
		if !(c.Rope.LowFreqFactor > 0 && c.Rope.HighFreqFactor > c.Rope.LowFreqFactor) || r.Original == nil {
			return fault("rope_type llama3 needs low_freq_factor below high_freq_factor, and " +
				"original_max_position_embeddings")
		}
	case RopeYarn:
		c.Rope.BetaFast, c.Rope.BetaSlow, c.Rope.Truncate = or(r.BetaFast, 32), or(r.BetaSlow, 1), or(r.Truncate, true)
		if !(c.Rope.BetaFast > 0 && c.Rope.BetaSlow > 0) {
			return fault("beta_fast and beta_slow of rope_type yarn are not positive")
		}
		c.Rope.Attention = magnitude(c.Rope.Factor, 1)
		if all := or(r.ScaleAll, 0); or(r.Scale, 0) != 0 && all != 0 {
			c.Rope.Attention = magnitude(c.Rope.Factor, *r.Scale) / magnitude(c.Rope.Factor, all)
		}
		if r.Attention != nil {
			c.Rope.Attention = *r.Attention
		}
		if !(c.Rope.Attention > 0 && c.Rope.Attention < 1e3) {
			return fault("attention_factor of rope_type yarn is not positive")
		}
		c.Positions = max(c.Positions, int(float64(c.Rope.Original)*c.Rope.Factor))
	}
	return nil
}

// nested returns a key of an object whose value is an object, or "".
func nested(object json.RawMessage) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(string(all[name]), "{") {
			return name
		}
	}
	return ""
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
func (r Rope) frequencies(dim, position int) []float64 {
	theta := r.Theta
	if over := max(position+1, r.Original); r.Type == RopeDynamic {
		grown := r.Factor*float64(over)/float64(r.Original) - (r.Factor - 1)
		theta *= math.Pow(grown, float64(dim)/float64(dim-2))
	}
	out := make([]float64, dim/2)
	for i := range out {
		out[i] = math.Pow(theta, -2*float64(i)/float64(dim))
	}
	switch r.Type {
	case RopeLinear:
		for i := range out {
			out[i] /= r.Factor
		}
	case RopeLlama3:
		for i, f := range out {
			turns := float64(r.Original) * f / (2 * math.Pi) // within the positions of training
			fast := min(max((turns-r.LowFreqFactor)/(r.HighFreqFactor-r.LowFreqFactor), 0), 1)
			out[i] = f * (fast + (1-fast)/r.Factor)
		}
	case RopeYarn:
		low, high := r.ramp(dim)
		for i, f := range out {
			slow := min(max((float64(i)-low)/(high-low), 0), 1)
			out[i] = f * ((1 - slow) + slow/r.Factor)
		}
	}
	return out
}

// ramp returns between which pairs YaRN goes from not scaled to scaled.
func (r Rope) ramp(dim int) (low, high float64) {
	// pair with this many turns within the positions of training
	pair := func(turns float64) float64 {
		return float64(dim) * math.Log(float64(r.Original)/(turns*2*math.Pi)) / (2 * math.Log(r.Theta))
	}
	low, high = pair(r.BetaFast), pair(r.BetaSlow)
	if r.Truncate {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(dim-1))
	if low == high {
		high += 0.001
	}
	return low, high
}

// rotation stores cosine and sine of the pairs of a head for a token at a position.
func (r Rope) rotation(dim, position int, cos, sin []float32) {
	for i, f := range r.frequencies(dim, position) {
		s, c := math.Sincos(float64(position) * f)
		cos[i], sin[i] = float32(c*r.Attention), float32(s*r.Attention)
	}
}
