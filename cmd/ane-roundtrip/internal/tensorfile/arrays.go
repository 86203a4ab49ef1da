package tensorfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
)

// Array is what a file has for a tensor.
type Array struct {
	File  string   // as reports name it
	Data  []byte   // dense elements of the type of the tensor
	Notes []string // on conversions
}

// Read reads the arrays that the flag names, by the names of their tensors.
// images are the inputs that take pictures.
func (all Ports) Read(
	ctx context.Context, a *cli.App, layouts []ane.Layout, images Images,
) (map[string]Array, error) {
	found := map[string]Array{}
	for _, l := range layouts {
		if p, ok := all.Find(l.Name); ok {
			one, err := p.Read(ctx, a, l, images[l.Name])
			if err != nil {
				return nil, err
			}
			found[l.Name] = one
		}
	}
	return found, nil
}

// Read reads the array for a tensor, or a picture as image says; nil for an input that takes none.
func (p port) Read(ctx context.Context, a *cli.App, l ane.Layout, image *coreml.Image) (Array, error) {
	if p.picture() {
		return p.readPicture(ctx, a, l, image)
	}
	f, err := a.OpenInput(ctx, p.what(), p.Path)
	if err != nil {
		return Array{}, err
	}
	defer f.Close()
	side := "input"
	if p.flag == "--expect" {
		side = "output"
	}
	found, err := read(f, p, acceptFor(side, l))
	if fault := (*npy.Error)(nil); errors.As(err, &fault) {
		switch {
		case p.Path == cli.Stdio && fault.What == npy.NotSingle:
			fault.Fix = "write it to a file and name one of its arrays, as FILE.npz:KEY"
		case fault.Like != 0:
			fault.Fix = convert(fault.Like, l.DType)
		}
	}
	if err != nil {
		return Array{}, cli.Bad(err)
	}
	data, notes := elements(found, l)
	for i := range notes {
		notes[i] = fmt.Sprintf("%s: %s", p, notes[i])
	}
	return Array{p.String(), data, notes}, nil
}

// Carry converts dense elements of one tensor to those of another, as Read does for a file.
func Carry(from ane.Layout, data []byte, to ane.Layout) (Array, error) {
	if fault := acceptFor("input", to)(from.DType, from.Shape); fault != nil {
		return Array{}, cli.Bad(fault)
	}
	data, notes := elements(&npy.Array{Type: from.DType, Shape: from.Shape, Data: data}, to)
	return Array{Data: data, Notes: notes}, nil
}

// read reads the array of a file, or one of an archive. A file that is called .npz may hold a single array.
func read(f *cli.InputFile, p port, accept npy.Accept) (*npy.Array, error) {
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case p.Path == cli.Stdio:
		return npy.ReadOpen(f, "standard input", accept)
	case !p.archive:
		return npy.ReadOpen(f, p.Path, accept)
	case !info.Mode().IsRegular():
		return nil, cli.Badf("%s: an .npz archive has to be a regular file; write it to a file first", p.Path)
	case info.Size() == 0:
		return nil, cli.Badf("%s: the file is empty; save the arrays again with numpy.savez", p.Path)
	default:
		archive, err := npy.OpenArchive(f, info.Size(), p.Path)
		if err == nil {
			return archive.Read(p.key, accept)
		}
		if single, fault := npy.ReadOpen(f, p.Path, accept); fault == nil {
			return single, nil
		}
		return nil, err
	}
}
