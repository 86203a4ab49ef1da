package broker

import (
	"errors"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/ops"
)

// weightAlign is where a weight file may begin in the memfd that all share: at a
// page, so that the broker can map one alone.
const weightAlign = 4096

// upload is a program as it is sent: its text in one memfd, the weight files that it
// names in others, which it shares with programs that have the same files. They stay for the life of the Executable,
// since a broker that has died needs them again; they are the one copy that is made of a weight, and the broker
// computes with that copy.
type upload struct {
	request wire.Compile
	shelf   *shelf
	files   []*memfd         // descriptors of the request
	missing map[string]error // by path: why a weight file that the text names could not be read
}

// newUpload takes a copy of text and weights. A program that comes as a tree is printed.
func newUpload(src ane.Source, s *shelf) (*upload, error) {
	text, err := src.MIL()
	if err != nil {
		return nil, &ane.Error{Op: "compile", Engine: Name, Name: src.File, Err: ane.Because(ane.ErrCompile, err)}
	}
	u := &upload{request: wire.Compile{File: src.File, Function: src.Function, TextSize: uint64(len(text))}, shelf: s,
		missing: map[string]error{}}
	f, err := seal("program", [][]byte{text})
	if err != nil {
		return nil, err
	}
	u.files = append(u.files, f)
	read, release := reader(src)
	defer release()
	err = u.pack(weightPaths(src), func(path string) ([][]byte, error) {
		content, err := read(path)
		if err != nil { // the broker finds where the text needs the file
			u.missing[path] = err
		}
		return content, err
	})
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	return u, nil
}

// fresh is the content of a memfd to be made, and the weight files in it.
type fresh struct {
	content [][]byte
	size    int
	keys    []xxh3.Uint128
	weights []int // of keys: indexes in request.Weights
}

// pack shares the files that the shelf has, and puts the others that read can read into a memfd. Memfds count whole
// against the limit of an upload, with the files of other programs in them. Where they exceed it, pack shares none.
func (u *upload) pack(paths []string, read func(path string) ([][]byte, error)) error {
	first := len(u.files)
	put := u.place(paths, read, true)
	size := put.size
	for _, f := range u.files {
		size += f.size
	}
	if size > u.shelf.limit() && len(u.files) > first {
		_ = u.shelf.releaseAll(u.files[first:]) // nothing was written
		u.files = u.files[:first]
		paths = nil // those that can be read
		for _, w := range u.request.Weights {
			paths = append(paths, w.Name)
		}
		u.request.Weights = nil
		put = u.place(paths, read, false)
	}
	if put.content == nil {
		return nil
	}
	f, err := seal("weights", put.content)
	if err != nil {
		return err
	}
	for i, at := range put.weights {
		w := &u.request.Weights[at]
		w.Descriptor = uint32(len(u.files))
		if w.Size >= leastKept {
			u.shelf.keep(put.keys[i], slot{f, int(w.Offset), int(w.Size)})
		}
	}
	u.files = append(u.files, f)
	return nil
}

// place lists the files that read can read in the request, and returns those that the upload does not share.
func (u *upload) place(paths []string, read func(path string) ([][]byte, error), sharing bool) (put fresh) {
	for _, path := range paths {
		parts, err := read(path)
		if err != nil {
			continue
		}
		key, size := sum(parts)
		var w wire.Weight
		shared := false
		if sharing {
			w, shared = u.share(parts, key, size)
		}
		if !shared {
			pad := -size & (weightAlign - 1)
			w = wire.Weight{Offset: uint64(put.size), Size: uint64(size)}
			put.content = append(append(put.content, parts...), make([]byte, pad))
			put.size += size + pad
			put.keys, put.weights = append(put.keys, key), append(put.weights, len(u.request.Weights))
		}
		w.Name = path
		u.request.Weights = append(u.request.Weights, w)
	}
	return put
}

// share returns where another upload has put a file of this content.
func (u *upload) share(content [][]byte, key xxh3.Uint128, size int) (w wire.Weight, ok bool) {
	if size < leastKept {
		return w, false
	}
	at, ok := u.shelf.find(content, key)
	if !ok {
		return w, false
	}
	i := slices.Index(u.files, at.file)
	switch {
	case i < 0 && len(u.files) < wire.MaxDescriptors-1: // one is left for files of this upload
		i = len(u.files)
		u.files = append(u.files, at.file)
	default: // it is used already, or cannot be
		_ = u.shelf.release(at.file) // nothing was written
	}
	return wire.Weight{Descriptor: uint32(max(i, 0)), Offset: uint64(at.offset), Size: uint64(at.size)}, i >= 0
}

