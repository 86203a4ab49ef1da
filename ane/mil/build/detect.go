package build

import "github.com/anekit/anekit/ane/mil"

// Operators that end detectors and classifiers. Core ML runs them on the CPU.

// NonMaximumSuppression chooses up to maxBoxes boxes in the order of their scores, and returns them with their scores
// and indices. It leaves out those whose intersection over union with a chosen box, with perClass one of their class, is
// greater than iouThreshold. Places after the last chosen box have zeros, and the index -1. A box is x, y, width and
// height around its center: a column of boxes[n, 4, B] and scores[n, K, B].
//
// With scoreThreshold it has the form of the opsets before ios17: a box is a row of boxes[n, B, 4] and scores[n, B, K],
// boxes whose scores are all below it are left out, and count is the number of chosen ones in each image.
func (f *Func) NonMaximumSuppression(
	boxes, scores Value, iouThreshold float64, maxBoxes int, perClass bool, scoreThreshold ...float64,
) (chosen, chosenScores, indices, count Value) {
	c := f.call("non_maximum_suppression", boxes, scores, iouThreshold, nil, maxBoxes, perClass)
	for _, t := range scoreThreshold {
		c.put("score_threshold", t)
	}
	all := append(c.many(3), Value{})
	return all[0], all[1], all[2], all[3]
}

// Classify returns the class with the greatest probability, and all classes with their probabilities. Engines give the
// index of the class, and the probabilities in the order of the classes.
func (f *Func) Classify(probabilities Value, classes ...string) (label, dictionary Value) {
	list := &mil.TupleLit{}
	for _, s := range classes {
		list.Items = append(list.Items, mil.StringLit{Value: s})
	}
	t := mil.Type{Kind: mil.List, Elems: []mil.Type{mil.ScalarOf(mil.String)}, Dims: []mil.Dim{{Size: len(classes)}}}
	return f.call("classify", probabilities, &mil.Value{Type: t, Literal: list}).two()
}
