package ane

import (
	"io/fs"

	"github.com/anekit/anekit/ane/mil"
)

// Source is a program to compile: a Text or a Program, not both.
type Source struct {
	File     string       // name used in messages; may be empty
	Text     []byte       // MIL text
	Program  *mil.Program // a tree, which must not change while a Model of it is open
	Function string       // function to run; empty is main, or the first one without main
	Weights  Weights      // files that the program names; may be nil if it names none
}

// Tree returns the program as a tree: Program, or Text parsed. It does not validate the
// tree; the error for malformed Text is a mil.ErrorList.
func (s Source) Tree() (*mil.Program, error) {
	if s.Program != nil {
		return s.Program, nil
	}
	return mil.ParseTree(s.File, s.Text)
}

// MIL returns the program as text: Text unchanged, or Program printed. The error for a
// Program that does not validate is a mil.ErrorList.
func (s Source) MIL() ([]byte, error) {
	if s.Program == nil {
		return s.Text, nil
	}
	if err := mil.Validate(s.File, s.Program); err != nil {
		return nil, err
	}
	return mil.Print(s.Program), nil
}

// Weights reads the files that BLOBFILE names in a program.
type Weights interface {
	// ReadFile returns the whole file for a path as the program writes it,
	// such as "@model_path/weights/weight.bin". The caller must not change it.
	// Compile copies weights into the Model: later changes of the file do not
	// change it.
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
