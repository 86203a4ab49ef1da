package safetensors

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	extension      = ".safetensors"
	indexExtension = ".safetensors.index.json"
)

// find lists the files of f.path.
func (f *File) find(op string) error {
	info, err := os.Stat(f.path)
	if err != nil {
		return &Error{Op: op, File: f.path, Offset: -1, Err: err}
	}
	switch {
	case info.IsDir():
		return f.folder(op)
	case strings.HasSuffix(f.path, ".json"):
		return f.index(op, f.path)
	}
	f.shards = []*shard{{path: f.path}}
	return nil
}

// folder finds the index of a folder, or all its files if it has none.
func (f *File) folder(op string) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return &Error{Op: op, File: f.path, Offset: -1, Err: err}
	}
	var indices []string
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."):
		case strings.HasSuffix(name, indexExtension):
			indices = append(indices, name)
		case strings.HasSuffix(name, extension):
			f.shards = append(f.shards, &shard{path: filepath.Join(f.path, name)})
		}
	}
	switch {
	case len(indices) > 1:
		return &Error{Op: op, File: f.path, Offset: -1, Err: ErrDuplicate,
			Detail: "the folder has several indices: " + strings.Join(indices, ", "), Hint: "open one of them"}
	case len(indices) == 1:
		f.shards = nil
		return f.index(op, filepath.Join(f.path, indices[0]))
	case len(f.shards) == 0:
		return &Error{Op: op, File: f.path, Offset: -1, Err: os.ErrNotExist,
			Detail: "the folder has no *" + extension + " and no *" + indexExtension}
	}
	return nil
}

// placed is where an index says that a tensor is.
type placed struct {
	name  string
	shard int
}

// index reads an index and the headers of its files, and compares them.
func (f *File) index(op, path string) error {
	bad := func(err error, at int, tensor, detail string) error {
		return &Error{Op: op, File: path, Tensor: tensor, Offset: int64(at), Err: err, Detail: detail}
	}
	data, err := readSmall(path)
	if err != nil {
		return named(err, op, path)
	}
	s := &scanner{b: data}
	seen := false
	var places []placed
	if s.expect('{') {
		for first := true; s.more(&first, '}'); {
			key, ok := s.key()
			switch {
			case !ok:
			case string(decode(key)) != "weight_map":
				s.skip(0)
			case seen:
				return bad(ErrDuplicate, s.at, "", "weight_map")
			default:
				seen = true
				if err := f.weightMap(s, filepath.Dir(path), &places); err != nil {
					return named(err, op, path)
				}
			}
		}
		if s.space(); s.fault == "" && s.at < len(s.b) {
			s.fail("text after the index's object")
		}
	}
	switch {
	case s.fault != "":
		return bad(ErrHeader, s.where, "", s.fault)
	case !seen || len(places) == 0:
		return bad(ErrHeader, -1, "", "no weight_map with a tensor")
	}
	slices.SortFunc(places, func(a, b placed) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(places); i++ {
		if places[i-1].name == places[i].name {
			return bad(ErrDuplicate, -1, places[i].name, "")
		}
	}
	f.places, f.indexPath = places, path
	return nil
}

// weightMap reads the object that maps tensors to files.
func (f *File) weightMap(s *scanner, dir string, places *[]placed) error {
	shards := map[string]int{}
	if !s.expect('{') {
		return nil
	}
	for first := true; s.more(&first, '}'); {
		raw, ok := s.key()
		if !ok {
			return nil
		}
		value, ok := s.str()
		if !ok {
			return nil
		}
		name, file := string(decode(raw)), string(decode(value))
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			return &Error{Tensor: name, Offset: int64(s.at), Err: ErrHeader,
				Detail: "the file " + quote(file) + " is outside of the index's folder"}
		}
		i, known := shards[file]
		if !known {
			i = len(f.shards)
			shards[file] = i
			f.shards = append(f.shards, &shard{path: filepath.Join(dir, filepath.FromSlash(file))})
		}
		*places = append(*places, placed{name, i})
	}
	return nil
}

// agree compares the index with the headers of its files.
func (f *File) agree(op string) error {
	if f.places == nil {
		return nil
	}
	for _, p := range f.places {
		if s := f.shards[p.shard]; s.find(p.name) < 0 {
			return &Error{Op: op, File: f.indexPath, Tensor: p.name, Offset: -1, Err: ErrName,
				Detail: "the index says that it is in " + s.path}
		}
	}
	for i, s := range f.shards {
		for j := range s.records {
			name := s.name(&s.records[j])
			if Padding(name) {
				continue
			}
			at, ok := slices.BinarySearchFunc(f.places, name, func(p placed, name string) int {
				return strings.Compare(p.name, name)
			})
			if !ok || f.places[at].shard != i {
				return &Error{Op: op, File: s.path, Tensor: name, Offset: s.data + s.records[j].begin, Err: ErrName,
					Detail: "the index " + f.indexPath + " has no such tensor in this file"}
			}
		}
	}
	f.places = nil
	return nil
}

// readSmall reads a file of at most MaxHeader bytes.
func readSmall(path string) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, MaxHeader+1))
	if err == nil && len(data) > MaxHeader {
		return nil, fault(ErrHeader, -1, "", "the index has more than %d bytes", MaxHeader)
	}
	return data, err
}
