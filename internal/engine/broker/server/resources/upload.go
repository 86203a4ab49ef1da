package resources

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// leastLent is how many bytes of weights a program has at least that computes with them where the client has put them.
// Below it a copy costs less than a mapping, of which a client has few.
const leastLent = 1 << 20

// Upload is a program, or the weights of an instance, as a client sent them, in sealed memory that it cannot change
// any more. It has descriptors until Open maps it: the source is valid from then until Close.
//
// It implements ane.Constants: an engine computes with the weights in the client's memory. Programs whose uploads name
// one memfd share its pages.
type Upload struct {
	Source
	op, name string // in errors
	owes     *Account
	owed     Needs // for what follows
	files    *memfds
	text     extent
	parts    []extent      // of Source.weights
	copied   []atomic.Bool // of Source.weights: an engine that reads a file may keep a copy
	base     *base         // of an instance that is to be made
}

// memfds are the files of an upload. They close with their last user: the upload, and each program that computes with
// weights in them.
type memfds struct {
	users atomic.Int32
	list  []*wire.Sealed
}

// release removes a user.
func (m *memfds) release() error {
	if m.users.Add(-1) > 0 {
		return nil
	}
	var errs []error
	for _, s := range m.list {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// needs are the mappings of the files, which have no descriptors any more.
func (m *memfds) needs() (n Needs) {
	for _, s := range m.list {
		if s.Size() > 0 {
			n[Mappings]++
		}
	}
	return n
}

// extent is a part of a file.
type extent struct {
	file     *wire.Sealed // nil: no bytes
	at, size int
}

// Receive keeps the memfds of a program, of which text and weights are parts. The client is charged for them, and for
// a frame of so many bytes, until Close.
func Receive(owes *Account, op, name string, frame int, fds wire.Descriptors, q *wire.Compile) (*Upload, error) {
	u := &Upload{Source: Source{function: q.Function}, op: op, name: name, owes: owes, files: &memfds{}}
	u.files.users.Store(1)
	err := u.Owe(Needs{Descriptors: int64(len(fds)), Memory: waitingBytes + 2*int64(frame)})
	for i := 0; i < len(fds) && err == nil; i++ {
		var s *wire.Sealed
		if s, err = wire.KeepSealed(fds[i], MaxUpload); err != nil {
			err = &ane.Error{Op: op, Engine: Name, Name: fmt.Sprintf("descriptor %d", i), Err: err}
		}
		u.files.list = append(u.files.list, s)
	}
	if err == nil && q.TextSize > 0 {
		u.text, err = u.slice(wire.Weight{Name: "text", Size: q.TextSize})
	}
	if err == nil {
		err = u.add(q.Weights)
	}
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return u, nil
}

// Owe charges n for the upload, until Close.
func (u *Upload) Owe(n Needs) error {
	if err := u.owes.Take(u.op, u.name, n); err != nil {
		return err
	}
	u.owed = u.owed.plus(n)
	return nil
}

// add sorts the list as Source.sort does the weights. What counts for MaxUpload are the parts of the files that
// the program names: a file may hold weights of other programs too.
func (u *Upload) add(list []wire.Weight) error {
	parts := make(map[string]extent, len(list))
	left := MaxUpload - u.text.size
	for _, w := range list {
		part, err := u.slice(w)
		if err != nil {
			return err
		}
		if left -= part.size; left < 0 {
			return Exhausted(u.op, w.Name, "bytes of text and weights", MaxUpload, "split the program")
		}
		parts[w.Name] = part
		u.weights = append(u.weights, weight{name: w.Name})
	}
	if err := u.sort(); err != nil { // refuses two of one name
		return err
	}
	for _, w := range u.weights {
		u.parts = append(u.parts, parts[w.name])
	}
	u.copied = make([]atomic.Bool, len(u.parts))
	return nil
}

// slice is a part of a descriptor.
func (u *Upload) slice(w wire.Weight) (extent, error) {
	short := func(hint, format string, args ...any) (extent, error) {
		return extent{}, &ane.Error{Op: u.op, Engine: Name, Name: w.Name, Err: ane.ErrShort,
			Detail: fmt.Sprintf(format, args...), Hint: hint}
	}
	if int64(w.Descriptor) >= int64(len(u.files.list)) {
		return short("send the memfd beside the frame", "descriptor %d of %d", w.Descriptor, len(u.files.list))
	}
	f := u.files.list[w.Descriptor]
	if n := uint64(f.Size()); w.Offset > n || w.Size > n-w.Offset {
		return short("send the sizes that the memfd has", "bytes %d to %d of a memfd of %d", w.Offset, w.Offset+w.Size, n)
	}
	return extent{f, int(w.Offset), int(w.Size)}, nil
}

// Open charges for what reading the program costs, and maps it. Both are charged before: the engine may copy the
// weights, and reading pages that the client never wrote takes them.
func (u *Upload) Open() error {
	need := u.files.needs()
	need[Memory] = int64(u.weightBytes() + u.text.size)
	if err := u.Owe(need); err != nil {
		return err
	}
	for _, f := range u.files.list {
		if err := f.Map(); err != nil {
			return &ane.Error{Op: u.op, Engine: Name, Err: ane.Because(ane.ErrExhausted, err),
				Hint: "send it again when other compiles have ended"}
		}
	}
	u.owes.Give(Needs{Descriptors: u.owed[Descriptors]})
	u.owed[Descriptors] = 0
	u.Source.text = u.text.bytes()
	for i := range u.weights {
		u.weights[i].data = u.parts[i].bytes()
	}
	return nil
}

// weightBytes is how many bytes of weights the program names.
func (u *Upload) weightBytes() (n int) {
	for _, part := range u.parts {
		n += part.size
	}
	return n
}

// bytes is the part of a file that is mapped.
func (x extent) bytes() []byte {
	if x.size == 0 {
		return []byte{}
	}
	return x.file.Bytes()[x.at : x.at+x.size : x.at+x.size]
}

// Close gives back what was sent, but for files that a program holds.
func (u *Upload) Close() error {
	u.owes.Give(u.owed)
	files, base := u.files, u.base
	u.owed, u.Source, u.parts, u.files, u.base = Needs{}, Source{}, nil, &memfds{}, nil
	return errors.Join(files.release(), base.release())
}

// lends reports whether the weights are worth a mapping.
func (u *Upload) lends() bool { return u.weightBytes() >= leastLent }

// Weights are those of the upload for an engine. After Close they have no file any more.
func (u *Upload) Weights() ane.Weights {
	if !u.lends() {
		return &u.Source
	}
	return u
}

// shares are the weights of which no copy was made.
func (u *Upload) shares() (all []share) {
	for i, part := range u.parts {
		if part.size > 0 && !u.copied[i].Load() {
			device, inode := part.file.File()
			key := shareKey{device: device, inode: inode, at: part.at, size: part.size}
			all = append(all, share{key, Needs{Memory: int64(part.size)}})
		}
	}
	return all
}

// ReadFile implements ane.Weights.
func (u *Upload) ReadFile(path string) ([]byte, error) {
	if i, ok := u.find(path); ok {
		u.copied[i].Store(true)
	}
	return u.Source.ReadFile(path)
}

// Hold implements ane.Constants.
func (u *Upload) Hold() (release func(), err error) {
	files := u.files
	files.users.Add(1)
	return func() { _ = files.release() }, nil // closing fails for no file that was mapped
}

// Constant implements ane.Constants. It leaves to ReadFile, whose reader says what is wrong, files with warnings,
// unaligned elements, and types below 2 bits, which the engine expands.
func (u *Upload) Constant(path string, offset uint64, t mil.Type) ([]byte, error) {
	if i, ok := u.find(path); ok && t.DType.Bits() >= 2 {
		data := u.weights[i].data
		f, err := blob.NewReader(bytes.NewReader(data), int64(len(data)), path)
		if err == nil {
			e, err := f.Find(offset, t)
			if err == nil && len(f.Warnings()) == 0 && (int64(u.parts[i].at)+e.DataOffset)%ane.RowAlign == 0 {
				end := e.DataOffset + e.Size
				return data[e.DataOffset:end:end], nil
			}
		}
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}
