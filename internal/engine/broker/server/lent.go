package server

import (
	"bytes"
	"errors"
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

// memfds are the files of an upload. They close with their last user: the upload, and each program that computes with
// weights in them.
type memfds struct {
	users atomic.Int32
	list  []*wire.Sealed
}

func newMemfds() *memfds {
	m := &memfds{}
	m.users.Store(1)
	return m
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
func (m *memfds) needs() (n needs) {
	for _, s := range m.list {
		if s.Size() > 0 {
			n.mappings++
		}
	}
	return n
}

// lent implements ane.Constants: an engine computes with the weights of an upload in the client's sealed memory, which
// no process can change. Programs whose uploads name one memfd share its pages.
type lent struct {
	*source
	parts  []extent // of source.weights
	files  *memfds
	copied []atomic.Bool // of source.weights: an engine that reads a file may keep a copy
}

// ReadFile implements ane.Weights.
func (l lent) ReadFile(path string) ([]byte, error) {
	if i, ok := l.find(path); ok {
		l.copied[i].Store(true)
	}
	return l.source.ReadFile(path)
}

// shares are the weights of which no copy was made.
func (l lent) shares() (all []share) {
	for i, part := range l.parts {
		if part.size > 0 && !l.copied[i].Load() {
			device, inode := part.file.File()
			key := shareKey{device: device, inode: inode, at: part.at, size: part.size}
			all = append(all, share{key, needs{memory: int64(part.size)}})
		}
	}
	return all
}

// Hold implements ane.Constants.
func (l lent) Hold() (release func(), err error) {
	l.files.users.Add(1)
	return func() { _ = l.files.release() }, nil // closing fails for no file that was mapped
}

// Constant implements ane.Constants. What is not plain is left to ReadFile, whose reader says what is wrong: a file
// with warnings, elements that are not aligned, and types below 2 bits, which the engine expands.
func (l lent) Constant(path string, offset uint64, t mil.Type) ([]byte, error) {
	plain := false
	var data []byte
	if i, ok := l.find(path); ok && t.DType.Bits() >= 2 {
		w := &l.weights[i]
		f, err := blob.NewReader(bytes.NewReader(w.data), int64(len(w.data)), path)
		if err == nil {
			var e blob.Entry
			if e, err = f.Find(offset, t); err == nil {
				end := e.DataOffset + e.Size
				data = w.data[e.DataOffset:end:end]
				plain = len(f.Warnings()) == 0 && (int64(l.parts[i].at)+e.DataOffset)%ane.RowAlign == 0
			}
		}
	}
	if !plain {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return data, nil
}

// lends reports whether the weights are worth a mapping.
func (u *upload) lends() bool { return u.weightBytes() >= leastLent }

// constants are the weights of the upload for an engine. After close they have no file any more.
func (u *upload) constants() ane.Weights {
	if !u.lends() {
		return &u.source
	}
	return lent{&u.source, u.parts, u.files, make([]atomic.Bool, len(u.parts))}
}
