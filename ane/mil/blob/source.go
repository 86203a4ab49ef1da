package blob

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ModelPath is the directory of the model in a program: paths of BLOBFILE start with it.
const ModelPath = "@model_path/"

// WeightFile is the path of the only weight file of most programs.
const WeightFile = ModelPath + "weights/weight.bin"

// Files are weight files in memory, by the path that the program writes.
type Files map[string][]byte

// ReadFile returns the file at path. The caller must not change it.
func (f Files) ReadFile(path string) ([]byte, error) {
	if data, ok := f[path]; ok {
		return data, nil
	}
	return nil, missing(path, slices.Sorted(maps.Keys(f)))
}

// missing returns the error for an unknown path; have lists the known ones.
func missing(path string, have []string) error {
	hint := "it has no weight files"
	if len(have) > 0 {
		hint = "its weight files are " + strings.Join(have, ", ")
	}
	return &Error{File: path, Offset: -1, Msg: "no such file among the program's weights", Hint: hint,
		Err: fs.ErrNotExist}
}

// Dir is the directory that @model_path means. Programs cannot name files outside of it.
type Dir string

// ReadFile returns the file at path, which starts with ModelPath.
func (d Dir) ReadFile(path string) ([]byte, error) {
	name, err := relative(path)
	if err != nil {
		return nil, err
	}
	data, err := d.read(name)
	if err == nil {
		return data, nil
	}
	e := systemError(filepath.Join(string(d), filepath.FromSlash(name)), err)
	e.Hint = "name a file inside " + string(d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Msg, e.Hint = "no such file", "put it there, or name the directory that holds "+name
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "make it readable, or name the directory that holds " + name
	}
	return nil, e
}

// read follows symbolic links, also out of the directory: its owner created them, and
// caches of models store weights as links.
func (d Dir) read(name string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, errors.New("the path is not inside the model's directory")
	}
	path := filepath.Join(string(d), filepath.FromSlash(name))
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// quoted quotes an empty path.
func quoted(path string) string {
	if path == "" {
		return `""`
	}
	return path
}
