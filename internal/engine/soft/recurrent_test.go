package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

func activate(name string, x float64) float64 {
	switch name {
	case "sigmoid":
		return 1 / (1 + math.Exp(-x))
	case "tanh", "scaled_tanh":
		return math.Tanh(x)
	case "relu":
		return math.Max(0, x)
	case "linear":
		return x
	case "sigmoid_hard", "hard_sigmoid":
		return math.Max(0, math.Min(1, 0.2*x+0.5))
	}
	panic(name)
}

// cellSettings describe a cell of the reference.
type cellSettings struct {
	ih, hh, bias, second, peephole nd // bias, second and peephole may be empty
	gate, cell, final              string
	after                          bool
	clip                           float64
}

func (a nd) or0(i int) float64 {
	if a.v == nil {
		return 0
	}
	return a.v[i]
}

// sum is row of the product of a matrix and a vector.
func (a nd) sum(row int, v []float64) float64 {
	f := 0.0
	for i := range v {
		f += a.at(row, i) * v[i]
	}
	return f
}

// next computes a step in float64 by the formulas of the operator.
func (s *cellSettings) next(op string, x, h, c []float64) (newH, newC []float64) {
	n := len(h)
	newH, newC = make([]float64, n), make([]float64, n)
	pre := func(gate, j int) float64 {
		r := gate*n + j
		return s.ih.sum(r, x) + s.hh.sum(r, h) + s.bias.or0(r) + s.second.or0(r)
	}
	for j := range n {
		switch op {
		case "rnn":
			newH[j] = activate(s.final, pre(0, j))
		case "lstm":
			i := activate(s.gate, pre(0, j)+s.peephole.or0(j)*c[j])
			f := activate(s.gate, pre(1, j)+s.peephole.or0(n+j)*c[j])
			newC[j] = f*c[j] + i*activate(s.cell, pre(3, j))
			newC[j] = math.Max(-s.clip, math.Min(s.clip, newC[j]))
			newH[j] = activate(s.gate, pre(2, j)+s.peephole.or0(2*n+j)*newC[j]) * activate(s.final, newC[j])
		case "gru":
			z, row := activate(s.gate, pre(2, j)), n+j
			inner := s.ih.sum(row, x) + s.second.or0(row)
			if s.after {
				inner += activate(s.gate, pre(0, j)) * (s.hh.sum(row, h) + s.bias.or0(row))
			} else {
				kept := make([]float64, n)
				for i := range kept {
					kept[i] = activate(s.gate, pre(0, i)) * h[i]
				}
				inner += s.hh.sum(row, kept) + s.bias.or0(row)
			}
			newH[j] = (1-z)*activate(s.final, inner) + z*h[j]
		}
	}
	return newH, newC
}

// belowOne returns random values of magnitudes below 1.
func belowOne(r *rand.Rand, d mil.DType, shape ...int) nd {
	a := zeros(d, shape...)
	for i := range a.v {
		a.v[i] = r.Float64()*1.6 - 0.8
	}
	return exactly16(a)
}

func TestRecurrent(t *testing.T) {
	effort.SkipShort(t)
	names := []string{"sigmoid", "tanh", "relu", "linear", "scaled_tanh", "sigmoid_hard", "hard_sigmoid"}
	for op, gates := range map[string]int{"rnn": 1, "gru": 3, "lstm": 4} {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(60) {
					steps, batch, in, n := 1+r.IntN(5), 1+r.IntN(3), 1+r.IntN(9), 1+r.IntN(9)
					if k == 7 {
						steps, batch, in, n = 3, 40, 33, 32
					}
					directions := []string{"forward", "reverse", "bidirectional"}[:2]
					if op == "lstm" {
						directions = directions[:3]
					}
					direction := directions[k%len(directions)]
					cells, whole := 1, r.IntN(2) == 0
					if direction == "bidirectional" {
						cells = 2
					}
					x := belowOne(r, d, steps, batch, in)
					h0, c0 := belowOne(r, d, batch, cells*n), belowOne(r, d, batch, cells*n)
					o := operation{op: op, in: []operand{{"x", x, k%9 == 0}, {"initial_h", h0, false}},
						settings: fmt.Sprintf(", direction = string(%q), output_sequence = bool(%t)", direction, whole)}
					if op == "lstm" {
						o.in = append(o.in, operand{"initial_c", c0, false})
					}
					s := cellSettings{gate: "sigmoid", cell: "tanh", final: "tanh", clip: math.Inf(1)}
					if k%3 == 0 {
						s.final = names[r.IntN(len(names))]
						o.settings += fmt.Sprintf(", activation = string(%q)", s.final)
						if op != "rnn" {
							s.gate = names[r.IntN(2)]
							o.settings += fmt.Sprintf(", recurrent_activation = string(%q)", s.gate)
						}
						if op == "lstm" {
							s.cell, s.clip = names[r.IntN(len(names))], 0.25
							o.settings += fmt.Sprintf(", cell_activation = string(%q), clip = fp16(0.25)", s.cell)
						}
					}
					if op == "gru" && k%2 == 0 {
						s.after = true
						o.settings += ", reset_after = bool(true)"
					}
					steps0 := steps
					if !whole {
						steps0 = 1
					}
					o.want = []nd{zeros(d, steps0, batch, cells*n), zeros(d, batch, cells*n), zeros(d, batch, cells*n)}
					for cell := range cells {
						s.ih, s.hh = belowOne(r, d, gates*n, in), belowOne(r, d, gates*n, n)
						suffix := []string{"", "_back"}[cell]
						fixed := r.IntN(2) == 0
						o.in = append(o.in, operand{"weight_ih" + suffix, s.ih, fixed}, operand{"weight_hh" + suffix,
							s.hh, fixed})
						s.bias, s.second, s.peephole = nd{}, nd{}, nd{}
						if r.IntN(2) == 0 {
							s.bias = belowOne(r, d, gates*n)
							o.in = append(o.in, operand{"bias" + suffix, s.bias, fixed})
						}
						if op == "gru" && r.IntN(2) == 0 {
							s.second = belowOne(r, d, gates*n)
							o.in = append(o.in, operand{"input_bias", s.second, fixed})
						}
						if op == "lstm" && r.IntN(2) == 0 {
							s.peephole = belowOne(r, d, 3*n)
							o.in = append(o.in, operand{"peephole" + suffix, s.peephole, fixed})
						}
						for b := range batch {
							h, c := make([]float64, n), make([]float64, n)
							copy(h, h0.v[(b*cells+cell)*n:])
							copy(c, c0.v[(b*cells+cell)*n:])
							for k := range steps {
								from, to := k, k
								if cell == 1 || direction == "reverse" {
									from = steps - 1 - k
								}
								if cell == 1 {
									to = from // beside the first cell's result for the same element
								}
								h, c = s.next(op, x.v[(from*batch+b)*in:][:in], h, c)
								if whole {
									copy(o.want[0].v[((to*batch+b)*cells+cell)*n:], h)
								}
							}
							if !whole {
								copy(o.want[0].v[(b*cells+cell)*n:], h)
							}
							copy(o.want[1].v[(b*cells+cell)*n:], h)
							copy(o.want[2].v[(b*cells+cell)*n:], c)
						}
					}
					if op != "lstm" {
						o.want = o.want[:2]
					}
					o.near(t, func(k, i int, w float64) float64 { return o.oneUlp(k, i, w) + 0x1p-16 })
				}
			})
		}
	}
}
