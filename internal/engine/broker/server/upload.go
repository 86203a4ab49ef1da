package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// upload is a program as a client sent it, in sealed memory that it cannot change
// any more. It has descriptors until it is mapped, in its turn: the source is valid from then until close.
type upload struct {
	source
	files *memfds
	text  extent
	parts []extent // of source.weights
	owes  *accounts
	owed  needs // for files
}

// extent is a part of a file.
type extent struct {
	file     *wire.Sealed // nil: no bytes
	at, size int
}

// receive keeps the memfds of a compile.
func receive(p *wire.Compile, fds wire.Descriptors, owes *accounts) (*upload, error) {
	up := &upload{owes: owes, files: newMemfds()}
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

// receiveWeights keeps the memfds of an instance.
func receiveWeights(p *wire.Instance, fds wire.Descriptors, owes *accounts) (*upload, error) {
	up := &upload{owes: owes, files: newMemfds()}
	err := up.open(fds)
	if err == nil {
		err = up.addWeights(p.Weights)
	}
	if err != nil {
		return nil, errors.Join(err, up.close())
	}
	return up, nil
}

// open keeps descriptors.
func (u *upload) open(fds wire.Descriptors) error {
	if err := u.owe("compile", "", needs{descriptors: int64(len(fds))}); err != nil {
		return err
	}
	for i, fd := range fds {
		s, err := wire.KeepSealed(fd, MaxUpload)
		if err != nil {
			return &ane.Error{Op: "compile", Engine: Name, Name: fmt.Sprintf("descriptor %d", i), Err: err}
		}
		u.files.list = append(u.files.list, s)
	}
	return nil
}

// wait charges for what an upload costs before its turn: the frame and its list of weights.
func (u *upload) wait(f *wire.Frame, name string) error {
	err := u.owe("compile", name, needs{memory: waitingBytes + 2*int64(len(f.Payload))})
	if err != nil {
		return errors.Join(err, u.close())
	}
	return nil
}

// owe charges n for the upload, until close.
func (u *upload) owe(op, name string, n needs) error {
	if err := u.owes.take(op, name, n); err != nil {
		return err
	}
	u.owed = u.owed.plus(n)
	return nil
}

// addWeights sorts the list as source.sort does the weights. What counts for MaxUpload are the parts of the files that
// the program names: a file may hold weights of other programs too.
func (u *upload) addWeights(list []wire.Weight) error {
	parts := make(map[string]extent, len(list))
	left := MaxUpload - u.text.size
	for _, w := range list {
		part, err := u.slice(w.Name, w.Descriptor, w.Offset, w.Size)
		if err != nil {
			return err
		}
		if left -= part.size; left < 0 {
			return exhausted("compile", w.Name, "bytes of text and weights", MaxUpload, "split the program")
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
	return nil
}

// slice is size bytes at offset of a descriptor.
func (u *upload) slice(name string, descriptor uint32, offset, size uint64) (extent, error) {
	if int64(descriptor) >= int64(len(u.files.list)) {
		return extent{}, &ane.Error{Op: "compile", Engine: Name, Name: name, Err: ane.ErrShort,
			Detail: fmt.Sprintf("descriptor %d of %d", descriptor, len(u.files.list)),
			Hint:   "send the memfd beside the frame"}
	}
	f := u.files.list[descriptor]
	if n := uint64(f.Size()); offset > n || size > n-offset {
		return extent{}, &ane.Error{Op: "compile", Engine: Name, Name: name, Err: ane.ErrShort,
			Detail: fmt.Sprintf("bytes %d to %d of a memfd of %d", offset, offset+size, n),
			Hint:   "send the sizes that the memfd has"}
	}
	return extent{f, int(offset), int(size)}, nil
}

// key is source.key of what is not mapped. It reads the files through a small buffer, and no holes.
func (u *upload) key(ctx context.Context, engine ane.Info) (Key, error) {
	h := newKeyHash(engine, u.function)
	err := u.text.hash(ctx, h)
	for i := 0; i < len(u.parts) && err == nil; i++ {
		h.part([]byte(u.weights[i].name))
		err = u.parts[i].hash(ctx, h)
	}
	if ctx.Err() != nil {
		return Key{}, ane.Deadline("compile", Name, ctx.Err())
	}
	if err != nil {
		return Key{}, &ane.Error{Op: "compile", Engine: Name, Err: err}
	}
	return h.key(), nil
}

func (x extent) hash(ctx context.Context, h keyHash) error {
	h.length(x.size)
	if x.size == 0 {
		return nil
	}
	return x.file.CopyTo(ctx, yielding{h, ctx}, int64(x.at), int64(x.size))
}

// claim charges for what reading the program costs. A mapping of a hole costs a page when it is read, and hashing one
// takes time, so holes are charged before either; and the engine may copy the weights. Holes of the files that the
// program does not name are never read.
func (u *upload) claim(ctx context.Context, op, name string) error {
	var holes int64
	// Before the holes of each are looked for.
	if err := u.owe(op, name, needs{memory: int64(u.weightBytes())}); err != nil {
		return err
	}
	for _, part := range append([]extent{u.text}, u.parts...) {
		n, err := part.holes(ctx)
		if ctx.Err() != nil {
			return ane.Deadline(op, Name, ctx.Err())
		}
		if err != nil {
			return &ane.Error{Op: op, Engine: Name, Name: name, Err: err}
		}
		holes += n
		yield(ctx)
	}
	if holes == 0 {
		return nil
	}
	return u.owe(op, name, needs{memory: holes})
}

// weightBytes is how many bytes of weights the program names.
func (u *upload) weightBytes() (n int) {
	for _, part := range u.parts {
		n += part.size
	}
	return n
}

// holes counts the bytes of holes in the pages that hold the part.
func (x extent) holes(ctx context.Context) (int64, error) {
	if x.size == 0 {
		return 0, nil
	}
	page := os.Getpagesize()
	from, to := x.at&^(page-1), (x.at+x.size+page-1)&^(page-1)
	return x.file.Holes(ctx, int64(from), int64(min(to, x.file.Size())-from))
}

// yielding lets other compiles run after each part that is hashed.
type yielding struct {
	io.Writer
	ctx context.Context
}

func (y yielding) Write(b []byte) (int, error) {
	n, err := y.Writer.Write(b)
	yield(y.ctx)
	return n, err
}

// yield lets other compiles run, if ctx is the task of one.
func yield(ctx context.Context) {
	if k, ok := ctx.(*task); ok {
		k.Yield()
	}
}

// mapFiles maps the files and makes the source valid.
func (u *upload) mapFiles(op, name string) error {
	if err := u.owe(op, name, needs{mappings: u.files.needs().mappings}); err != nil {
		return err
	}
	for _, f := range u.files.list {
		if err := f.Map(); err != nil {
			return &ane.Error{Op: op, Engine: Name, Err: ane.Because(ane.ErrExhausted, err),
				Hint: "send it again when other compiles have ended"}
		}
	}
	u.owes.give(needs{descriptors: u.owed.descriptors})
	u.owed.descriptors = 0
	u.source.text = u.text.bytes()
	for i := range u.weights {
		u.weights[i].data = u.parts[i].bytes()
	}
	return nil
}

// bytes is the part of a file that is mapped.
func (x extent) bytes() []byte {
	if x.size == 0 {
		return []byte{}
	}
	return x.file.Bytes()[x.at : x.at+x.size : x.at+x.size]
}

// close gives back what was sent, but for files that a program holds.
func (u *upload) close() error {
	files := u.files
	u.owes.give(u.owed)
	*u = upload{owes: u.owes, files: newMemfds()}
	return files.release()
}
