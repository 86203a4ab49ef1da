package tensorfile

import (
	"context"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/sniff"
)

// Images are the inputs of a model that take pictures, by their names.
type Images map[string]*coreml.Image

// ImagesOf returns the inputs of a function that take pictures; none without a model.
func ImagesOf(m *coreml.Model, function string) Images {
	if m == nil {
		return nil
	}
	f := m.Description.Function(function)
	if f == nil {
		return nil
	}
	all := Images{}
	for i := range f.Inputs {
		if one := &f.Inputs[i]; one.Image != nil {
			all[one.Name] = one.Image
		}
	}
	return all
}

// picture reports whether the file of a port is a picture.
func (p port) picture() bool { return p.Path != cli.Stdio && sniff.Path(p.Path).Kind == sniff.Picture }

// readPicture reads a picture for an input of shape [1, colours, height, width]. A sample is a number from 0 to 255, as
// Core ML gives it to a program, whose operators do what the description says of scale and bias.
func (p port) readPicture(ctx context.Context, a *cli.App, l ane.Layout, want *coreml.Image) (Array, error) {
	if want == nil {
		return Array{}, cli.Badf("%s: %s is a picture, and the model does not say that %s takes pictures; save it as an "+
			"array of shape %v, with numpy.save", p.what(), p.Path, l.Name, l.Shape)
	}
	f, err := a.OpenInput(ctx, p.what(), p.Path)
	if err != nil {
		return Array{}, err
	}
	defer f.Close()
	pic, err := picture.Read(f, p.Path, picture.MaxPixels)
	if err != nil {
		return Array{}, err
	}
	out, err := Samples(pic, l, want.Colour, p.what(), p.Path)
	for i, n := range out.Notes {
		out.Notes[i] = fmt.Sprintf("%s: %s", p, n)
	}
	out.File = p.String()
	return out, err
}

// Samples returns the samples of a picture, from 0 to 255, for an input in a color order of coreml. what and path name the
// picture in messages.
func Samples(pic *picture.Picture, l ane.Layout, colour, what, path string) (Array, error) {
	gray := Gray(colour)
	colours := 3
	if gray {
		colours = 1
	}
	shape := []int{1, colours, pic.Height, pic.Width}
	switch {
	case !slices.Equal(l.Shape, shape) && len(l.Shape) == 4 && l.Shape[1] == colours:
		return Array{}, cli.Badf("%s: %s has %d x %d pixels, input %s takes %d x %d; scale it first, as with: magick %s "+
			"-resize %dx%d! scaled.png", what, path, pic.Width, pic.Height, l.Name, l.Shape[3], l.Shape[2], path,
			l.Shape[3], l.Shape[2])
	case !slices.Equal(l.Shape, shape):
		return Array{}, cli.Badf("%s: %s gives %v, input %s has shape %v; save it as an array, with numpy.save", what,
			path, shape, l.Name, l.Shape)
	case gray && pic.Channels != 1:
		return Array{}, cli.Badf("%s: %s has colours, input %s takes gray; convert it first, as with: magick %s "+
			"-colorspace gray gray.png", what, path, l.Name, path)
	}
	out := Array{Data: make([]byte, l.PackedBytes()), Notes: slices.Clone(pic.Notes)}
	if pic.Translucent {
		out.Notes = append(out.Notes, "colours are multiplied by their opacity")
	}
	row, at := make([]fp16.Bits, pic.Width+2), 0 // FillRow adds an edge on both sides
	for c := range colours {
		from := min(c, pic.Channels-1) // gray gives all colours
		if colour == coreml.BGR && pic.Channels == colours {
			from = colours - 1 - c
		}
		for y := range pic.Height {
			pic.FillRow(row, from, y)
			for _, sample := range row[1 : pic.Width+1] {
				element.Store(l.DType, out.Data[at:], 256*float64(sample.Float32())) // FillRow divides by 256
				at += l.DType.Size()
			}
		}
	}
	return out, nil
}

// Gray reports whether a color order of coreml has one channel.
func Gray(colour string) bool { return colour == coreml.Gray || colour == coreml.GrayFP16 }
