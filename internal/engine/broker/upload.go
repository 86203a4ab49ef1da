package broker

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/ops"
)

// weightAlign is where a weight file may begin in the memfd that all share: at a
// page, so that the broker can map one alone.
const weightAlign = 4096

// upload is a program as it is sent: its text in one memfd, its weight files in others. Programs with the same files
// share a memfd. The memfds stay for the life of the Executable, since the next broker needs them if this one dies.
// They are the one copy of a weight, and the broker computes with it.
type upload struct {
	request wire.Compile
	shelf   *shelf
	files   []*memfd         // descriptors of the request
	missing map[string]error // by path: why a weight file that the text names could not be read
}

// reader reads a weight file in parts.
type reader func(path string) ([][]byte, error)

// newUpload takes a copy of text and weights. A program that comes as a tree is printed.
func newUpload(src ane.Source, s *shelf) (*upload, error) {
	text, err := src.MIL()
	if err != nil {
		return nil, &ane.Error{Op: "compile", Engine: Name, Name: src.File, Err: ane.Because(ane.ErrCompile, err)}
	}
	f, err := seal("program", text)
	if err != nil {
		return nil, err
	}
	u := &upload{request: wire.Compile{File: src.File, Function: src.Function, TextSize: uint64(len(text))}, shelf: s,
		files: []*memfd{f}}
	p, err := src.Tree()
	if err != nil || src.Weights == nil { // the broker says what is wrong with the text
		return u, nil
	}
	paths, constants := weightFiles(p)
	read := func(path string) ([][]byte, error) {
		data, err := src.Weights.ReadFile(path)
		return [][]byte{data}, err
	}
	if c, ok := src.Weights.(ane.Constants); ok {
		if release, err := c.Hold(); err == nil { // else ReadFile says why
			defer release()
			read = inPlace(c, constants, read)
		}
	}
	if err := u.pack(paths, read); err != nil {
		return nil, errors.Join(err, u.close())
	}
	return u, nil
}

// weightFiles lists the files that a text names, each once, and the constants that are the only one of their file.
func weightFiles(p *mil.Program) (paths []string, only map[string]*mil.Value) {
	only = map[string]*mil.Value{}
	for _, v := range p.Weights() {
		path, _, err := v.Blob().Entry()
		if err != nil {
			continue
		}
		if _, again := only[path]; again {
			v = nil
		} else {
			paths = append(paths, path)
		}
		only[path] = v
	}
	return paths, only
}

// inPlace reads a file of one constant with the elements where they are, and others with read.
func inPlace(c ane.Constants, only map[string]*mil.Value, read reader) reader {
	return func(path string) ([][]byte, error) {
		v := only[path]
		if v == nil {
			return read(path)
		}
		_, offset, err := v.Blob().Entry()
		n, fixed := v.Type.Elements()
		if err != nil || offset != blob.First || !fixed {
			return read(path)
		}
		data, err := c.Constant(path, blob.First, v.Type)
		if err != nil {
			return read(path)
		}
		var file parts
		var w blob.Writer
		if _, err = w.Add(v.Type.DType, data, 8*len(data)-n*v.Type.DType.Bits()); err == nil {
			_, err = w.WriteTo(&file)
		}
		if err != nil {
			return read(path)
		}
		return file, nil
	}
}

// parts is an io.Writer that keeps what is written to it, and copies nothing.
type parts [][]byte

func (p *parts) Write(b []byte) (int, error) {
	*p = append(*p, b)
	return len(b), nil
}

// pack shares the files that the shelf has, and puts the others that can be read into a memfd. Memfds count whole
// against the limit of an upload, with the files of other programs in them. Where they exceed it, pack shares none.
func (u *upload) pack(paths []string, read reader) error {
	first := len(u.files)
	content, digests := u.place(paths, read, u.share)
	if u.size(content) > u.shelf.limit && len(u.files) > first {
		_ = u.shelf.release(u.files[first:]...) // nothing was written
		u.files, u.request.Weights = u.files[:first], nil
		content, digests = u.place(paths, read, func(digest) (w wire.Weight, ok bool) { return w, false })
	}
	if content == nil {
		return nil
	}
	f, err := seal("weights", content...)
	if err != nil {
		return err
	}
	for i, d := range digests {
		w := &u.request.Weights[i]
		if w.Descriptor != unplaced {
			continue
		}
		w.Descriptor = uint32(len(u.files))
		if d.size >= leastKept {
			u.shelf.keep(d, slot{f, int(w.Offset)})
		}
	}
	u.files = append(u.files, f)
	return nil
}

