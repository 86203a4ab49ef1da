package soft_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// einsumCase adds the product of every combination of the letters to one element.
func einsumCase(equation string, x, y nd) (operation, sums) {
	in, out, _ := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	xs, ys, _ := strings.Cut(in, ",")
	var letters string
	var lengths []int
	for i, l := range xs + ys {
		n := slices.Concat(x.shape, y.shape)[i]
		if k := strings.IndexRune(letters, l); k >= 0 {
			lengths[k] = max(lengths[k], n)
		} else {
			letters, lengths = letters+string(l), append(lengths, n)
		}
	}
	pick := func(names string, shape, i []int) []int {
		at := []int{}
		for k, l := range names {
			p := i[strings.IndexRune(letters, l)]
			if shape != nil && shape[k] == 1 {
				p = 0
			}
			at = append(at, p)
		}
		return at
	}
	s := sums{want: zeros(x.d, pick(out, nil, lengths)...), terms: 1}
	s.mass = make([]float64, len(s.want.v))
	each(lengths, func(i []int) {
		p := x.at(pick(xs, x.shape, i)...) * y.at(pick(ys, y.shape, i)...)
		at := s.want.index(pick(out, nil, i))
		s.want.v[at] += p
		s.mass[at] += math.Abs(p)
	})
	s.terms = volume(lengths) / volume(s.want.shape)
	return operation{op: "einsum", in: []operand{{"values", x, false}, {"values", y, false}}, want: []nd{s.want},
		settings: fmt.Sprintf(", equation = string(%q)", equation)}, s
}

func TestEinsum(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for _, equation := range []string{"nchw,nwhu->nchu", "chw,whr->chr", "abcd, adce -> abce", "ij,jk->ik",
			"ij,jk->ki",
			"ji,kj->ik", "ij,ij->", "i,j->ij", "i,i->", "ij,kj->", "bij,bjk->bik", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk",
			"bhqk,bkhd->bqhd", "abcde,edcba->", "ij,k->i", "ij,k->kji", "abc,c->ba", "a,->a"} {
			for range effort.Cases(6) {
				in, _, _ := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
				length := map[rune]int{}
				shapes := [2][]int{}
				for i, names := range strings.Split(in, ",") {
					for _, l := range names {
						if length[l] == 0 {
							length[l] = []int{1, 2, 3, 5, 7, 33}[r.IntN(6-min(len(names), 4))]
						}
						n := length[l]
						if r.IntN(8) == 0 {
							n = 1 // repeated, if the other operand has more
						}
						shapes[i] = append(shapes[i], n)
					}
				}
				x, y := fill(r, d, shapes[0]...), fill(r, d, shapes[1]...)
				o, s := einsumCase(equation, x, y)
				o.in[r.IntN(2)].fixed = r.IntN(2) == 0
				o.near(t, s.bound)
			}
		}
	}
	if !effort.Full() {
		return // the reference of the rest takes seconds
	}
	// Tile borders in every direction.
	r := seeded(t)
	o, s := einsumCase("nchw,nwhu->nchu", fill(r, mil.FP16, 1, 40, 2, 70), fill(r, mil.FP16, 1, 70, 2, 300))
	o.near(t, s.bound)
}
