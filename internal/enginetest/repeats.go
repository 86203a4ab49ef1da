package enginetest

import (
	"bytes"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// repeats check many runs, requests and models.
func repeats() []check {
	return []check{
		{"reuse", "a request runs any number of times, each time on the current inputs", reuse},
		{"determinism", "the same input gives the same bits", determinism},
		{"requests", "requests of one model do not affect each other", requests},
		{"models", "several loaded models do not affect each other", models},
		{"parallel", "64 goroutines evaluate a request each", func(e *env) { parallel(e, inBlock()) }},
		{"parallel-heap", "the same on heap memory, which the race detector sees",
			func(e *env) { parallel(e, inBlock(unimem.OnHeap())) }},
	}
}

func reuse(e *env) {
	d := e.device()
	for _, p := range []*program{addition(1, 2, 3, 32), multiplication(3, 20, 7)} {
		r := e.rig(e.loaded(d, p), p, inCell)
		for seed := range 20 {
			e.must(r.round(e.ctx, seed), "run %d", seed)
		}
	}
}

func determinism(e *env) {
	d := e.device()
	for _, p := range e.programs() {
		r := e.rig(e.loaded(d, p), p, inBlock())
		var first []byte
		for n := range 6 {
			e.need(r.fill(p.samples(3)), "inputs")
			_, err := r.model.Evaluate(e.ctx, r.request)
			e.need(err, "evaluate")
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
func elements(tensors []*ane.Tensor) []byte {
	var all []byte
	for _, t := range tensors {
		packed := make([]byte, t.Layout().PackedBytes())
		if _, err := t.Read(packed); err != nil {
			return nil
		}
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
	for _, p := range e.programs() {
		rigs = append(rigs, e.rig(e.loaded(d, p), p, inCell))
	}
	second := addition(1, 8, 4, 32) // the same text again
	rigs = append(rigs, e.rig(e.loaded(d, second), second, inCell))
	e.interleave(rigs)
}

// interleave fills all, runs them out of order, then verifies all.
func (e *env) interleave(rigs []*rig) {
	for i, r := range rigs {
		e.need(r.fill(r.program.samples(i)), "inputs")
	}
	for _, r := range slices.Backward(rigs) {
		_, err := r.model.Evaluate(e.ctx, r.request)
		e.need(err, "evaluate "+r.program.name)
	}
	for i, r := range rigs {
		e.must(r.verify(r.program.reference(r.program.samples(i))), "request %d of %d", i, len(rigs))
	}
}

func parallel(e *env, where room) {
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
					e.must(r.round(e.ctx, i*rounds+n), "goroutine %d, run %d", i, n)
				}
			})
		})
	}
	wg.Wait()
}
