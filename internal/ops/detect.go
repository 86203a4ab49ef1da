package ops

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
)

// detections end detectors and classifiers. Attrs of non_maximum_suppression is a Suppression, that of classify nil.
var detections = []*Def{
	{Name: "non_maximum_suppression", support: like("no project has it there", "suppress boxes on the host"),
		Params: []*Param{
			tensor("boxes", floats...).ranks(3, 3, boxed, "shape %v"), tensor("scores").ranks(3, 3, boxed, "shape %v"),
			number("iou_threshold"), number("score_threshold").optional(), integer("max_boxes").sized(),
			boolean("per_class_suppression").or(false)}, infer: inferSuppression},
	{Name: "classify", support: like("no surface has its results",
		"return the probabilities and choose on the host"), infer: inferClassify, Params: []*Param{
		tensor("probabilities", floats...), word("classes")}},
}

const boxed = "give boxes[n, B, 4] and scores[n, B, K] with score_threshold, or boxes[n, 4, B] and scores[n, K, B]"

// Suppression holds the settings of non_maximum_suppression. The score of a box is the greatest of its scores, and the
// first class that has it is the class of the box.
type Suppression struct {
	Overlap  float64 // boxes with a greater intersection over union with a chosen one are left out
	Least    float64 // boxes with a smaller score are left out
	Most     int     // boxes that are chosen
	PerClass bool    // a chosen box leaves out boxes of its own class alone
	Columns  bool    // the form of ios17: a box is a column, and the number of boxes is no result
}

// inferSuppression takes two forms: that of ios15 with score_threshold, where a box is a row, and that of ios17.
func inferSuppression(c *Call, boxes *Value) {
	scores, least := c.Value("scores"), c.Value("score_threshold")
	a := Suppression{Overlap: c.number("iou_threshold"), Least: math.Inf(-1), Most: c.integer("max_boxes"),
		PerClass: c.boolean("per_class_suppression"), Columns: least == nil}
	if least != nil {
		a.Least = c.number("score_threshold")
	}
	list, row := 1, 2 // axes
	if a.Columns {
		list, row = 2, 1
	}
	c.refuseIf(boxes.Shape[row] != 4, "boxes", boxed, "shape %v", boxes.Shape)
	c.refuseIf(scores.Shape[0] != boxes.Shape[0] || scores.Shape[list] != boxes.Shape[list], "scores", boxed,
		"shape %v for boxes%v", scores.Shape, boxes.Shape)
	c.refuseIf(a.Most < 1 || a.Most > MaxElements, "max_boxes", "choose at least one", "%d", a.Most)
	batch := boxes.Shape[0]
	c.gives(a, boxes.DType, with(boxes.Shape, list, a.Most))
	c.gives(a, scores.DType, with(scores.Shape, list, a.Most))
	c.gives(a, mil.Int32, []int{batch, a.Most})
	if !a.Columns {
		c.gives(a, mil.Int32, []int{batch})
	}
}

// inferClassify gives the label as its index in classes, and the dictionary as the probabilities in the order of the
// classes: no surface holds a string or a dictionary.
func inferClassify(c *Call, x *Value) {
	classes := c.Value("classes")
	c.refuseIf(classes.Written == nil || classes.Elements() != x.Elements(), "classes",
		"give list<string, n> or list<int64, n> with a class for each of the probabilities", "%v for probabilities%v",
		classes.Type(), x.Shape)
	class := classes.Written.Elems[0]
	c.gives(nil, mil.Int32, nil)
	c.gives(nil, x.DType, []int{x.Elements()})
	c.Out[0].Written = &class
	c.Out[1].Written = &mil.Type{Kind: mil.Dict, Elems: []mil.Type{class, mil.ScalarOf(mil.FP64)}}
	c.note("Core ML gives a label and a dictionary; here they are the index of the label and the probabilities in the " +
		"order of the classes: " + classes.first(3))
}

// first lists the first n elements of a list.
func (v *Value) first(n int) string {
	var names []string
	for i := range min(n, v.Elements()) {
		if v.Text != nil {
			names = append(names, strconv.Quote(near.Cut(v.Text[i])))
		} else {
			names = append(names, fmt.Sprint(v.Floats()[i]))
		}
	}
	if more := v.Elements() - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// list returns the constant of a list: its strings, or its numbers.
func (a *analysis) list(m *mil.Value) *Value {
	t := m.Type
	var items []mil.Literal
	switch l := m.Literal.(type) {
	case *mil.TupleLit:
		items = l.Items
	case *mil.ListLit:
		items = l.Items
	}
	if len(t.Elems) != 1 || len(t.Dims) != 1 || !t.Dims[0].Known() || t.Dims[0].Size != len(items) || len(items) == 0 {
		a.fail(m.Pos, `write list<string, 2>(("a", "b"))`, "constant: %d elements for %s", len(items), t)
		return nil
	}
	v := &Value{Name: "constant", Pos: m.Pos, DType: t.Elems[0].DType, Shape: []int{len(items)}, Written: &t, known: true,
		Folded: true}
	flat := *m
	flat.Type, flat.Literal = mil.TensorOf(v.DType, len(items)), &mil.ListLit{Pos: m.Pos, Items: items}
	var err error
	switch v.DType {
	case mil.String:
		v.Text, err = flat.Strings()
	case mil.Int64, mil.Int32:
		var list []int64
		list, err = flat.IntsContext(a.ctx)
		v.Data = encodeInts(v.DType, list)
	default:
		a.fail(m.Pos, "list strings or whole numbers", "constant: %s is not supported", t)
		return nil
	}
	if err != nil {
		a.wrap(m.Pos, err)
		return nil
	}
	if a.survey {
		v.Literal = m
	}
	return v
}
