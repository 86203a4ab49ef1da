package measure

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
)

// Opener prepares an operation. It returns what does it, and what closes that, nil if there is nothing to close.
type Opener func(ctx context.Context) (Loop, func() error, error)

// Loop does an operation n times.
type Loop func(n int) error

// Repeat returns a Loop of a call.
func Repeat(call func() error) Loop {
	return func(n int) error {
		for range n {
			if err := call(); err != nil {
				return err
			}
		}
		return nil
	}
}

// Bare is the Opener of an operation that cannot fail and has nothing to close.
func Bare(prepare func() func()) Opener {
	return func(context.Context) (Loop, func() error, error) {
		run := prepare()
		return Repeat(func() error { run(); return nil }), nil, nil
	}
}

// Reads returns a function by which some goroutines read memory once, in pieces of a MiB.
func Reads(workers int, all ...[]byte) func() {
	var pieces [][]byte
	for _, b := range all {
		pieces = slices.AppendSeq(pieces, slices.Chunk(b, 1<<20))
	}
	return func() {
		var wait sync.WaitGroup
		for k := range workers {
			wait.Go(func() {
				for i := k; i < len(pieces); i += workers {
					runtime.KeepAlive(bytes.Count(pieces[i], []byte{1}))
				}
			})
		}
		wait.Wait()
	}
}

// Program compiles a program on d and makes a request of it, whose inputs fill fills. done closes both.
func Program(ctx context.Context, d *ane.Device, s ane.Source, fill func(*ane.Tensor) error) (r *ane.Request,
	done func() error, err error) {
	m, err := d.Compile(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	done = func() error { return errors.Join(r.Close(), m.Close(context.WithoutCancel(ctx))) } // r may be nil
	r, err = m.NewRequest(ctx)
	for _, l := range m.Inputs() {
		if err == nil {
			err = fill(r.Input(l.Name))
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return r, done, nil
}
