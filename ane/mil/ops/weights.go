package ops

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// weightFile is a weight file with a copy of its bytes, which constants alias:
// any number of them may name the same entry.
type weightFile struct {
	*blob.File
	data []byte
	told int // warnings of the reader that were passed on
}

// tensor returns the elements of type t in the entry at offset.
func (f *weightFile) tensor(offset uint64, t mil.Type) ([]byte, error) {
	e, err := f.Find(offset, t)
	if err != nil {
		return nil, err
	}
	end := e.DataOffset + e.Size
	return f.data[e.DataOffset:end:end], nil
}

// weight reads the entry of a weight file that b names.
func (a *analysis) weight(v *Value, m *mil.Value, b *mil.Blob) *Value {
	path, err := b.Path.Strings()
	if err != nil {
		a.wrap(b.Path.Pos, err)
		return nil
	}
	offset, err := b.Offset.Ints()
	if err != nil {
		a.wrap(b.Offset.Pos, err)
		return nil
	}
	if len(path) != 1 || len(offset) != 1 || offset[0] < 0 {
		a.fail(b.Pos, "write BLOBFILE(path = string(\"..\"), offset = uint64(64))", "BLOBFILE needs one path and one offset")
		return nil
	}
	if v.DType.Size() == 0 {
		a.fail(m.Pos, "use a type of whole bytes", "weights of type %s are not supported", v.DType)
		return nil
	}
	f, err := a.open(path[0])
	if err == nil {
		v.Data, err = f.tensor(uint64(offset[0]), m.Type)
		for _, w := range f.Warnings()[f.told:] {
			a.note(fmt.Sprintf("%s:%s: weights %s: %s", a.file, b.Pos, path[0], w))
			f.told++
		}
	}
	if err != nil {
		msg, hint := "weights "+path[0]+": "+err.Error(), "check the path, and where the weights are"
		if e := (*blob.Error)(nil); errors.As(err, &e) { // names the file and the fix itself
			msg, hint = "weights "+err.Error(), ""
		}
		a.faults.Add(&mil.Error{Pos: b.Pos, Msg: msg, Hint: hint, Err: err})
		return nil
	}
	return v
}

// open returns the weight file at path, opened once.
func (a *analysis) open(path string) (*weightFile, error) {
	if f := a.files[path]; f != nil {
		return f, nil
	}
	if a.weights == nil {
		return nil, fmt.Errorf("no weights were given; say where %s is", path)
	}
	data, err := a.weights.ReadFile(path)
	if err != nil {
		return nil, err
	}
	// Weights are baked in when a program is compiled, as on the hardware: what
	// becomes of the caller's bytes afterwards changes nothing.
	w := &weightFile{data: slices.Clone(data)}
	if w.File, err = blob.NewReader(bytes.NewReader(w.data), int64(len(data)), path); err != nil {
		return nil, err
	}
	a.files[path] = w
	return w, nil
}
