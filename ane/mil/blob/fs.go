package blob

import (
	"errors"
	"io/fs"
	"strings"
)

// Source reads whole weight files by the path that a program writes. ane.Source takes
// one. Files, Dir, Writers and Sources are Sources.
type Source interface {
	ReadFile(path string) ([]byte, error)
}

// FS returns the Source whose @model_path is the root of fsys: an embed.FS, an archive
// or a directory.
func FS(fsys fs.FS) Source { return rooted{fsys} }

type rooted struct{ fs.FS }

func (r rooted) ReadFile(path string) ([]byte, error) {
	name, err := relative(path)
	if err != nil {
		return nil, err
	}
	if r.FS == nil || !fs.ValidPath(name) {
		return nil, &Error{File: path, Offset: -1, Msg: "not a path of the file system",
			Hint: "name a file below " + ModelPath, Err: fs.ErrInvalid}
	}
	info, err := fs.Stat(r.FS, name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &Error{File: path, Offset: -1, Msg: "not a regular file", Hint: "name a weight file",
			Err: ErrFormat}
	}
	var data []byte
	if err == nil {
		data, err = fs.ReadFile(r.FS, name)
	}
	if err == nil {
		return data, nil
	}
	e := systemError(path, err)
	if errors.Is(err, fs.ErrNotExist) {
		e.Msg, e.Hint = "no such file", "put "+name+" into the file system"
	}
	return nil, e
}

// relative returns the part of path after ModelPath.
func relative(path string) (string, error) {
	name, ok := strings.CutPrefix(path, ModelPath)
	if !ok {
		return "", &Error{File: quoted(path), Offset: -1, Msg: "the path does not start with " + ModelPath,
			Hint: "name weight files relative to the model's directory", Err: fs.ErrInvalid}
	}
	return name, nil
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
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = &Error{File: path, Offset: -1, Msg: "no such file", Hint: "give a source of weights",
			Err: fs.ErrNotExist}
	}
	return nil, first
}
