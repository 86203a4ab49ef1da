package ane

import (
	"io/fs"

	"github.com/anekit/anekit/ane/mil"
)

// Source is a program to compile: a Text or a Program, not both.
type Source struct {
	File     string       // name used in messages; may be empty
	Text     []byte       // MIL
	Program  *mil.Program // the same as a tree, which stays unchanged while a Model of it is open
	Function string       // procedure to run; empty means main, or else the first
	Weights  Weights      // files that the program names; may be nil when it names none
}

// Tree is the program as a tree: Program, or else Text parsed. It is not validated; the
// error of Text that is no MIL is a mil.ErrorList.
func (s Source) Tree() (*mil.Program, error) {
	if s.Program != nil {
		return s.Program, nil
	}
	return mil.ParseTree(s.File, s.Text)
}

// MIL is the program as text: Text as it is, or else Program printed. A Program that does
// not validate has no text, and the error is a mil.ErrorList.
func (s Source) MIL() ([]byte, error) {
	if s.Program == nil {
		return s.Text, nil
	}
	if err := mil.Validate(s.File, s.Program); err != nil {
		return nil, err
	}
	return mil.Print(s.Program), nil
}

// Weights hands out the files that BLOBFILE names in a program.
type Weights interface {
	// ReadFile returns the whole file for a path as the program writes it,
	// such as "@model_path/weights/weight.bin". The caller does not change it.
	// Weights are baked in when a program is compiled: later changes of the
	// file have no effect on the Model.
	ReadFile(path string) ([]byte, error)
}

// Files are Weights in memory: the content of each file by the path that the program
// writes.
type Files map[string][]byte

// ReadFile returns the file, or an error matching fs.ErrNotExist.
func (f Files) ReadFile(path string) ([]byte, error) {
	if b, ok := f[path]; ok {
		return b, nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}
