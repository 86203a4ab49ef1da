package measure

import (
	"bytes"
	"runtime"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
)

// Opener prepares an operation.
type Opener func(t *step.T) Loop

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
	return func(*step.T) Loop {
		run := prepare()
		return Repeat(func() error { run(); return nil })
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

// Program compiles a program on d and makes a request of it, whose inputs fill fills.
func Program(t *step.T, d *ane.Device, s ane.Source, fill func(*ane.Tensor) error) *ane.Request {
	m := step.Must(d.Compile(t.Ctx, s))
	t.Later(m.Close)
	r := step.Must(m.NewRequest(t.Ctx))
	t.Closing(r.Close)
	for _, l := range m.Inputs() {
		step.NoError(fill(r.Input(l.Name)))
	}
	return r
}
