package blob

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ModelPath is the directory of the model in a program: paths of BLOBFILE start with it.
const ModelPath = "@model_path/"

// WeightFile is the path of the only weight file of most programs.
const WeightFile = ModelPath + "weights/weight.bin"

// Source reads whole weight files by the path that a program writes. ane.Source takes
// one. Files, Dir, Writers and Sources are Sources.
type Source interface {
	ReadFile(path string) ([]byte, error)
}

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

// Writers are the Writers of a program's weight files, by the path that the program
// writes.
type Writers map[string]*Writer

// ReadFile returns the file at path in new memory.
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
		name, err := relative(path, "name a file below "+ModelPath)
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

// FS returns the Source whose @model_path is the root of fsys: an embed.FS, an archive
// or a directory.
func FS(fsys fs.FS) Source { return rooted{fsys} }

type rooted struct{ fs.FS }

func (r rooted) ReadFile(path string) ([]byte, error) {
	name, err := relative(path, "name a file below "+ModelPath)
	if err != nil {
		return nil, err
	}
	if r.FS == nil {
		return nil, &Error{File: path, Offset: -1, Msg: "no file system", Hint: "give one to FS", Err: fs.ErrInvalid}
	}
	data, err := whole(r.FS, name)
	if err == nil {
		return data, nil
	}
	e := systemError(path, err)
	if errors.Is(err, fs.ErrNotExist) {
		e.Msg, e.Hint = "no such file", "put "+name+" into the file system"
	}
	return nil, e
}

// whole reads a file of a file system. It must be a regular one: opening a pipe would wait for its writer.
func whole(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, irregular()
	}
	return fs.ReadFile(fsys, name)
}

// relative returns the part of path after ModelPath, which has to be below it. inside is the hint if it is not.
func relative(file, inside string) (string, error) {
	name, ok := strings.CutPrefix(file, ModelPath)
	e := &Error{File: cmp.Or(file, `""`), Offset: -1, Msg: "the path does not start with " + ModelPath,
		Hint: "name weight files relative to the model's directory", Err: fs.ErrInvalid}
	if !ok {
		return "", e
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		e.Msg, e.Hint = "the path is not inside the model's directory", inside
		return "", e
	}
	return path.Clean(name), nil
}

// Dir is the directory that @model_path means. Programs cannot name files outside of it, except by symbolic links: the
// owner of the directory created them, and caches of models store weights as links.
type Dir string

// ReadFile returns the file at path, which starts with ModelPath.
func (d Dir) ReadFile(path string) ([]byte, error) {
	inside := "name a file inside " + string(d)
	name, err := relative(path, inside)
	if err != nil {
		return nil, err
	}
	data, err := whole(os.DirFS(cmp.Or(string(d), ".")), name)
	if err == nil {
		return data, nil
	}
	e := systemError(filepath.Join(string(d), filepath.FromSlash(name)), err)
	e.Hint = inside
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Msg, e.Hint = "no such file", "put it there, or name the directory that holds "+name
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "make it readable, or name the directory that holds " + name
	}
	return nil, e
}

// Sources reads a file from the first Source that has it.
type Sources []Source

// ReadFile returns the file at path. The caller must not change it.
func (s Sources) ReadFile(path string) ([]byte, error) {
	var first error
	for _, source := range s {
		if source == nil {
			continue
		}
		data, err := source.ReadFile(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
		first = cmp.Or(first, err)
	}
	if first == nil {
		first = &Error{File: path, Offset: -1, Msg: "no such file", Hint: "give a source of weights",
			Err: fs.ErrNotExist}
	}
	return nil, first
}
