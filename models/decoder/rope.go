package decoder

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Scalings of rotations beyond the positions of training, by their names in config.json.
const (
	ropeDefault = "default" // none
	ropeLinear  = "linear"  // positions are divided by factor
	ropeDynamic = "dynamic" // the base grows with the position beyond original
	ropeLlama3  = "llama3"  // slow rotations are divided by factor, fast ones are not
	ropeYarn    = "yarn"    // the same by another ramp, with a factor of attention
)

// rope is the rotation of queries and keys by their position. The angle position * frequency i rotates element i of the
// first half of a head and element i of the second half.
type rope struct {
	Type     string  `json:"rope_type"`
	Theta    float64 `json:"rope_theta"` // frequency i is Theta^(-2i/HeadDim) without scaling
	Factor   float64 `json:"factor"`
	Original int     `json:"original_max_position_embeddings"` // positions of training
	Partial  float64 `json:"partial_rotary_factor"`

	Low  float64 `json:"low_freq_factor"` // of llama3, as High
	High float64 `json:"high_freq_factor"`

	BetaFast  float64 `json:"beta_fast"` // of yarn, as the others
	BetaSlow  float64 `json:"beta_slow"`
	Scale     float64 `json:"mscale"`
	ScaleAll  float64 `json:"mscale_all_dim"`
	Truncate  bool    `json:"truncate"`         // the ends of the ramp are whole numbers
	Attention float64 `json:"attention_factor"` // of sine and cosine; 1 for all other types
}

