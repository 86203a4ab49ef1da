package image

import (
	"cmp"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/run"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/element"
)

// model is a program from a picture to a picture.
type model struct {
	path, folder, fill string // the operand, --model-path, --fill-weights

	source   ane.Source
	weights  *tensorfile.WeightFiles
	in       mil.Var
	from, to string // color orders of the pictures, as in coreml; empty for what the channels say
}

// read reads the program and checks that it has a picture on both sides.
func (m *model) read(t *trial.T, a *cli.App) {
	made := trial.Must(tensorfile.ParseFillWeights(m.fill))
	p := trial.Must(a.ReadProgram(t.Ctx, "image", m.path))
	tree, err := mil.ParseTree(p.Name, p.Text)
	trial.NoError(cli.Bad(err))
	function := p.Function("")
	f := tree.Select(function)
	if f == nil {
		trial.NoError(cli.Badf("%s has no function; give a program from a picture to a picture", m.path))
	}
	var in, out []string
	for _, v := range f.Params {
		if v.Type.Kind != mil.State {
			in, m.in = append(in, v.Name), v
		}
	}
	for _, r := range f.Results {
		out = append(out, r.Name)
	}
	if len(in) != 1 || len(out) != 1 {
		trial.NoError(cli.Badf("image takes a program from one picture to one picture; %s has inputs %s and outputs %s: give "+
			"it to run, with --in", m.path, list(in), list(out)))
	}
	if p.Model != nil {
		if d := p.Model.Description.Function(function); d != nil {
			m.from = m.order(d.Inputs, "input", in[0])
			m.to = m.order(d.Outputs, "output", out[0])
		}
	}
	m.weights = run.WeightsOf(a, tree, cmp.Or(m.folder, p.Dir), made)
	m.source = ane.Source{File: p.Name, Text: p.Text, Function: function, Weights: m.weights,
		Shapes: trial.Must(a.ShapesOf(p))}
}

func list(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

// order returns the color order that the description gives to a picture; empty if it does not have the name.
func (m *model) order(features []coreml.Feature, side, name string) string {
	for _, f := range features {
		switch {
		case f.Name != name || f.Kind == "":
		case f.Kind != "imageType":
			trial.NoError(cli.Badf("image takes a model from one picture to one picture; %s %s of %s is no picture (%s): give "+
				"it to run, with --in and --out", side, name, m.path, f.Kind))
		case f.Image != nil:
			return f.Image.Colour
		}
	}
	return ""
}

// opened gives open axes of the input the size of the picture.
func (m *model) opened(p *picture.Picture) {
	if _, fixed := m.in.Type.Shape(); fixed || len(m.in.Type.Dims) != 4 {
		return
	}
	colours := 3
	if tensorfile.Gray(m.from) {
		colours = 1
	}
	shape := []int{1, colours, p.Height, p.Width}
	for i, d := range m.in.Type.Dims {
		if d.Known() {
			shape[i] = d.Size
		}
	}
	if m.source.Shapes == nil {
		m.source.Shapes = map[string][]int{}
	}
	m.source.Shapes[m.in.Name] = shape
}

// apply evaluates the program on the picture of a file, and returns the picture that it computes.
func (m *model) apply(t *trial.T, a *cli.App, p *picture.Picture, file string) (details, *picture.Picture, *trial.Rig) {
	m.opened(p)
	_, rig := run.Load(t, a, m.source)
	x, y := rig.Model.Inputs()[0], rig.Model.Outputs()[0]
	from, to := m.planes("input", x, m.from), m.planes("output", y, m.to)
	data := trial.Must(tensorfile.Samples(p, x, from, "image", file))
	trial.Must(rig.In[x.Name].Write(data.Data))
	d := details{Model: m.path, Opacity: "none", Compile: rig.Compile}
	if p.Translucent {
		d.Opacity = "multiplied"
	}
	d.Evaluate = trial.Must(rig.Request.Evaluate(t.Ctx)).Elapsed
	d.Notes = slices.Concat(rig.Model.Receipt().Notes, data.Notes, m.weights.Notes(m.fill))
	return d, pictureOf(rig.Out[y.Name], y, to), rig
}

// planes checks that a tensor is a picture of one or three channels, and returns its color order.
func (m *model) planes(side string, l ane.Layout, order string) string {
	natural := map[int]string{1: coreml.Gray, 3: coreml.RGB}
	if len(l.Shape) != 4 || l.Shape[0] != 1 || natural[l.Shape[1]] == "" ||
		order != "" && tensorfile.Gray(order) != (l.Shape[1] == 1) {
		trial.NoError(cli.Badf("%s: %s %s has shape %v, but a picture is [1, 3, height, width], gray [1, 1, height, width]: "+
			"give the program to run, with --in and --out", m.path, side, l.Name, l.Shape))
	}
	if w, h := l.Shape[3], l.Shape[2]; w > picture.MaxSide || h > picture.MaxSide || w*h > picture.MaxPixels {
		trial.NoError(cli.Badf("%s: %s %s has %d x %d pixels, more than %d a side or %d in all", m.path, side, l.Name, w, h,
			picture.MaxSide, picture.MaxPixels))
	}
	return cmp.Or(order, natural[l.Shape[1]])
}

// pictureOf makes a picture of a tensor with samples from 0 to 255.
func pictureOf(y *ane.Tensor, l ane.Layout, order string) *picture.Picture {
	channels, height, width := l.Shape[1], l.Shape[2], l.Shape[3]
	p, samples := picture.New(width, height, channels), make([]float32, width)
	data := make([]byte, l.PackedBytes())
	trial.Must(y.Read(data))
	for i := range channels * height {
		for x := range samples {
			samples[x] = float32(element.Load(l.DType, data[(i*width+x)*l.DType.Size():]))
		}
		channel := i / height
		if order == coreml.BGR {
			channel = channels - 1 - channel
		}
		p.SetSamples(channel, i%height, samples)
	}
	return p
}
