package run

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// pipeline is what runs beside the measured program, which is the last program of a pipeline.
type pipeline struct {
	before []*cli.Program // programs, in their order
	after  *coreml.Model  // a suppression of boxes; nil for none
	rig    *trial.Rig     // of after

	values []value // outputs of the parts that have run
}

// value is an output of a part.
type value struct {
	ane.Layout
	data   []byte
	copied int // bytes, between the tensor and data
}

// split chooses what of a pipeline runs, and returns the program to measure: the last one that only programs precede. A
// note names what runs and what does not.
func (j *job) split(p *cli.Program) *cli.Program {
	if p.Whole == nil {
		return p
	}
	var runs, idle []string
	last := (*cli.Program)(nil)
	for _, part := range p.Whole.Parts() {
		name := fmt.Sprintf("%s (%s)", part.Name, part.Kind)
		switch {
		case len(idle) == 0 && j.line.after == nil && part.Tree() != nil && len(part.Parts()) == 0:
			if last != nil {
				j.line.before = append(j.line.before, last)
			}
			last = j.PartOf(p, part)
		case len(idle) == 0 && j.line.after == nil && last != nil && suppresses(part):
			j.line.after = part
			name += ", by the software engine"
		default:
			idle = append(idle, name)
			continue
		}
		runs = append(runs, name)
	}
	note := fmt.Sprintf("%s is a pipeline; run evaluates %s", p.Path, strings.Join(runs, ", then "))
	if len(idle) > 0 {
		note += "; it does not run " + strings.Join(idle, ", ")
	}
	if len(runs) > 1 {
		note += "; times are those of " + last.Model.Name
	}
	j.found.Notes = append(j.found.Notes, note)
	return cmp.Or(last, p)
}

// word is a name that MIL text can have.
const word = `^[A-Za-z_][A-Za-z0-9_]*$`

// suppresses reports whether a part is a suppression of boxes whose names MIL text can have.
func suppresses(part *coreml.Model) bool {
	s := part.Suppression
	if s == nil {
		return false
	}
	name := regexp.MustCompile(word)
	return !slices.ContainsFunc([]string{s.ConfidenceIn, s.BoxesIn, s.ConfidenceOut, s.BoxesOut}, func(n string) bool {
		return !name.MatchString(n)
	})
}

// runBefore evaluates the programs before the measured one, once.
func (j *job) runBefore(t *trial.T) {
	for _, p := range j.line.before {
		program, err := mil.ParseTree(p.Name, p.Text)
		trial.NoError(cli.Bad(err))
		weights := j.weightsOf(program, p)
		_, rig := Load(t, j.App, ane.Source{File: p.Name, Text: p.Text, Function: p.Function(""), Weights: weights,
			Shapes: trial.Must(j.ShapesOf(p))})
		j.weights.Made, j.weights.Why = append(j.weights.Made, weights.Made...), append(j.weights.Why, weights.Why...)
		j.fill(t.Ctx, rig, p.Model)
		trial.Must(rig.Request.Evaluate(t.Ctx))
		j.keep(rig)
	}
}

// keep keeps the outputs of a part for later parts.
func (j *job) keep(rig *trial.Rig) {
	for _, l := range rig.Model.Outputs() {
		data := make([]byte, l.PackedBytes())
		copied := trial.Must(rig.Out[l.Name].Read(data))
		j.line.values = append(j.line.values, value{l, data, copied})
	}
}

// from returns what an earlier part computed for an input; false if none did.
func (j *job) from(l ane.Layout) (one tensorfile.Array, ok bool) {
	for _, v := range slices.Backward(j.line.values) {
		if v.Name == l.Name {
			return trial.Must(tensorfile.Carry(v.Layout, v.data, l)), true
		}
	}
	return one, false
}

