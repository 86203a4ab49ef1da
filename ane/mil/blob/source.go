package blob

import (
	"cmp"
	"errors"
	"fmt"
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

// ReadFile returns the file at path. The caller must not change it. The error matches fs.ErrNotExist for another path.
func (f Files) ReadFile(path string) ([]byte, error) {
	if data, ok := f[path]; ok {
		return data, nil
	}
	return nil, missing(path, f)
}

// missing returns the error for a path that files lacks.
func missing[T any](path string, files map[string]T) error {
	e := refused(fs.ErrNotExist, "it has no weight files", "no such file among the program's weights")
	if e.File = path; len(files) > 0 {
		e.Hint = "its weight files are " + strings.Join(slices.Sorted(maps.Keys(files)), ", ")
	}
	return e
}

// Writers are the Writers of a program's weight files, by the path that the program writes.
type Writers map[string]*Writer

// ReadFile returns the file at path in new memory. The error matches fs.ErrNotExist for another path; others are those
// of Writer.WriteTo, and ErrSize for a file larger than memory.
func (w Writers) ReadFile(path string) ([]byte, error) {
	f := w[path]
	if f == nil {
		return nil, missing(path, w)
	}
	data, err := f.bytes()
	if err != nil {
		return nil, systemError(path, err)
	}
	return data, nil
}

// WriteDir writes the files below dir, which @model_path means; Dir(dir) reads them again. It replaces each existing
// file in one step, and copies streams through a small buffer. The error matches fs.ErrInvalid for a path that is not
// below ModelPath; others are those of the system and of Writer.WriteFile.
func (w Writers) WriteDir(dir string) error {
	for _, path := range slices.Sorted(maps.Keys(w)) {
		if w[path] == nil {
			return missing[*Writer](path, nil)
		}
		name, err := relative(path, below)
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

// Dir is the directory that @model_path means. Programs cannot name files outside of it, except by symbolic links. The
// owner of the directory created those, and caches of models store weights as links.
type Dir string

// ReadFile returns the file at path, which starts with ModelPath. The error matches fs.ErrNotExist for a missing file,
// and fs.ErrInvalid for a path outside of the directory or to no regular file. Other errors are those of the system.
func (d Dir) ReadFile(path string) ([]byte, error) {
	dir := cmp.Or(string(d), ".")
	return rooted{os.DirFS(dir), dir}.ReadFile(path)
}

// FS returns the Source whose @model_path is the root of fsys: an embed.FS, an archive or a directory.
func FS(fsys fs.FS) Source { return rooted{fsys, ""} }

// rooted is a file system whose root @model_path means.
type rooted struct {
	fs.FS
	dir string // the directory, for errors; empty if there is none
}

func (r rooted) ReadFile(path string) ([]byte, error) {
	if r.FS == nil {
		return nil, &Error{File: path, Offset: -1, Msg: "no file system", Hint: "give one to FS", Err: fs.ErrInvalid}
	}
	inside, put := below, "put %s into the file system"
	if r.dir != "" {
		inside, put = "name a file inside "+r.dir, "put it there, or name the directory that holds %s"
	}
	name, err := relative(path, inside)
	if err != nil {
		return nil, err
	}
	data, err := whole(r.FS, name)
	if err == nil {
		return data, nil
	}
	e := systemError(path, err)
	if r.dir != "" {
		e.File, e.Hint = filepath.Join(r.dir, filepath.FromSlash(name)), inside
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Msg, e.Hint = "no such file", fmt.Sprintf(put, name)
	case errors.Is(err, fs.ErrPermission) && r.dir != "":
		e.Hint = "make it readable, or name the directory that holds " + name
	}
	return nil, e
}

// below is the hint of a path that is not below ModelPath.
const below = "name a file below " + ModelPath

// whole reads a file of a file system. It must be a regular one: opening a pipe would wait for its writer.
func whole(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err == nil && !info.Mode().IsRegular() {
		err = irregular()
	}
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(fsys, name)
}

// relative returns the part of path after ModelPath, which has to be below it. inside is the hint if it is not.
func relative(file, inside string) (string, error) {
	name, ok := strings.CutPrefix(file, ModelPath)
	e := refused(fs.ErrInvalid, inside, "the path is not inside the model's directory")
	switch e.File = cmp.Or(file, `""`); {
	case !ok:
		e.Msg, e.Hint = "the path does not start with "+ModelPath, "name weight files relative to the model's directory"
		return "", e
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "", e
	}
	return path.Clean(name), nil
}

// Sources reads a file from the first Source that has it.
type Sources []Source

// ReadFile returns the file at path. The caller must not change it. The error matches fs.ErrNotExist if no Source has
// the file; a Source's other error ends the search.
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
	return nil, cmp.Or[error](first, &Error{File: path, Offset: -1, Msg: "no such file",
		Hint: "give a source of weights", Err: fs.ErrNotExist})
}
