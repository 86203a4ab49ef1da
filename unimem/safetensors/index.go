package safetensors

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/internal/wholefile"
)

const (
	extension      = ".safetensors"
	indexExtension = ".safetensors.index.json"
)

// find lists the files of f.path.
func (f *File) find(op string) error {
	info, err := os.Stat(f.path)
	if err != nil {
		fault := &Error{Base: errtext.Base{Op: op, Err: err}, File: f.path, Offset: -1}
		if found := sniff.Path(f.path); found.Kind == sniff.Hub {
			fault.Detail, fault.Hint = "it is "+found.What, found.Next
		}
		return fault
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
		return &Error{Base: errtext.Base{Op: op, Err: err}, File: f.path, Offset: -1}
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
		return &Error{Base: errtext.Base{Op: op, Err: ErrDuplicate,
			Detail: "the folder has several indices: " + strings.Join(indices, ", "), Hint: "open one of them"},
			File: f.path, Offset: -1}
	case len(indices) == 1:
		f.shards = nil
		return f.index(op, filepath.Join(f.path, indices[0]))
	case len(f.shards) == 0:
		fault := &Error{Base: errtext.Base{Op: op, Err: os.ErrNotExist,
			Detail: "the folder has no *" + extension + " and no *" + indexExtension}, File: f.path, Offset: -1}
		if found := sniff.Path(f.path); found.Foreign(sniff.ModelFolder) {
			fault.Detail, fault.Hint = fault.Detail+"; it is "+found.What, found.Next
		}
		return fault
	}
	return nil
}

// placed is where an index says that a tensor is.
type placed struct {
	name  string
	shard uint32
}

// index reads an index and the headers of its files, and compares them.
func (f *File) index(op, path string) error {
	bad := func(err error, at int, tensor, detail string) error {
		return &Error{Base: errtext.Base{Op: op, Err: err, Detail: detail}, File: path, Tensor: tensor,
			Offset: int64(at)}
	}
	data, err := wholefile.Read(path, MaxHeader)
	if err != nil {
		return named(unfit(err), op, path)
	}
	if found := sniff.Start(path, data[:min(len(data), sniff.Enough)], int64(len(data))); found.Absent() {
		return &Error{Base: errtext.Base{Op: op, Err: ErrHeader, Detail: "it is " + found.What, Hint: found.Next},
			File: path, Offset: -1}
	}
	s := &scanner{b: data}
	err = s.object(func(key []byte) error {
		switch {
		case string(key) != "weight_map":
			s.skip(0)
			return nil
		case f.places != nil:
			return &Error{Base: errtext.Base{Err: ErrDuplicate, Detail: "weight_map"}, Offset: int64(s.at)}
		}
		return f.weightMap(s, filepath.Dir(path))
	})
	if err != nil {
		return named(err, op, path)
	}
	s.end()
	switch {
	case s.fault != "":
		return bad(ErrHeader, s.where, "", s.fault)
	case len(f.places) == 0:
		return bad(ErrHeader, -1, "", "no weight_map with a tensor")
	}
	slices.SortFunc(f.places, func(a, b placed) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(f.places); i++ {
		if name := f.places[i].name; f.places[i-1].name == name {
			return bad(ErrDuplicate, -1, name, "")
		}
	}
	f.indexPath = path
	return nil
}

// weightMap reads the object that maps tensors to files.
func (f *File) weightMap(s *scanner, dir string) error {
	shards := map[string]uint32{}
	f.places = []placed{}
	return s.object(func(key []byte) error {
		name, file := string(key), string(s.str())
		if s.fault == "" && !filepath.IsLocal(filepath.FromSlash(file)) {
			return &Error{Base: errtext.Base{Err: ErrHeader,
				Detail: "the file " + quote(file) + " is outside of the index's folder"}, Tensor: name,
				Offset: int64(s.at)}
		}
		i, known := shards[file]
		if !known {
			i = uint32(len(f.shards))
			shards[file] = i
			f.shards = append(f.shards, &shard{path: filepath.Join(dir, filepath.FromSlash(file))})
		}
		f.places = append(f.places, placed{name, i})
		return nil
	})
}

// agree compares the index with the headers of its files, both in the order of the names. Neither needs the tensors of
// Align.
func (f *File) agree(op string) error {
	if f.indexPath == "" {
		return nil
	}
	places := slices.DeleteFunc(f.places, func(p placed) bool { return padding(p.name) })
	f.places = nil
	lost := func(p placed) error {
		return &Error{Base: errtext.Base{Op: op, Err: ErrName,
			Detail: "the index says that it is in " + f.shards[p.shard].path}, File: f.indexPath, Tensor: p.name,
			Offset: -1}
	}
	for i := range f.order {
		t := f.tensor(i)
		switch name := t.Name(); {
		case padding(name):
		case len(places) > 0 && places[0] == placed{name, f.order[i].shard}:
			places = places[1:]
		case len(places) > 0 && places[0].name <= name:
			return lost(places[0])
		default:
			return &Error{Base: errtext.Base{Op: op, Err: ErrName,
				Detail: "the index " + f.indexPath + " has no such tensor in this file"}, File: t.File(), Tensor: name,
				Offset: t.Offset()}
		}
	}
	if len(places) > 0 {
		return lost(places[0])
	}
	return nil
}
