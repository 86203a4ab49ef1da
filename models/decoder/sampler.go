package decoder

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/anekit/anekit/internal/errtext"
)

// Sampler chooses the next token from logits. Its choices are the same on every machine: for one seed and the same
// logits. One goroutine at a time uses it.
type Sampler struct {
	temperature, topP float64
	seed              uint64
	random            *rand.PCG

	weights []float64 // scratch
	kept    []int32
}

// NewSampler makes a Sampler. Temperature 0 is greedy: it chooses the largest logit, of several the first, and nothing
// is random. Otherwise the Sampler divides the logits by the temperature, and keeps the most probable tokens until
// their probabilities add up to topP. It draws one of them. topP 1 keeps all.
//
// The error matches ErrSampler: a temperature below 0, a topP outside (0, 1], or a number that is not finite.
func NewSampler(temperature, topP float64, seed uint64) (*Sampler, error) {
	switch {
	case !(temperature >= 0) || math.IsInf(temperature, 0):
		return nil, newError("sample", ErrSampler, fmt.Sprintf("temperature %v", temperature),
			"give a number of 0 or more; 0 is greedy")
	case !(topP > 0 && topP <= 1):
		return nil, newError("sample", ErrSampler, fmt.Sprintf("top-p %v", topP), "give a number above 0 and at most 1")
	}
	return &Sampler{temperature: temperature, topP: topP, seed: seed, random: rand.NewPCG(seed, stream)}, nil
}

// stream is the second half of the seed of the generator.
const stream = 0x616e656b6974

// Settings returns the numbers of NewSampler.
func (s *Sampler) Settings() (temperature, topP float64, seed uint64) {
	return s.temperature, s.topP, s.seed
}

// Next returns the index of the chosen logit. A NaN is never chosen. It returns -1 if there is nothing to choose: no
// logits, or only NaN and minus infinity. A nil Sampler chooses the largest logit.
func (s *Sampler) Next(logits []float32) int { return choose(s, floats(logits)) }

// scores is a logit for each token.
type scores interface {
	len() int
	some(i int) []float32 // from index i on, at least one
	at(token int) float32
}

// floats are logits of Session.Logits.
type floats []float32

func (f floats) len() int { return len(f) }

func (f floats) at(i int) float32 { return f[i] }

func (f floats) some(i int) []float32 { return f[i:] }

// choose is Sampler.Next for logits in any memory.
func choose[L scores](s *Sampler, logits L) int {
	best := greedy(logits)
	if best < 0 || s == nil || s.temperature == 0 || math.IsInf(float64(logits.at(best)), 1) {
		return best
	}
	most, n := float64(logits.at(best)), logits.len()
	if cap(s.weights) < n {
		s.weights = make([]float64, n)
	}
	w := s.weights[:n]
	sum := 0.0
	for i := range w {
		w[i] = 0
		if d := (float64(logits.at(i)) - most) / s.temperature; d == d { // of NaN the weight stays 0
			w[i] = exp(d)
		}
		sum += w[i]
	}
	if s.topP == 1 {
		return draw(s.uniform()*sum, w, nil, best)
	}
	// A token with less than an equal share of what topP leaves out is not among the most probable ones.
	least := (1 - s.topP) * sum / float64(n)
	kept := s.kept[:0]
	for i, v := range w {
		if v >= least && v > 0 {
			kept = append(kept, int32(i))
		}
	}
	s.kept = kept
	slices.SortFunc(kept, func(a, b int32) int {
		if c := cmp.Compare(w[b], w[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	all, few := 0.0, 0
	for few < len(kept) && all < s.topP*sum {
		all += w[kept[few]]
		few++
	}
	return draw(s.uniform()*all, w, kept[:few], best)
}

// greedy returns the index of the largest logit, of several the first; -1 without a number above minus infinity.
func greedy[L scores](logits L) int {
	best, most := -1, float32(math.Inf(-1))
	for i := 0; i < logits.len(); {
		some := logits.some(i)
		for k, v := range some {
			if v > most { // not for NaN
				best, most = i+k, v
			}
		}
		i += len(some)
	}
	return best
}

// uniform returns the next number of [0, 1).
func (s *Sampler) uniform() float64 { return float64(s.random.Uint64()>>11) / (1 << 53) }

// draw returns the index at which the sum of weights exceeds at. order lists the indices; nil stands for all.
func draw(at float64, w []float64, order []int32, last int) int {
	n := len(w)
	if order != nil {
		n = len(order)
	}
	for k := range n {
		i := k
		if order != nil {
			i = int(order[k])
		}
		if w[i] <= 0 {
			continue
		}
		last = i
		if at < w[i] {
			break
		}
		at -= w[i]
	}
	return last
}

// exp is the exponential of x <= 0, with the same bits on every machine. Package math has assembly for some; the
// conversions keep the compiler from fusing a product with a sum.
func exp(x float64) float64 {
	const ln2hi, ln2lo = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	if x < -745 {
		return 0
	}
	k := math.Round(float64(x * math.Log2E))
	r := float64(float64(x-float64(k*ln2hi)) - float64(k*ln2lo))
	sum := 1.0
	for n := 14.0; n >= 1; n-- { // Horner's scheme of the series: |r| <= 0.35
		sum = float64(1 + float64(float64(sum*r)/n))
	}
	return math.Ldexp(sum, int(k))
}

// samplerState is the version of marshal.
const samplerState = 1

// marshal returns the settings and the state of the generator: a Sampler of these bytes makes the same choices.
func (s *Sampler) marshal() []byte {
	b := []byte{samplerState}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.temperature))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.topP))
	b = binary.LittleEndian.AppendUint64(b, s.seed)
	state, _ := s.random.MarshalBinary() // the error is nil
	return append(b, state...)
}

// unmarshalSampler returns a Sampler of the bytes of marshal. The error matches ErrSampler.
func unmarshalSampler(b []byte) (*Sampler, error) {
	const fixed = 1 + 3*8
	if len(b) < fixed || b[0] != samplerState {
		return nil, newError("restore sampler", ErrSampler, fmt.Sprintf("a state of %d bytes", len(b)), "")
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(b[1+8*i:]) }
	s, err := NewSampler(math.Float64frombits(number(0)), math.Float64frombits(number(1)), number(2))
	if err != nil {
		return nil, err
	}
	if err := s.random.UnmarshalBinary(b[fixed:]); err != nil {
		return nil, &Error{Base: errtext.Base{Op: "restore sampler", Err: ErrSampler, Cause: err}}
	}
	return s, nil
}
