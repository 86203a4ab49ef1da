package kv

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// minShared is the number of bytes from which two goroutines read and copy.
const minShared = 1 << 20

// inTurn calls f for every i below n until one returns false, in two goroutines if two is set. They take one i after
// another: a goroutine that gets no processor leaves them to the other. f gets the number of its goroutine.
func inTurn(n int, two bool, f func(goroutine, i int) bool) {
	var next atomic.Int64
	work := func(goroutine int) {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if !f(goroutine, i) {
				next.Store(int64(n))
			}
		}
	}
	var other sync.WaitGroup
	if two && runtime.GOMAXPROCS(0) > 1 {
		other.Go(func() { work(1) })
	}
	work(0)
	other.Wait()
}

// dealing is the heads of a source being read, in groups of tensors.
type dealing struct {
	p    *placing
	s    *source
	sums []byte

	mu     sync.Mutex
	err    error // of tensor failed, the first that has one
	failed int
}

// readHeads reads the heads of a source and puts their checksums into sums.
func (p *placing) readHeads(s *source, sums []byte) error {
	h := s.head
	all := 2 * h.layers
	d := &dealing{p: p, s: s, sums: sums}
	if s.at == nil {
		d.group(newUnpacker(p.c.buffer(0), h.plane()), s.r, 0, all)
		return d.err
	}
	each := max(1, stageBytes/max(1, h.tensor())) // tensors of a group
	two := h.data() >= minShared
	in := [2]*unpacker{newUnpacker(p.c.buffer(0), h.plane())}
	if two {
		in[1] = newUnpacker(p.c.buffer(1), h.plane())
	}
	inTurn((all+each-1)/each, two, func(goroutine, i int) bool {
		from, to := i*each, min(i*each+each, all)
		r := io.NewSectionReader(s.at, int64(len(s.raw)+from*h.tensor()), int64((to-from)*h.tensor()))
		return d.group(in[goroutine], r, from, to)
	})
	return d.err
}

// group reads tensors [from, to), which are in r, and reports success.
func (d *dealing) group(in *unpacker, r io.Reader, from, to int) bool {
	h, p := d.s.head, d.p
	in.open(r, (to-from)*h.heads, d.sums[8*from*h.heads:][:0])
	if p.into == nil {
		return d.note(from, p.stage(in, h, d.keep(from, to)))
	}
	for i := from; i < to; i++ {
		if !d.note(i, p.tensor(in, h, i)) {
			return false
		}
	}
	return true
}

// keep makes room for tensors that are staged.
func (d *dealing) keep(from, to int) staging {
	p := d.p
	_, first, tokens := p.kept(d.s.head)
	size := d.s.head.heads * tokens * p.c.row // of a tensor
	g := staging{from: from, to: to, first: first, tokens: tokens}
	if len(p.spare) >= to*size {
		g.b = p.spare[from*size : to*size]
	} else {
		g.b = make([]byte, (to-from)*size)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p.staged = append(p.staged, g)
	return g
}

// note keeps the error of tensor i and reports whether there is none.
func (d *dealing) note(i int, err error) bool {
	if err == nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil || i < d.failed {
		d.err, d.failed = readError(d.p.op, d.s.name, d.s.head.tensorName(i), err), i
	}
	return false
}
