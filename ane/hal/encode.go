package hal

import (
	"context"
	"slices"
	"sort"

	"github.com/anekit/anekit/ane"
)

// code is an encoded sequence of commands.
type code struct {
	steps    []segment // barriers are their own steps
	buffers  []*Buffer
	bindings []*binding
	recorded int // commands, barriers too
	merged   int
	barriers int
}

// encode encodes recorded segments: it drops empty commands, joins neighbors, and places barriers where hazards are.
// Recorded barriers only keep their neighbors apart.
func encode(segments []segment) *code {
	c := &code{recorded: len(segments)}
	joined := make([]segment, 0, len(segments))
	apart := true
	for _, s := range segments {
		switch {
		case s.kind == opBarrier:
			apart = true
			continue
		case s.kind != opDispatch && s.dst.Length == 0:
			continue
		}
		if !apart && join(&joined[len(joined)-1], s) {
			c.merged++
			continue
		}
		joined, apart = append(joined, s), false
	}
	before := accesses{}
	seen, slots := map[*Buffer]bool{}, map[*binding]int{}
	for _, s := range joined {
		reads, writes := s.touches()
		if before.conflict(reads, writes) {
			c.steps = append(c.steps, segment{kind: opBarrier})
			c.barriers++
			clear(before)
		}
		before.add(reads, false)
		before.add(writes, true)
		for _, r := range slices.Concat(reads, writes) {
			if !seen[r.Buffer] {
				seen[r.Buffer] = true
				c.buffers = append(c.buffers, r.Buffer)
			}
		}
		if s.run != nil {
			slot, known := slots[s.run]
			if !known {
				slot = len(c.bindings)
				slots[s.run] = slot
				c.bindings = append(c.bindings, s.run)
			}
			s.slot = slot
		}
		c.steps = append(c.steps, s)
	}
	return c
}

// touches returns the Ranges that a command reads and writes.
func (s *segment) touches() (reads, writes []Range) {
	switch s.kind {
	case opCopy:
		return []Range{s.src}, []Range{s.dst}
	case opDispatch:
		return s.run.in, s.run.out
	}
	return nil, []Range{s.dst}
}

// join joins s to the command before it, if one command has the effect of both.
func join(a *segment, s segment) bool {
	if a.kind != s.kind || a.dst.Buffer != s.dst.Buffer {
		return false
	}
	switch s.kind {
	case opFill:
		return joinFill(a, s)
	case opCopy:
		return joinCopy(a, s)
	}
	return false
}

// joinFill joins fills that adjoin or overlap, if each has the bytes that the other one would write there.
func joinFill(a *segment, s segment) bool {
	first, second := *a, s
	if second.dst.Offset < first.dst.Offset {
		first, second = second, first
	}
	end := first.dst.Offset + first.dst.Length
	if second.dst.Offset > end {
		return false
	}
	phase := (second.dst.Offset - first.dst.Offset) % len(first.data)
	for i, b := range second.data {
		if first.data[(phase+i)%len(first.data)] != b {
			return false
		}
	}
	end = max(end, second.dst.Offset+second.dst.Length)
	a.dst.Offset, a.data = first.dst.Offset, first.data
	a.dst.Length = end - a.dst.Offset
	a.joined++
	return true
}

// joinCopy joins copies that adjoin on both sides, if the joined one does not read what it writes.
func joinCopy(a *segment, s segment) bool {
	if a.src.Buffer != s.src.Buffer {
		return false
	}
	both := *a
	switch {
	case a.dst.Offset+a.dst.Length == s.dst.Offset && a.src.Offset+a.src.Length == s.src.Offset:
	case s.dst.Offset+s.dst.Length == a.dst.Offset && s.src.Offset+s.src.Length == a.src.Offset:
		both.dst.Offset, both.src.Offset = s.dst.Offset, s.src.Offset
	default:
		return false
	}
	both.dst.Length += s.dst.Length
	both.src.Length += s.src.Length
	if both.dst.shares(both.src) {
		return false
	}
	*a = both
	a.joined++
	return true
}

// access is a kind of access to memory.
type access struct {
	region region
	write  bool
}