// reader returns what reads the weight files of a source, until release is called: those of one constant of
// ane.Constants with the elements where they are.
func reader(src ane.Source) (read func(path string) ([][]byte, error), release func()) {
	whole := func(path string) ([][]byte, error) {
		data, err := src.Weights.ReadFile(path)
		return [][]byte{data}, err
	}
	none := func() {}
	c, ok := src.Weights.(ane.Constants)
	if !ok {
		return whole, none
	}
	p, err := src.Tree()
	if err != nil {
		return whole, none
	}
	if release, err = c.Hold(); err != nil {
		return whole, none // ReadFile says why
	}
	only := map[string]*mil.Value{} // by path; nil for a file of several constants
	for _, v := range p.Weights() {
		if path, err := v.Blob().Path.Strings(); err == nil && len(path) == 1 {
			if _, again := only[path[0]]; again {
				v = nil
			}
			only[path[0]] = v
		}
	}
	return func(path string) ([][]byte, error) {
		if v := only[path]; v != nil {
			if content, ok := constant(c, path, v); ok {
				return content, nil
			}
		}
		return whole(path)
	}, release
}

// constant returns a weight file with the elements of v as its only entry.
func constant(c ane.Constants, path string, v *mil.Value) (file parts, ok bool) {
	offset, err := v.Blob().Offset.Ints()
	if err != nil || len(offset) != 1 || offset[0] != blob.First {
		return nil, false
	}
	data, err := c.Constant(path, blob.First, v.Type)
	n, fixed := v.Type.Elements()
	if err != nil || !fixed {
		return nil, false
	}
	var w blob.Writer
	if _, err = w.Add(v.Type.DType, data, 8*len(data)-n*v.Type.DType.Bits()); err == nil {
		_, err = w.WriteTo(&file)
	}
	return file, err == nil
}

// parts is an io.Writer that keeps what is written to it, and copies nothing.
type parts [][]byte

func (p *parts) Write(b []byte) (int, error) {
	*p = append(*p, b)
	return len(b), nil
}

// weightPaths lists the files that the text names, each once. A text that cannot
// be read names none; the broker says what is wrong with it.
func weightPaths(src ane.Source) []string {
	if src.Weights == nil {
		return nil
	}
	p, err := src.Tree()
	if err != nil {
		return nil
	}
	var paths []string
	for _, b := range p.Blobs() {
		path, err := b.Path.Strings()
		if err == nil && len(path) == 1 && !slices.Contains(paths, path[0]) {
			paths = append(paths, path[0])
		}
	}
	return paths
}

// descriptors are the numbers of the files, in the order of the request.
func (u *upload) descriptors() []int {
	var fds []int
	for _, f := range u.files {
		fds = append(fds, int(f.Fd()))
	}
	return fds
}

func (u *upload) close() error { return u.shelf.releaseAll(u.files) }

// explain has a refusal say why weight files that the text names could not be read, in the words of an engine in this
// process. The broker knows only that they were not sent.
func (u *upload) explain(err error) error {
	list, _ := errors.AsType[mil.ErrorList](err)
	for _, e := range list {
		unread := ""
		for path := range u.missing {
			if len(path) > len(unread) && strings.HasPrefix(e.Msg, "weights "+path+": ") {
				unread = path
			}
		}
		if unread != "" {
			w := ops.Weight{Path: unread, Pos: e.Pos}
			*e = *w.Fault(e.File, u.missing[unread])
		}
	}
	return err
}

// faults places errors of weight files, by path, where the text names the files.
func (u *upload) faults(unread map[string]error) error {
	text := make([]byte, u.request.TextSize)
	_, err := u.files[0].ReadAt(text, 0)
	if err != nil {
		return err
	}
	p, err := mil.ParseTree(u.request.File, text)
	if err != nil {
		return err // of a text that compiled
	}
	var list mil.ErrorList
	for _, v := range p.Weights() {
		path, _, err := v.Blob().Entry()
		if why := unread[path]; err == nil && why != nil {
			w := ops.Weight{Path: path, Pos: v.Blob().Pos}
			list.Add(w.Fault(u.request.File, why))
		}
	}
	return mil.Merge(list, nil).Err()
}
