package coreml

import (
	"math"
	"strconv"

	"github.com/anekit/anekit/ane/mil"
)

// description reads a ModelDescription.
func (r *reader) description(v value) (d Description) {
	only := Function{Name: "main"}
	r.each(v, func(name string, v value) {
		switch name {
		case "functions":
			d.Functions = append(d.Functions, r.described(v))
		case "defaultFunctionName":
			d.Default = v.str()
		case "metadata":
			r.metadata(&d, v)
		case "trainingInput":
			r.note("inputs for training were not read")
		default:
			r.part(&only, name, v)
		}
	})
	if len(d.Functions) == 0 {
		d.Functions = []Function{only}
	}
	if d.Default == "" {
		d.Default = d.Functions[0].Name
	}
	return d
}

// described reads a FunctionDescription.
func (r *reader) described(v value) (f Function) {
	r.each(v, func(name string, v value) {
		if name == "name" {
			f.Name = rename(v.str())
		} else {
			r.part(&f, name, v)
		}
	})
	if f.Name == "" {
		r.fail(v.b, broken, "a function is described without its name")
	}
	return f
}

// part reads one field that the descriptions of models and of functions share.
func (r *reader) part(f *Function, name string, v value) {
	switch name {
	case "input":
		f.Inputs = append(f.Inputs, r.feature(v))
	case "output":
		f.Outputs = append(f.Outputs, r.feature(v))
	case "state":
		f.States = append(f.States, r.feature(v))
	case "predictedFeatureName":
		f.Predicted = v.str()
	case "predictedProbabilitiesName":
		f.Probabilities = v.str()
	}
}

func (r *reader) metadata(d *Description, v value) {
	r.each(v, func(name string, v value) {
		switch name {
		case "shortDescription":
			d.Summary = v.str()
		case "versionString":
			d.Version = v.str()
		case "author":
			d.Author = v.str()
		case "license":
			d.License = v.str()
		case "userDefined":
			if d.Metadata == nil {
				d.Metadata = map[string]string{}
			}
			key, content := r.entry(v)
			d.Metadata[key] = content.str()
		}
	})
}

func (r *reader) feature(v value) (f Feature) {
	r.each(v, func(name string, v value) {
		switch name {
		case "name":
			f.Name = v.str()
		case "shortDescription":
			f.Summary = v.str()
		case "type":
			r.featureType(&f, v)
		}
	})
	if f.Name == "" {
		r.fail(v.b, broken, "an input, output or state has no name")
	}
	return f
}

func (r *reader) featureType(f *Feature, v value) {
	r.each(v, func(name string, v value) {
		if name == "isOptional" {
			f.Optional = v.n != 0
			return
		}
		f.Kind = name
		switch name {
		case "multiArrayType":
			r.array(f, v)
		case "stateType":
			r.each(v, func(_ string, v value) { r.array(f, v) })
		case "imageType":
			r.image(f, v)
		}
	})
}

// array reads an ArrayFeatureType.
func (r *reader) array(f *Feature, v value) {
	r.each(v, func(name string, v value) {
		switch name {
		case "shape":
			f.Shape = r.lengths(f.Shape, v)
		case "dataType":
			if f.DType = mil.ParseDType(arrays[v.n]); f.DType == mil.NoType {
				r.note("%s is an array of the unknown type %d", short(f.Name), v.n)
			}
		case "enumeratedShapes":
			r.each(v, func(_ string, v value) {
				shape := []int{}
				r.each(v, func(_ string, v value) { shape = r.lengths(shape, v) })
				f.Shapes = append(f.Shapes, shape)
			})
		case "shapeRange":
			r.each(v, func(_ string, v value) { f.Ranges = append(f.Ranges, r.sizes(v)) })
		}
	})
	if f.Shape == nil {
		f.Shape = first(f.Shapes, f.Ranges)
	}
}

