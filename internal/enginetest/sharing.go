package enginetest

import (
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// sharing checks that the engine uses the tensors' own pages.
func sharing() []check {
	return []check{
		{"late-write", "every run reads inputs that changed after binding",
			func(e *env) { e.again(3, addition(1, 8, 4, 32), addition(1, 3, 4, 5)) }},
		{"views", "a byte changed in a tensor is seen in its view, and the reverse", views},
		{"copies-blocks", "opening, compiling, binding and running open no Blocks as large as the tensors",
			copiesBlocks},
		{"copies-memory", "opening, compiling, binding and running need no memory as large as the tensors",
			copiesMemory},
	}
}

func views(e *env) {
	r := e.fresh(e.device(), addition(1, 3, 4, 32), inCell)
	seen := 0
	for _, side := range []struct {
		tensors []*ane.Tensor
		side    access.Side
	}{{r.in, access.Input}, {r.out, access.Output}} {
		for _, t := range side.tensors {
			if v := access.View(r.request, side.side, t.Layout().Name); v != nil {
				seen++
				e.mirrored(t.Layout().Name, t.Bytes(), v)
			}
		}
	}
	if seen == 0 {
		e.skip("the engine has no views")
	}
	if all := len(r.in) + len(r.out); seen < all {
		e.errorf("%d tensors have views, want %d", seen, all)
	}
	e.report(r.round(e.Ctx, 2), "after changing bytes through views")
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

// grown opens the engine and runs a program once whose tensors, 16 MiB each, are far larger than all other memory of a
// run. It reports a growth of measure, in bytes, of more than half a tensor. It misses a copy in pieces much smaller
// than the tensors; the checks late-write and views detect that.
func (e *env) grown(what string, measure func() int64) {
	p := identity(1, 64, 256, 512)
	warm := func(l ane.Layout) map[string]*ane.Tensor {
		t, _ := inBlock(unimem.Warm())(e, l, true)
		junk(t.Block().Bytes())
		return named([]*ane.Tensor{t})
	}
	in, out := warm(p.in[0]), warm(p.out[0])
	before := measure()
	m := e.loaded(e.device(), p)
	request := step.Must(m.Bind(in, out))
	e.Closing(request.Close)
	step.Must(m.Evaluate(e.Ctx, request))
	if grown, size := measure()-before, p.in[0].Bytes(); grown > int64(size/2) {
		e.errorf("%s grew by %d bytes for tensors of %d", what, grown, size)
	}
}

func copiesBlocks(e *env) { e.grown("open Blocks", func() int64 { return unimem.Live().Bytes }) }

// copiesMemory measures the pages of the process. A page mapped twice counts once, so
// that an engine may have its own mapping.
func copiesMemory(e *env) {
	if _, err := procmem.Proportional(); err != nil {
		e.skip("the memory of the process cannot be measured: " + err.Error())
	}
	first := true
	e.grown("memory", func() int64 {
		if first { // free unused Go heap before the run; keep what the run allocates
			debug.FreeOSMemory()
			first = false
		}
		return step.Must(procmem.Proportional())
	})
}