// rotations returns what a file says of rotations, and the key that says it. It merges rope_scaling and the
// rope_parameters of newer files, unless they differ. The settings of full_attention are those of all layers, if there
// are no others.
func (f *fileConfig) rotations() (key string, raw jsontext.Value, err error) {
	merged := map[string]jsontext.Value{}
	for _, one := range []struct {
		key string
		raw jsontext.Value
	}{{"rope_scaling", f.Scaling}, {"rope_parameters", f.Parameters}} {
		if absent(one.raw) {
			continue
		}
		var all map[string]jsontext.Value
		if err := json.Unmarshal(one.raw, &all); err != nil {
			return "", nil, configError(one.key, jsonFault(err, one.raw), "")
		}
		if len(all) > 0 {
			key = one.key
		}
		if whole, ok := all["full_attention"]; ok && len(all) == 1 && strings.HasPrefix(string(whole), "{") {
			all = nil
			if err := json.Unmarshal(whole, &all); err != nil {
				return "", nil, configError(one.key, jsonFault(err, whole), "")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			value := all[name]
			if absent(value) {
				continue
			}
			if value[0] == '{' {
				return "", nil, configError(one.key, fmt.Sprintf("%.40q: rotations that differ between layers are not "+
					"supported", name), "")
			}
			if name == "type" && absent(all["rope_type"]) {
				name = "rope_type" // of older files
			}
			if other, ok := merged[name]; ok && !sameJSON(other, value) {
				return "", nil, configError(one.key, fmt.Sprintf("%.40q is %.40s, rope_scaling has %.40s", name, value,
					other), "remove one of the two objects")
			}
			merged[name] = value
		}
	}
	raw, err = json.Marshal(merged)
	return cmp.Or(key, "rope_scaling"), raw, err
}

// sameJSON reports whether two texts have the same value.
func sameJSON(a, b jsontext.Value) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// rope reads the rotations into c.
func (f *fileConfig) rope(c *Config, theta float64) error {
	key, raw, err := f.rotations()
	if err != nil {
		return err
	}
	r := rope{Theta: theta, Partial: 1, BetaFast: 32, BetaSlow: 1, Truncate: true}
	if err := json.Unmarshal(raw, &r); err != nil {
		return configError(key, jsonFault(err, raw), "")
	}
	fault := func(format string, args ...any) error {
		return configError(key, fmt.Sprintf(format, args...), "")
	}
	const known = "default, linear, dynamic, llama3 and yarn are known"
	types := []string{"", ropeDefault, ropeLinear, ropeDynamic, ropeLlama3, ropeYarn}
	trained := r.Original > 0 // the file says so
	if r.Original == 0 {
		r.Original = c.Positions
	}
	switch {
	case !(r.Theta > 1 && r.Theta < 1e15):
		return configError("rope_theta", fmt.Sprintf("%v is not above 1", r.Theta), "")
	case !slices.Contains(types, r.Type):
		return configError(key, fmt.Sprintf("rope_type %q is not known", r.Type), known)
	case r.Type == "" && (r.Factor != 0 || trained):
		return configError(key, "a scaling without rope_type", known)
	case r.Partial != 1:
		return fault("partial_rotary_factor %v is not 1", r.Partial)
	case r.Original < 1 || r.Original > maxNumber:
		return fault("original_max_position_embeddings is %d", r.Original)
	case r.Type != "" && r.Type != ropeDefault && !(r.Factor >= 1 && r.Factor < 1e6):
		return fault("factor of rope_type %s is not at least 1", r.Type)
	}
	if r.Type != ropeYarn {
		r.Attention = 1
	}
	switch r.Type {
	case ropeDynamic:
		if c.HeadDim < 4 {
			return fault("rope_type dynamic needs heads of at least 4 elements")
		}
		if !trained {
			c.Positions = int(float64(c.Positions) * r.Factor)
		}
	case ropeLlama3:
		if !(r.Low > 0 && r.High > r.Low) || !trained {
			return fault("rope_type llama3 needs low_freq_factor below high_freq_factor, and " +
				"original_max_position_embeddings")
		}
	case ropeYarn:
		if !(r.BetaFast > 0 && r.BetaSlow > 0) {
			return fault("beta_fast and beta_slow of rope_type yarn are not positive")
		}
		if r.Attention == 0 {
			r.Attention = magnitude(r.Factor, 1)
			if r.Scale != 0 && r.ScaleAll != 0 {
				r.Attention = magnitude(r.Factor, r.Scale) / magnitude(r.Factor, r.ScaleAll)
			}
		}
		if !(r.Attention > 0 && r.Attention < 1e3) {
			return fault("attention_factor of rope_type yarn is not positive")
		}
		c.Positions = max(c.Positions, int(float64(r.Original)*r.Factor))
	}
	c.rope = r
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
	theta := r.Theta
	if over := max(position+1, r.Original); r.Type == ropeDynamic {
		grown := r.Factor*float64(over)/float64(r.Original) - (r.Factor - 1)
		theta *= math.Pow(grown, float64(dim)/float64(dim-2))
	}
	out := make([]float64, dim/2)
	for i := range out {
		out[i] = math.Pow(theta, -2*float64(i)/float64(dim))
	}
	switch r.Type {
	case ropeLinear:
		for i := range out {
			out[i] /= r.Factor
		}
	case ropeLlama3:
		for i, f := range out {
			full := float64(r.Original) * f / (2 * math.Pi) // rotations within the positions of training
			fast := min(max((full-r.Low)/(r.High-r.Low), 0), 1)
			out[i] = f * (fast + (1-fast)/r.Factor)
		}
	case ropeYarn:
		low, high := r.ramp(dim)
		for i, f := range out {
			slow := min(max((float64(i)-low)/(high-low), 0), 1)
			out[i] = f * ((1 - slow) + slow/r.Factor)
		}
	}
	return out
}

// ramp returns between which pairs YaRN goes from not scaled to scaled.
func (r rope) ramp(dim int) (low, high float64) {
	// pair with this many full rotations within the positions of training
	pair := func(full float64) float64 {
		return float64(dim) * math.Log(float64(r.Original)/(full*2*math.Pi)) / (2 * math.Log(r.Theta))
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
func (r rope) rotation(dim, position int, cos, sin []float32) {
	for i, f := range r.frequencies(dim, position) {
		s, c := math.Sincos(float64(position) * f)
		cos[i], sin[i] = float32(c*r.Attention), float32(s*r.Attention)
	}
}
