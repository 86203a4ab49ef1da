package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/numerics"
)

// base is a program of which instances may be made. It keeps what it was made of,
// for an engine that has to compile that again for an instance.
type base struct {
	ane.Executable
	file  string
	src   source
	mode  numerics.Mode
	files *memfds // that src lies in; nil when it came from the cache
}

// Close frees the program and what it was made of.
func (b *base) Close() error {
	err := b.Executable.Close()
	if b.files != nil {
		err = errors.Join(err, b.files.release())
	}
	return err
}

// linkable is a base whose engine makes instances without compiling, which the driver
// asks it for. Of what it was made of it keeps the names of the weights.
type linkable struct {
	*base
	own driver.Instancer
}

// NewInstance implements driver.Instancer.
func (l linkable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	return l.own.NewInstance(ctx, weights)
}

// baseOf returns the base that an executable of the driver is.
func baseOf(exec ane.Executable) (b *base, ok bool) {
	switch x := exec.(type) {
	case linkable:
		return x.base, true
	case *base:
		return x, true
	}
	return nil, false
}

// instance makes a program of a base and the weights of an adapter, which take the
// place of the base's where they have the same name. It implements
// driver.Options.Instance: the driver asks it for what is not linkable, and the
// program is compiled again.
func (s *server) instance(ctx context.Context, of ane.Executable, weights ane.Weights) (ane.Executable, error) {
	b, ok := of.(*base)
	if !ok {
		return nil, &ane.Error{Op: "instance", Engine: Name, Err: ane.ErrMismatch,
			Detail: "the base was compiled by a client that may make no instances",
			Hint:   "purge the base and compile it again"}
	}
	src := b.src.compile(b.file, overlay{weights, &b.src})
	held, _, _ := b.Footprint()                         // which the client has been charged with for the instance
	return s.engine.CompileMode(ctx, src, held, b.mode) // in the turn of the instance
}

// overlay hands out the files of an adapter, and the base's for the others.
type overlay struct {
	own  ane.Weights
	base *source
}

// ReadFile implements ane.Weights.
func (o overlay) ReadFile(path string) ([]byte, error) {
	if b, err := o.own.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	return o.base.ReadFile(path)
}

// check refuses weights that the base does not name.
func (o overlay) check(own *source) error {
	for _, w := range own.weights {
		if _, err := o.base.ReadFile(w.name); err != nil {
			return &ane.Error{Op: "instance", Engine: Name, Name: w.name, Err: ane.ErrName,
				Detail: fmt.Sprintf("the base has %d weight files and not this one",
					len(o.base.weights)), Hint: "send the files that differ, by the base's names"}
		}
	}
	return nil
}
