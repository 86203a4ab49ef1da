package blob

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Writers are the Writers of a program's weight files, by the path that the program
// writes.
type Writers map[string]*Writer

// ReadFile returns the file at path in new memory. It reads streams directly into it.
func (w Writers) ReadFile(path string) ([]byte, error) {
	f, ok := w[path]
	if !ok || f == nil {
		return nil, missing(path, slices.Sorted(maps.Keys(w)))
	}
	data, err := f.bytes()
	return data, named(err, path)
}

// WriteDir writes the files below dir, which @model_path means; Dir(dir) reads them
// again. It replaces each existing file in one step, and copies streams through a small
// buffer.
func (w Writers) WriteDir(dir string) error {
	for _, path := range slices.Sorted(maps.Keys(w)) {
		if w[path] == nil {
			return missing(path, nil)
		}
		name, err := relative(path)
		if err == nil && !filepath.IsLocal(filepath.FromSlash(name)) {
			err = &Error{File: path, Offset: -1, Msg: "the path is not inside the model's directory",
				Hint: "name a file below " + ModelPath, Err: fs.ErrInvalid}
		}
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return systemError(filepath.Dir(file), err)
		}
		if err := w[path].WriteFile(file); err != nil {
			return err
		}
	}
	return nil
}

// named adds the path of the file to an error of this package.
func named(err error, path string) error {
	if e := (*Error)(nil); errors.As(err, &e) && e.File == "" {
		e.File = path
	}
	return err
}