// loadAfter loads the suppression of boxes on the software engine, for the outputs of the measured program. Where these
// are not boxes and scores, it says so and leaves the part out.
func (j *job) loadAfter(t *trial.T, outputs []ane.Layout) {
	if j.line.after == nil {
		return
	}
	s := j.line.after.Suppression
	find := func(name string) (l ane.Layout) {
		for _, v := range j.line.values {
			if v.Name == name {
				l = v.Layout
			}
		}
		for _, o := range outputs {
			if o.Name == name {
				l = o
			}
		}
		return l
	}
	scores, boxes := squeezed(find(s.ConfidenceIn)), squeezed(find(s.BoxesIn))
	if len(scores) != 2 || len(boxes) != 2 || boxes[1] != 4 || scores[0] != boxes[0] {
		j.found.Notes = append(j.found.Notes, fmt.Sprintf("part %s is not run: it takes scores %s [boxes, labels] and %s "+
			"[boxes, 4], which are %v and %v", j.line.after.Name, s.ConfidenceIn, s.BoxesIn, scores, boxes))
		j.line.after = nil
		return
	}
	d := trial.Must(engine.Open(t.Ctx, engine.Soft))
	t.Closing(d.Close)
	j.line.rig = trial.NewRig(&t.T, d, ane.Source{File: j.line.after.Name, Text: suppression(s, scores[0], scores[1])})
}

func squeezed(l ane.Layout) []int {
	if len(l.Shape) > 2 && l.Shape[0] == 1 {
		return l.Shape[1:]
	}
	return l.Shape
}

// suppression is the program of a suppression of n boxes with k labels.
func suppression(s *coreml.Suppression, n, k int) []byte {
	return fmt.Appendf(nil, `program(1.0)
{
    func main<ios16>(tensor<fp32, [%[1]d, %[2]d]> %[3]s, tensor<fp32, [%[1]d, 4]> %[4]s) {
        tensor<fp32, [1, %[1]d, %[2]d]> in_scores = expand_dims(x = %[3]s, axes = tensor<int32, [1]>([0]));
        tensor<fp32, [1, %[1]d, 4]> in_boxes = expand_dims(x = %[4]s, axes = tensor<int32, [1]>([0]));
        tensor<fp32, [1, %[1]d, 4]> out_boxes, tensor<fp32, [1, %[1]d, %[2]d]> out_scores, `+
		`tensor<int32, [1, %[1]d]> box_indices, tensor<int32, [1]> number_of_boxes = non_maximum_suppression(`+
		`boxes = in_boxes, scores = in_scores, iou_threshold = fp32(%[7]g), score_threshold = fp32(%[8]g), `+
		`max_boxes = int32(%[1]d), per_class_suppression = bool(%[9]v));
        tensor<fp32, [%[1]d, %[2]d]> %[5]s = squeeze(x = out_scores, axes = tensor<int32, [1]>([0]));
        tensor<fp32, [%[1]d, 4]> %[6]s = squeeze(x = out_boxes, axes = tensor<int32, [1]>([0]));
    } -> (%[5]s, %[6]s, number_of_boxes);
}
`, n, k, s.ConfidenceIn, s.BoxesIn, s.ConfidenceOut, s.BoxesOut, s.Overlap, s.Confidence, s.PerClass)
}

// runAfter evaluates the suppression of boxes.
func (j *job) runAfter(ctx context.Context) {
	if j.line.rig == nil {
		return
	}
	for _, l := range j.line.rig.Model.Inputs() {
		one, ok := j.from(l)
		if !ok {
			trial.NoError(cli.Badf("part %s: no part gives %s; choose a part with --part", j.line.after.Name, l.Name))
		}
		trial.Must(j.line.rig.In[l.Name].Write(one.Data))
	}
	trial.Must(j.line.rig.Request.Evaluate(ctx))
	j.keep(j.line.rig)
}

// given returns the layouts of all outputs: those of the parts before the measured program, its own, and those of the
// part after it.
func (j *job) given(own []ane.Layout) (all []ane.Layout) {
	for _, v := range j.line.values {
		all = append(all, v.Layout)
	}
	all = append(all, own...)
	if j.line.rig != nil {
		all = append(all, j.line.rig.Model.Outputs()...)
	}
	return all
}