// unplaced is the descriptor of what goes into a memfd that is not made yet.
const unplaced = wire.MaxDescriptors

// place lists the readable files in the request, with their digests, and returns the content of those that share does
// not find.
func (u *upload) place(paths []string, read reader, share func(digest) (wire.Weight, bool)) (
	content [][]byte, digests []digest) {
	u.missing = map[string]error{}
	end := 0 // of content
	for _, path := range paths {
		file, err := read(path)
		if err != nil { // the broker finds where the text needs the file
			u.missing[path] = err
			continue
		}
		d := u.shelf.digest(file)
		w, shared := share(d)
		if !shared {
			w = wire.Weight{Descriptor: unplaced, Offset: uint64(end), Size: uint64(d.size)}
			padding := make([]byte, -d.size&(weightAlign-1))
			content = append(append(content, file...), padding)
			end += d.size + len(padding)
		}
		w.Name = path
		u.request.Weights = append(u.request.Weights, w)
		digests = append(digests, d)
	}
	return content, digests
}

// share returns where another upload has put a file.
func (u *upload) share(d digest) (w wire.Weight, ok bool) {
	at, ok := u.shelf.find(d)
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
	return wire.Weight{Descriptor: uint32(max(i, 0)), Offset: uint64(at.offset), Size: uint64(d.size)}, i >= 0
}

// size is how many bytes the memfds of the upload have with those of a content.
func (u *upload) size(content [][]byte) int {
	n := length(content)
	for _, f := range u.files {
		n += f.size
	}
	return n
}

// read returns a copy of a weight file that was sent before.
func (u *upload) read(path string) ([]byte, error) {
	for _, w := range u.request.Weights {
		if w.Name == path {
			data := make([]byte, w.Size)
			_, err := u.files[w.Descriptor].ReadAt(data, int64(w.Offset))
			return data, err
		}
	}
	return nil, fs.ErrNotExist
}

// descriptors are the numbers of the files, in the order of the request.
func (u *upload) descriptors() []int {
	var fds []int
	for _, f := range u.files {
		fds = append(fds, int(f.Fd()))
	}
	return fds
}

func (u *upload) close() error { return u.shelf.release(u.files...) }

// explain has a refusal say why weight files that the text names could not be read, in the words of an engine in this
// process. The broker knows only that they were not sent.
func (u *upload) explain(err error) error {
	refusals, _ := errors.AsType[mil.ErrorList](err)
	if len(refusals) == 0 || len(u.missing) == 0 {
		return err
	}
	faults, _ := errors.AsType[mil.ErrorList](u.faults(u.missing))
	for _, refusal := range refusals {
		for _, f := range faults {
			if f.Pos == refusal.Pos {
				*refusal = *f
			}
		}
	}
	return err
}

// faults are errors of weight files, by path, where the text names the files.
func (u *upload) faults(missing map[string]error) error {
	text := make([]byte, u.request.TextSize)
	if _, err := u.files[0].ReadAt(text, 0); err != nil {
		return err
	}
	p, err := mil.ParseTree(u.request.File, text)
	if err != nil {
		return err // of a text that compiled
	}
	var list mil.ErrorList
	broken := ops.Unusable{}
	for _, v := range p.Weights() {
		path, _, err := v.Blob().Entry()
		if why := missing[path]; err == nil && why != nil {
			w := ops.Weight{Path: path, Pos: v.Blob().Pos}
			if f := broken.Fault(u.request.File, &w, why); f != nil {
				list.Add(f)
			}
		}
	}
	return list.Merge(nil).Err()
}