// first returns the default shape of a feature that names none: the first of its shapes, or the least lengths.
func first(shapes [][]int, ranges [][2]int) (shape []int) {
	if len(shapes) > 0 {
		return shapes[0]
	}
	for _, r := range ranges {
		shape = append(shape, r[0])
	}
	return shape
}

// lengths appends the lengths of axes.
func (r *reader) lengths(list []int, v value) []int {
	for _, n := range r.integers(nil, v) {
		if n < 0 {
			r.fail(v.b, broken, "an axis of %d elements", n)
		}
		list = append(list, int(n))
	}
	return list
}

// sizes reads a SizeRange.
func (r *reader) sizes(v value) (s [2]int) {
	r.each(v, func(name string, v value) {
		n := int(min(v.n, math.MaxInt))
		if name == "lowerBound" {
			s[0] = n
			return
		}
		if s[1] = n; int64(v.n) < 0 {
			s[1] = -1
		}
	})
	return s
}

// image reads an ImageFeatureType.
func (r *reader) image(f *Feature, v value) {
	i := &Image{}
	size := func(v value) (s [2]int) { // width, height
		r.each(v, func(name string, v value) {
			n := int(min(v.n, math.MaxInt))
			if name == "width" {
				s[0] = n
			} else {
				s[1] = n
			}
		})
		return s
	}
	var sizes [][2]int
	var width, height [2]int
	ranged := false
	r.each(v, func(name string, v value) {
		switch name {
		case "width":
			i.Width = int(min(v.n, math.MaxInt))
		case "height":
			i.Height = int(min(v.n, math.MaxInt))
		case "colorSpace":
			if i.Colour = colours[v.n]; i.Colour == "" {
				r.note("%s is a picture of the unknown colour layout %d", short(f.Name), v.n)
			}
		case "enumeratedSizes":
			r.each(v, func(_ string, v value) { sizes = append(sizes, size(v)) })
		case "imageSizeRange":
			ranged = true
			r.each(v, func(name string, v value) {
				if name == "widthRange" {
					width = r.sizes(v)
				} else {
					height = r.sizes(v)
				}
			})
		}
	})
	c := i.channels()
	for _, s := range sizes {
		f.Shapes = append(f.Shapes, []int{1, c, s[1], s[0]})
	}
	if ranged {
		f.Ranges = [][2]int{{1, 1}, {c, c}, height, width}
	}
	f.Shape = []int{1, c, i.Height, i.Width}
	if i.Width == 0 && i.Height == 0 {
		if s := first(f.Shapes, f.Ranges); s != nil {
			f.Shape, i.Width, i.Height = s, s[3], s[2]
		}
	}
	f.Image = i
}

// suppression reads a NonMaximumSuppression.
func (r *reader) suppression(v value) *Suppression {
	s := &Suppression{}
	words := map[string]*string{
		"confidenceInputFeatureName": &s.ConfidenceIn, "coordinatesInputFeatureName": &s.BoxesIn,
		"iouThresholdInputFeatureName": &s.OverlapIn, "confidenceThresholdInputFeatureName": &s.LeastIn,
		"confidenceOutputFeatureName": &s.ConfidenceOut, "coordinatesOutputFeatureName": &s.BoxesOut,
	}
	r.each(v, func(name string, v value) {
		switch name {
		case "pickTop":
			r.each(v, func(_ string, v value) { s.PerClass = v.n != 0 })
		case "stringClassLabels":
			r.each(v, func(_ string, v value) { s.Labels = append(s.Labels, v.str()) })
		case "int64ClassLabels":
			r.each(v, func(_ string, v value) {
				for _, n := range r.integers(nil, v) {
					s.Labels = append(s.Labels, strconv.FormatInt(n, 10))
				}
			})
		case "iouThreshold":
			s.Overlap = math.Float64frombits(v.n)
		case "confidenceThreshold":
			s.Confidence = math.Float64frombits(v.n)
		default:
			*words[name] = v.str()
		}
	})
	return s
}
