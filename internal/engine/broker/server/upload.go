package server

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// upload is a program as a client sent it, in sealed memory that it cannot change
// any more. The source is valid until close.
type upload struct {
	source
	files []*wire.Sealed
}

// receive maps the memfds of a compile.
func receive(p *wire.Compile, fds wire.Descriptors) (*upload, error) {
	up := &upload{}
	if p.Key != "" {
		if len(fds) > 0 || p.TextSize > 0 || len(p.Weights) > 0 {
			return nil, &ane.Error{Op: "compile", Engine: Name, Name: p.Key, Err: ane.ErrMismatch,
				Detail: "a key, and a program too",
				Hint:   "send one of them"}
		}
		return up, nil
	}
	if len(fds) == 0 {
		return nil, descriptors("compile", 1, 0)
	}
	err := up.open(fds)
	if err == nil {
		up.function = p.Function
		up.text, err = up.slice("text", 0, 0, p.TextSize)
	}
	if err == nil {
		err = up.addWeights(p.Weights)
	}
	if err != nil {
		return nil, errors.Join(err, up.close())
	}
	return up, nil
}

// receiveWeights maps the memfds of an instance.
func receiveWeights(p *wire.Instance, fds wire.Descriptors) (*upload, error) {
	up := &upload{}
	err := up.open(fds)
	if err == nil {
		err = up.addWeights(p.Weights)
	}
	if err != nil {
		return nil, errors.Join(err, up.close())
	}
	return up, nil
}

// open maps descriptors.
func (u *upload) open(fds wire.Descriptors) error {
	left := MaxUpload
	for i, fd := range fds {
		s, err := wire.MapSealed(fd, left)
		if err != nil {
			return &ane.Error{Op: "compile", Engine: Name, Name: fmt.Sprintf("descriptor %d", i), Err: err}
		}
		u.files = append(u.files, s)
		left -= len(s.Bytes())
	}
	return nil
}

func (u *upload) addWeights(list []wire.Weight) error {
	for _, w := range list {
		data, err := u.slice(w.Name, w.Descriptor, w.Offset, w.Size)
		if err != nil {
			return err
		}
		u.weights = append(u.weights, weight{w.Name, data})
	}
	return u.sort()
}

// slice is size bytes at offset of a descriptor.
func (u *upload) slice(name string, descriptor uint32, offset, size uint64) ([]byte, error) {
	if int64(descriptor) >= int64(len(u.files)) {
		return nil, &ane.Error{Op: "compile", Engine: Name, Name: name, Err: ane.ErrShort,
			Detail: fmt.Sprintf("descriptor %d of %d", descriptor, len(u.files)),
			Hint:   "send the memfd beside the frame"}
	}
	b := u.files[descriptor].Bytes()
	if offset > uint64(len(b)) || size > uint64(len(b))-offset {
		return nil, &ane.Error{Op: "compile", Engine: Name, Name: name, Err: ane.ErrShort,
			Detail: fmt.Sprintf("bytes %d to %d of a memfd of %d", offset, offset+size,
				len(b)), Hint: "send the sizes that the memfd has"}
	}
	return b[offset : offset+size : offset+size], nil
}

// close unmaps what was sent, unless a program has taken it over.
func (u *upload) close() error {
	files := u.files
	*u = upload{}
	return closeFiles(files)
}

func closeFiles(files []*wire.Sealed) error {
	var errs []error
	for _, s := range files {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
