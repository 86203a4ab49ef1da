package enginetest

import (
	"errors"
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

var errZero = errors.New("the sign of a zero is lost")

// sharing checks that the engine uses the tensors' own pages.
func sharing() []check {
	return []check{
		{"late-write", "every run reads inputs that changed after binding", lateWrite},
		{"views", "a byte changed in a tensor is seen in its view, and the reverse", views},
		{"copies-blocks", "opening, compiling, binding and running open no Blocks as large as the tensors",
			copiesBlocks},
		{"copies-memory", "opening, compiling, binding and running need no memory as large as the tensors",
			copiesMemory},
	}
}

func lateWrite(e *env) {
	d := e.device()
	for _, p := range []*program{addition(1, 8, 4, 32), addition(1, 3, 4, 5)} {
		r := e.rig(e.loaded(d, p), p, inCell)
		for seed := range 3 {
			e.must(r.round(e.ctx, seed), "inputs written before run %d", seed)
		}
	}
}

func views(e *env) {
	d := e.device()
	p := addition(1, 3, 4, 32)
	r := e.rig(e.loaded(d, p), p, inCell)
	seen := 0
	for _, side := range []struct {
		tensors []*ane.Tensor
		view    func(string) []byte
	}{{r.in, r.request.InputView}, {r.out, r.request.OutputView}} {
		for _, t := range side.tensors {
			v := side.view(t.Layout().Name)
			if v == nil {
				continue
			}
			seen++
			e.mirrored(t.Layout().Name, t.Bytes(), v)
		}
	}
	if seen == 0 {
		e.skip("the engine has no views")
	}
	if all := len(r.in) + len(r.out); seen < all {
		e.errorf("%d tensors have views, want %d", seen, all)
	}
	e.must(r.round(e.ctx, 2), "after changing bytes through views")
}

// mirrored changes bytes on each side and reads them on the other.
func (e *env) mirrored(name string, tensor, view []byte) {
	if len(view) < len(tensor) {
		e.errorf("the view of %s has %d bytes, the tensor %d", name, len(view), len(tensor))
		return
	}
	for _, i := range []int{0, len(tensor) / 2, len(tensor) - 1} {
		tensor[i]++
		if view[i] != tensor[i] {
			e.errorf("byte %d of %s, changed in the tensor, is not seen by the engine", i, name)
		}
		view[i]++
		if view[i] != tensor[i] {
			e.errorf("byte %d of %s, changed by the engine, is not seen in the tensor", i, name)
		}
	}
}

// large is a program whose tensors, 16 MiB each, are far larger than all other memory
// of a run.
func large() *program { return identity(1, 64, 256, 512) }

// grown opens the engine and runs the large program once. It returns the growth of
// measure in bytes, and the size of a tensor.
func (e *env) grown(measure func() int64) (grown, size int64) {
	p := large()
	in, out := e.warm(p.in), e.warm(p.out)
	before := measure()
	m := e.loaded(e.device(), p)
	request, err := m.Bind(named(in), named(out))
	e.need(err, "bind")
	e.later(request.Close, "closing the request")
	_, err = m.Evaluate(e.ctx, request)
	e.need(err, "evaluate")
	return measure() - before, int64(in[0].Layout().Bytes())
}

// warm makes tensors whose pages are all present.
func (e *env) warm(ports []port) (tensors []*ane.Tensor) {
	for _, q := range ports {
		l, err := ane.NewLayout(q.name, q.dtype, q.shape...)
		e.need(err, "layout")
		t, _ := inBlock(unimem.Warm())(e, l, true)
		junk(t.Block().Bytes())
		tensors = append(tensors, t)
	}
	return tensors
}

func copiesBlocks(e *env) {
	if grown, size := e.grown(func() int64 { return unimem.Live().Bytes }); grown > size/2 {
		e.errorf("open Blocks grew by %d bytes for tensors of %d", grown, size)
	}
}

// Both measures miss a copy in pieces much smaller than the tensors; the checks
// late-write and views detect it.

// copiesMemory measures the pages of the process. A page mapped twice counts once, so
// that an engine may have its own mapping.
func copiesMemory(e *env) {
	if _, err := procmem.Proportional(); err != nil {
		e.skip("the memory of the process cannot be measured: " + err.Error())
	}
	first := true
	grown, size := e.grown(func() int64 {
		if first { // free unused Go heap before the run; keep what the run allocates
			debug.FreeOSMemory()
			first = false
		}
		n, err := procmem.Proportional()
		e.need(err, "measure memory")
		return n
	})
	if grown > size/2 {
		e.errorf("memory grew by %d bytes for tensors of %d", grown, size)
	}
}
