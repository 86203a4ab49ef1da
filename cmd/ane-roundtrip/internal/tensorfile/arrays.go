package tensorfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
)

// Array reads the array that a flag names for a tensor, and returns dense elements of the type of
// the tensor. The notes name the conversions.
func Array(a *cli.App, ctx context.Context, flag, side string, p port, l ane.Layout) (data []byte,
	notes []string, err error) {
	f, err := a.OpenInput(ctx, flag+" "+p.Name, p.Path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var found *npy.Array
	if p.archive {
		found, err = member(f, p, acceptFor(side, l))
	} else {
		name := p.Path
		if p.Path == cli.Stdio {
			name = "standard input"
		}
		found, err = npy.ReadOpen(f, name, acceptFor(side, l))
	}
	if e := (*npy.Error)(nil); p.Path == cli.Stdio && errors.As(err, &e) && e.What == npy.NotSingle {
		e.Fix = "write it to a file and name one of its arrays, as FILE.npz:KEY"
	}
	if e := (*npy.Error)(nil); errors.As(err, &e) && e.Like != 0 {
		e.Fix = convert(e.Like, l.DType)
	}
	if err != nil {
		return nil, nil, cli.Bad(err)
	}
	data, notes = elements(found, l)
	for i := range notes {
		notes[i] = fmt.Sprintf("%s: %s", p, notes[i])
	}
	return data, notes, nil
}

// member reads one array of an archive. It also accepts a file that is called .npz but holds a
// single array.
func member(f *cli.InputFile, p port, accept npy.Accept) (*npy.Array, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &npy.Error{File: p.Path, What: "an .npz archive has to be a regular file",
			Fix: "write it to a file first"}
	}
	archive, err := npy.OpenArchive(f, info.Size(), p.Path)
	if err != nil {
		if a, single := npy.ReadOpen(f, p.Path, accept); single == nil {
			return a, nil
		} else if e := (*npy.Error)(nil); errors.As(single, &e) && e.Offset == 0 && info.Size() == 0 {
			e.Fix = "save the arrays again with numpy.savez"
			return nil, e // the file is empty
		}
		return nil, err
	}
	return archive.Read(p.key, accept)
}
