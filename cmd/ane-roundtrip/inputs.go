package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
)

// maxText bounds the program: the largest published ones have some kilobytes.
const maxText = 256 << 20

// text reads a program.
func (t *traffic) text(what, path string) ([]byte, os.FileInfo, error) {
	f, err := t.open(what, path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, nil, badf("%w; give the path of a MIL text file", err)
	}
	if len(text) > maxText {
		return nil, nil, badf("%s is larger than %d MiB; put weights into a file of their own", path, maxText>>20)
	}
	return text, t.sources[len(t.sources)-1].info, nil
}

// array reads what a flag names for a tensor: dense elements of the tensor's own
// type. The notes say what was converted.
func (t *traffic) array(flag, side string, p port, l ane.Layout) (data []byte, notes []string, err error) {
	f, err := t.open(flag+" "+p.name, p.path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var a *npy.Array
	if p.archive {
		a, err = member(f, p, wanted(side, l))
	} else {
		name := p.path
		if p.path == stdio {
			name = "standard input"
		}
		a, err = npy.ReadOpen(f, name, wanted(side, l))
	}
	if err != nil {
		return nil, nil, bad(err)
	}
	data, notes, err = elements(a, l)
	for i := range notes {
		notes[i] = fmt.Sprintf("%s: %s", p, notes[i])
	}
	return data, notes, bad(err)
}

// member reads one array of an archive. What is called an archive may be a single
// array all the same.
func member(f *os.File, p port, accept npy.Accept) (*npy.Array, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &npy.Error{File: p.path, What: "an .npz archive is read from a file, this is none",
			Fix: "write it to a file first"}
	}
	archive, err := npy.OpenArchive(f, info.Size(), p.path)
	if err != nil {
		if a, single := npy.ReadOpen(f, p.path, accept); single == nil {
			return a, nil
		} else if e := (*npy.Error)(nil); errors.As(single, &e) && e.Offset == 0 && info.Size() == 0 {
			return nil, single // it is empty
		}
		return nil, err
	}
	return archive.Read(p.key, accept)
}