// accesses are the bytes that the commands after the last barrier read and write.
type accesses map[access]spans

func (a accesses) conflict(reads, writes []Range) bool {
	wrote := func(r Range) bool { return a[access{r.Buffer.region, true}].hit(r) }
	read := func(r Range) bool { return a[access{r.Buffer.region, false}].hit(r) }
	return slices.ContainsFunc(reads, wrote) || slices.ContainsFunc(writes, wrote) || slices.ContainsFunc(writes, read)
}

func (a accesses) add(ranges []Range, write bool) {
	for _, r := range ranges {
		k := access{r.Buffer.region, write}
		a[k] = a[k].add(r.Offset, r.Offset+r.Length)
	}
}

// spans is a set of bytes: sorted spans [from, to) that neither overlap nor adjoin.
type spans [][2]int

// hit reports whether the set has a byte of r.
func (s spans) hit(r Range) bool {
	i := s.after(r.Offset)
	return r.Length > 0 && i < len(s) && s[i][0] < r.Offset+r.Length
}

// after returns the index of the first span that ends after at.
func (s spans) after(at int) int {
	return sort.Search(len(s), func(i int) bool { return s[i][1] > at })
}

// add adds the bytes [from, to).
func (s spans) add(from, to int) spans {
	if from == to {
		return s
	}
	i := s.after(from - 1)
	j := i
	for j < len(s) && s[j][0] <= to {
		from, to = min(from, s[j][0]), max(to, s[j][1])
		j++
	}
	return slices.Replace(s, i, j, [2]int{from, to})
}

// prepare binds the dispatches whose memory is present, so that End reports their faults.
func (c *code) prepare() (faults []error) {
	tried := make([]error, len(c.bindings))
	for i, k := range c.bindings {
		tried[i] = k.try()
	}
	for _, s := range c.steps {
		if s.run != nil && tried[s.slot] != nil {
			faults = append(faults, &CommandError{s.number, s.kind.String(), tried[s.slot]})
		}
	}
	return faults
}

// chunk is the largest part of a transfer that runs without a look at the context.
const chunk = 4 << 20

// run runs the commands one after another. The caller has pinned the Buffers.
func (c *code) run(ctx context.Context, s *submission) error {
	d := s.device
	var polyfills int64
	held := make([]*ane.Request, len(c.bindings)) // a loop of dispatches takes its Requests once
	defer func() {
		d.stats.polyfills.Add(polyfills)
		for i, r := range held {
			if r != nil {
				c.bindings[i].give(r)
			}
		}
	}()
	for i := range c.steps {
		g := &c.steps[i]
		if g.kind == opBarrier {
			continue
		}
		start := d.trace.now()
		var err error
		if g.kind == opDispatch {
			err = g.run.evaluate(ctx, &held[g.slot])
		} else if err = ctx.Err(); err == nil {
			polyfills++
			err = g.transfer(ctx)
		}
		if d.trace.on {
			d.trace.command(s, g, start)
		}
		if err != nil {
			return &CommandError{g.number, g.kind.String(), err}
		}
	}
	return nil
}

// transfer runs a fill, copy or update on the CPU.
func (s *segment) transfer(ctx context.Context) error {
	dst := s.dst.pinned()
	switch s.kind {
	case opFill:
		n := copy(dst, s.data)
		for n < len(dst) {
			if n >= chunk && ctx.Err() != nil {
				return ctx.Err()
			}
			n += copy(dst[n:], dst[:min(n, chunk)])
		}
	default:
		src := s.data
		if s.kind == opCopy {
			src = s.src.pinned()
		}
		for at := 0; at < len(dst); at += chunk {
			if at > 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			end := min(at+chunk, len(dst))
			copy(dst[at:end], src[at:end])
		}
	}
	return nil
}

// pinned returns the bytes of a Range whose Buffer is pinned: its Block stays until then.
func (r Range) pinned() []byte {
	d := r.Buffer.device
	d.mu.Lock()
	block := r.Buffer.block
	d.mu.Unlock()
	return block.Bytes()[r.Offset : r.Offset+r.Length]
}
