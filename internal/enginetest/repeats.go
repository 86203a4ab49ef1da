package enginetest

import (
	"bytes"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// repeats check many runs, requests and models.
func repeats() []check {
	return []check{
		{"reuse", "a request runs any number of times, each time on the current inputs",
			func(e *env) { e.again(20, addition(1, 2, 3, 32), multiplication(3, 20, 7)) }},
		{"determinism", "the same input gives the same bits", determinism},
		{"requests", "requests of one model do not affect each other", requests},
		{"models", "several loaded models do not affect each other", models},
		{"parallel", "64 goroutines evaluate a request each", func(e *env) { parallel(e, inBlock()) }},
		{"parallel-heap", "the same on heap memory, which the race detector sees",
			func(e *env) { parallel(e, inBlock(unimem.OnHeap())) }},
	}
}

// again runs one request of each program on other inputs each time.
func (e *env) again(runs int, programs ...*program) {
	d := e.device()
	for _, p := range programs {
		r := e.fresh(d, p, inCell)
		for seed := range runs {
			e.report(r.round(e.Ctx, seed), "inputs written before run %d", seed)
		}
	}
}

func determinism(e *env) {
	d := e.device()
	for _, p := range programs() {
		r := e.fresh(d, p, inBlock())
		var first []byte
		for n := range 6 {
			step.NoError(r.fill(p.samples(3)))
			step.NoError(r.run(e.Ctx))
			now := elements(r.out)
			if n == 0 {
				first = now
			}
			if !bytes.Equal(first, now) {
				e.errorf("%s: run %d differs from run 0 on the same input", p.name, n)
				break
			}
		}
	}
}

// elements returns the bytes of all rows, without padding.
func elements(tensors []*ane.Tensor) (all []byte) {
	for _, t := range tensors {
		packed := make([]byte, t.Layout().PackedBytes())
		step.Must(t.Read(packed))
		all = append(all, packed...)
	}
	return all
}

func requests(e *env) {
	p := addition(1, 2, 3, 32)
	m := e.loaded(e.device(), p)
	var rigs []*rig
	for range 4 {
		rigs = append(rigs, e.rig(m, p, inCell))
	}
	e.interleave(rigs)
}

func models(e *env) {
	d := e.device()
	var rigs []*rig
	for _, p := range append(programs(), addition(1, 8, 4, 32)) { // the last one is a text that was there before
		rigs = append(rigs, e.fresh(d, p, inCell))
	}
	e.interleave(rigs)
}

// interleave fills all, runs them out of order, then verifies all.
func (e *env) interleave(rigs []*rig) {
	for i, r := range rigs {
		step.NoError(r.fill(r.program.samples(i)))
	}
	for _, r := range slices.Backward(rigs) {
		step.NoError(r.run(e.Ctx))
	}
	for i, r := range rigs {
		e.report(r.verify(r.program.reference(r.program.samples(i))), "request %d of %d", i, len(rigs))
	}
}

func parallel(e *env, where memory) {
	const goroutines, rounds = 64, 6
	p := addition(1, 2, 3, 5)
	m := e.loaded(e.device(), p)
	var rigs []*rig
	for range goroutines {
		rigs = append(rigs, e.rig(m, p, where))
	}
	var wg sync.WaitGroup
	for i, r := range rigs {
		wg.Go(func() {
			e.guarded(func() {
				for n := range rounds {
					e.report(r.round(e.Ctx, i*rounds+n), "goroutine %d, run %d", i, n)
				}
			})
		})
	}
	wg.Wait()
}
