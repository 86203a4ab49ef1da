package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// chosen is non_maximum_suppression by its definition, in the form of rows: it sorts all boxes, and drops from the list
// what each chosen box overlaps. It shares no code with the engine.
func chosen(boxes, scores nd, overlap, least float64, most int, perClass bool) (b, s, index, count nd) {
	n, all, k := boxes.shape[0], boxes.shape[1], scores.shape[2]
	b, s = zeros(boxes.d, n, most, 4), zeros(scores.d, n, most, k)
	index, count = zeros(mil.Int32, n, most), zeros(mil.Int32, n)
	area := func(r [4]float64) float64 { return math.Max(0, r[2]-r[0]) * math.Max(0, r[3]-r[1]) }
	for im := range n {
		type candidate struct {
			at, class int
			score     float64
			corners   [4]float64
		}
		var list []candidate
		for i := range all {
			c := candidate{at: i, score: scores.at(im, i, 0)}
			for j := 1; j < k; j++ {
				if v := scores.at(im, i, j); v > c.score {
					c.score, c.class = v, j
				}
			}
			w, h := boxes.at(im, i, 2), boxes.at(im, i, 3)
			c.corners = [4]float64{boxes.at(im, i, 0) - w/2, boxes.at(im, i, 1) - h/2, boxes.at(im, i, 0) + w/2,
				boxes.at(im, i, 1) + h/2}
			list = append(list, c)
		}
		slices.SortStableFunc(list, func(x, y candidate) int {
			switch {
			case x.score > y.score:
				return -1
			case x.score < y.score:
				return 1
			}
			return 0
		})
		first := list[0]
		list = slices.DeleteFunc(list, func(c candidate) bool { return c.score < least })
		var kept []candidate
		for len(list) > 0 {
			best := list[0]
			kept = append(kept, best)
			list = slices.DeleteFunc(list[1:], func(c candidate) bool {
				common := area([4]float64{math.Max(c.corners[0], best.corners[0]), math.Max(c.corners[1], best.corners[1]),
					math.Min(c.corners[2], best.corners[2]), math.Min(c.corners[3], best.corners[3])})
				union := area(c.corners) + area(best.corners) - common
				return (!perClass || c.class == best.class) && common > overlap*union
			})
		}
		if len(kept) == 0 {
			kept = append(kept, first)
		}
		kept = kept[:min(len(kept), most)]
		count.set(float64(len(kept)), im)
		for to := range most {
			if index.set(-1, im, to); to >= len(kept) {
				continue
			}
			index.set(float64(kept[to].at), im, to)
			for j := range 4 {
				b.set(boxes.at(im, kept[to].at, j), im, to, j)
			}
			for j := range k {
				s.set(scores.at(im, kept[to].at, j), im, to, j)
			}
		}
	}
	return b, s, index, count
}

// columns turns rows [n, B, k] into [n, k, B].
func columns(a nd) nd {
	t := zeros(a.d, a.shape[0], a.shape[2], a.shape[1])
	each(a.shape, func(i []int) { t.set(a.at(i...), i[0], i[2], i[1]) })
	return t
}

func TestSuppression(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for i := range 60 {
		d := []mil.DType{mil.FP16, mil.FP32}[i%2]
		n, all, k, most := 1+r.IntN(3), 1+r.IntN(60), 1+r.IntN(4), 1+r.IntN(40)
		boxes, scores := zeros(d, n, all, 4), zeros(d, n, all, k)
		for j := range boxes.v { // eighths: overlaps and comparisons are exact, and ties are frequent
			boxes.v[j] = float64(r.IntN(64)) / 8
		}
		for j := range scores.v {
			scores.v[j] = float64(r.IntN(41)-20) / 4
		}
		overlap, least := []float64{0, 0.25, 0.5, 1}[r.IntN(4)], []float64{-9, 0, 1.5, 9}[r.IntN(4)]
		perClass := r.IntN(2) == 0
		settings := fmt.Sprintf(", iou_threshold = %v(%v), max_boxes = int32(%d), per_class_suppression = bool(%v)", d,
			overlap, most, perClass)
		b, s, at, count := chosen(boxes, scores, overlap, least, most, perClass)
		operation{op: "non_maximum_suppression", in: []operand{{"boxes", boxes, false}, {"scores", scores, i%3 == 0}},
			settings: settings + fmt.Sprintf(", score_threshold = %v(%v)", d, least),
			want:     []nd{b, s, at, count}}.exact(t)
		b, s, at, _ = chosen(boxes, scores, overlap, math.Inf(-1), most, perClass)
		operation{op: "non_maximum_suppression", in: []operand{{"boxes", columns(boxes), i%3 == 1},
			{"scores", columns(scores), false}}, settings: settings, want: []nd{columns(b), columns(s), at}}.exact(t)
	}
}

// The example of coremltools' own test, and scores that are no numbers.
func TestSuppressionOfExamples(t *testing.T) {
	boxes := nd{mil.FP32, []int{1, 4, 4}, []float64{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}}
	const settings = ", iou_threshold = fp32(0.2), score_threshold = fp32(0.4), max_boxes = int32(2), " +
		"per_class_suppression = bool(true)"
	try := func(scores []float64, at []float64, count float64) {
		t.Helper()
		b, s := zeros(mil.FP32, 1, 2, 4), zeros(mil.FP32, 1, 2, 1)
		for i, k := range at {
			if k >= 0 {
				copy(b.v[4*i:4*i+4], boxes.v[4*int(k):])
				s.v[i] = scores[int(k)]
			}
		}
		operation{op: "non_maximum_suppression", in: []operand{{"boxes", boxes, false}, {"scores", nd{mil.FP32,
			[]int{1, 4, 1}, scores}, false}}, settings: settings, want: []nd{b, s, {mil.Int32, []int{1, 2}, at},
			{mil.Int32, []int{1}, []float64{count}}}}.exact(t)
	}
	try([]float64{-3.5, 9.4, 2.3, 0.7}, []float64{1, 2}, 2)
	try([]float64{-3.5, -9.4, -2.3, -4}, []float64{2, -1}, 1)
	try([]float64{math.NaN(), 0, 0.5, math.NaN()}, []float64{2, -1}, 1)
	try([]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}, []float64{0, -1}, 1)
}

func TestClassify(t *testing.T) {
	for name, c := range map[string]struct {
		p    []float64
		want float64
	}{"last": {[]float64{0.25, 0.125, 0.5}, 2}, "first of equal ones": {[]float64{0.25, 0.5, 0.5}, 1},
		"no number": {[]float64{math.NaN(), 0.5, 0.25}, 1}} {
		text := `program(1.0)
{
func main<ios15>(tensor<fp32, [1, 3]> p) {
	list<tensor<string, []>, 3> names = const()[name = tensor<string, []>("names"), val = list<tensor<string, []>, 3>(("cat", "dog", "owl"))];
	tensor<string, []> label, dict<tensor<string, []>, tensor<fp64, []>> all = classify(classes = names, probabilities = p);
} -> (label, all);
}`
		in := nd{mil.FP32, []int{1, 3}, c.p}
		out := evaluate(t, text, map[string][]byte{"p": encode(in)})
		require.Equal(t, encode(nd{mil.Int32, nil, []float64{c.want}}), out["label"], name)
		require.Equal(t, encode(in), out["all"], name)
	}
}
