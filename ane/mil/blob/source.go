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

// ModelPath is how a program names the directory of its model: paths of
// BLOBFILE start with it.
const ModelPath = "@model_path/"

// Files are weight files in memory, by the path that the program writes.
type Files map[string][]byte

// ReadFile returns the file at path, which the caller does not change.
func (f Files) ReadFile(path string) ([]byte, error) {
	if data, ok := f[path]; ok {
		return data, nil
	}
	return nil, missing(path, slices.Sorted(maps.Keys(f)))
}

// missing says that there is no file at path, only those in have.
func missing(path string, have []string) error {
	hint := "the program has none"
	if len(have) > 0 {
		hint = "there are: " + strings.Join(have, ", ")
	}
	return &Error{File: path, Offset: -1, Msg: "no such file among the program's weights", Hint: hint, Err: fs.ErrNotExist}
}

// Dir is the directory that stands for @model_path. Programs cannot name files
// outside of it.
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
	if errors.Is(err, fs.ErrNotExist) {
		e.Msg, e.Hint = "no such file", "put it there, or name the directory that holds "+name
	}
	return nil, e
}

// read follows symbolic links, which the owner of the directory placed: caches
// of models keep weights behind them.
func (d Dir) read(name string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, errors.New("the path names no file inside the model's directory")
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

// quoted names a path also where it is empty.
func quoted(path string) string {
	if path == "" {
		return `""`
	}
	return path
}
