package coreml

import (
	"github.com/anekit/anekit/ane/mil"
)

// Description says what a model takes and gives.
type Description struct {
	Specification int        // version of the format; 0 if unknown
	Functions     []Function // one for each function of the program, at least one
	Default       string     // the function that runs where none is named
	Summary       string
	Version       string // of the model, in its author's words
	Author        string
	License       string
	Metadata      map[string]string
}

// Function returns the description of the function called name, of the default one for an empty name, or nil.
func (d *Description) Function(name string) *Function {
	if name == "" {
		name = d.Default
	}
	for i := range d.Functions {
		if d.Functions[i].Name == name {
			return &d.Functions[i]
		}
	}
	return nil
}

// Function describes a function of a program, or a part without one.
type Function struct {
	Name          string
	Inputs        []Feature
	Outputs       []Feature
	States        []Feature
	Predicted     string   // of a classifier: the output with the label; may be empty
	Probabilities string   // of a classifier: the output with the probabilities; may be empty
	Labels        []string // of a classifier: the labels in the order of its probabilities
}

// Input returns the input called name, or nil. A nil Function has none.
func (f *Function) Input(name string) *Feature {
	if f == nil {
		return nil
	}
	for i := range f.Inputs {
		if f.Inputs[i].Name == name {
			return &f.Inputs[i]
		}
	}
	return nil
}

// Feature describes an input, an output or a state.
type Feature struct {
	Name     string
	Summary  string
	Kind     string    // multiArrayType, imageType, stateType, int64Type, doubleType, stringType, dictionaryType ..
	DType    mil.DType // of an array or a state
	Optional bool
	// Shape is the length of each axis, of the default shape if it is flexible; nil if the model does not say. An image
	// has the shape that its program takes: 1, its channels, height, width.
	Shape  []int
	Shapes [][]int  // the shapes to choose from; nil if there is no such list
	Ranges [][2]int // the least and the greatest length of each axis, -1 for no greatest; nil if there are none
	Image  *Image   // of an imageType
	From   string   // of an input of a pipeline's part: the part whose output it is, empty for an input of the pipeline
}

// Flexible reports whether more than one shape is allowed.
func (f *Feature) Flexible() bool {
	for _, r := range f.Ranges {
		if r[0] != r[1] {
			return true
		}
	}
	return len(f.Shapes) > 1
}

// Image says what pictures an input takes. Its program takes their pixels as they are, 0 to 255 in a plane for each
// colour; scale and bias are operators of the program.
type Image struct {
	Width  int
	Height int
	Colour string // RGB, BGR, Gray or GrayFP16
}

// The colour layouts of images.
const (
	RGB      = "RGB"
	BGR      = "BGR"
	Gray     = "GRAYSCALE"
	GrayFP16 = "GRAYSCALE_FLOAT16"
)

// channels is the number of planes.
func (i *Image) channels() int {
	if i.Colour == Gray || i.Colour == GrayFP16 {
		return 1
	}
	return 3
}

// Suppression is what a part of kind nonMaximumSuppression does: of boxes that overlap it keeps those of the greatest
// confidence.
type Suppression struct {
	PerClass                bool    // boxes of one label suppress each other alone
	Overlap                 float64 // intersection over union above which a box is suppressed
	Confidence              float64 // least confidence of a box
	Labels                  []string
	ConfidenceIn, BoxesIn   string // inputs: boxes by labels; boxes by x, y, width, height
	OverlapIn, LeastIn      string // optional inputs in place of Overlap and Confidence
	ConfidenceOut, BoxesOut string
}
