package haltest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// model is memory as a caller expects it: commands run at once, one after another, on plain bytes.
type model struct {
	memory [buffers][]byte
	x, y   []byte // of the program
}

// buffers is the number of Buffers that commands read and write. The last two are the same memory.
const buffers = 4

// size is the length of each in bytes.
const size = 300

// play is a run of Random.
type play struct {
	Calls
	rng        *rand.Rand
	d          *hal.Device
	executable *hal.Executable
	buffers    [buffers]*hal.Buffer
	x, y       *hal.Buffer
	model      model
	left       int // operations
}

// Random runs random operations (commands, submissions and signals) and compares all memory with a simple model
// after each round. In a round several command buffers, ordered by a timeline, are submitted in random
// order, and some of them are reusable and run again. The first difference ends it with an error that has the
// seed. broken calls may hang: ctx ends the waits.
func Random(ctx context.Context, open Open, calls Calls, seed uint64, operations int) error {
	return step.Run(ctx, func(t *step.T) {
		engine := step.Must(open(ctx))
		t.Closing(engine.Close)
		block := step.Must(unimem.Open(size))
		t.Closing(block.Close)
		d := step.Must(hal.NewDevice(engine))
		t.Later(d.Close)
		p := &play{Calls: calls, rng: rand.New(rand.NewPCG(seed, 0)), d: d, left: operations}
		p.begin(ctx, block)
		for round := 0; p.left > 0; round++ {
			if err := step.Catch(func() { p.round(ctx) }); err != nil {
				step.NoError(fmt.Errorf("seed %d, round %d: %w", seed, round, err))
			}
		}
	})
}

// begin makes the Buffers and the program.
func (p *play) begin(ctx context.Context, block *unimem.Block) {
	same := make([]byte, block.Size())
	for i := range buffers {
		if i < buffers-2 {
			p.buffers[i], p.model.memory[i] = step.Must(p.d.NewBuffer(size)), make([]byte, size)
		} else {
			p.buffers[i], p.model.memory[i] = step.Must(p.Import(p.d, block)), same
		}
	}
	p.executable = step.Must(p.Prepare(p.d, ctx, ane.Source{Text: []byte(double)}))
	p.x, p.model.x = step.Must(p.d.NewBuffer(row)), make([]byte, row)
	p.y, p.model.y = step.Must(p.d.NewBuffer(row)), make([]byte, row)
}

// batch is a recorded command buffer and what it does to the model.
type batch struct {
	buffer  *hal.CommandBuffer
	effects []func()
	again   bool // it runs twice
}

// round runs a few batches and compares.
func (p *play) round(ctx context.Context) {
	var steps, all []batch
	for range 1 + p.rng.IntN(5) {
		b := p.record()
		all, steps = append(all, b), append(steps, b)
		if b.again {
			steps = append(steps, b)
		}
	}
	s, end := hal.NewSemaphore(0), uint64(len(steps)+1)
	for _, i := range p.rng.Perm(len(steps)) {
		p.left--
		step.NoError(p.Execute(p.d.Queue(), ctx, at(s, uint64(i+1)), at(s, uint64(i+2)), steps[i].buffer))
	}
	step.NoError(p.Signal(s, 1))
	step.NoError(p.Wait(s, ctx, end))
	p.left -= 2
	if v := step.Must(s.Value()); v != end {
		step.NoError(fmt.Errorf("the value is %d, want %d", v, end))
	}
	for _, b := range steps {
		for _, f := range b.effects {
			f()
		}
	}
	for _, b := range all {
		step.NoError(b.buffer.Close())
	}
	for i, want := range p.model.memory {
		differ(fmt.Sprint("buffer ", i), p.Bytes(p.buffers[i]), want)
	}
	differ("x", p.Bytes(p.x), p.model.x)
	differ("y", p.Bytes(p.y), p.model.y)
}

// differ ends the run if bytes differ from those of the model.
func differ(what string, got, want []byte) {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			step.NoError(fmt.Errorf("%s of %d bytes differs from the model of %d at byte %d", what, len(got), len(want), i))
		}
	}
}

// record records random commands.
func (p *play) record() (b batch) {
	mode := hal.OneShot
	if b.again = p.rng.IntN(3) == 0; b.again {
		mode = hal.Reusable
	}
	b.buffer = step.Must(p.d.NewCommandBuffer(mode))
	for range p.rng.IntN(30) {
		p.left--
		if f := p.command(b.buffer); f != nil {
			b.effects = append(b.effects, f)
		}
	}
	step.NoError(p.End(b.buffer))
	return b
}

// command records one command and returns its effect on the model.
func (p *play) command(c *hal.CommandBuffer) func() {
	m := &p.model
	i, j := p.rng.IntN(buffers), p.rng.IntN(buffers)
	n := p.rng.IntN(20)
	to, from := p.rng.IntN(size-n), p.rng.IntN(size-n)
	if p.rng.IntN(2) == 0 { // neighbors are what End joins
		to, from = to/8*8, from/8*8
		n = min(8, size-max(to, from))
	}
	dst := p.buffers[i].Range(to, n)
	switch p.rng.IntN(8) {
	case 0, 1:
		pattern := []byte{byte(p.rng.IntN(3)), byte(p.rng.IntN(3)), byte(p.rng.IntN(3)), byte(p.rng.IntN(3))}
		pattern = pattern[:1<<p.rng.IntN(3)]
		p.Fill(c, dst, pattern)
		return func() {
			for k := range n {
				m.memory[i][to+k] = pattern[k%len(pattern)]
			}
		}
	case 2, 3:
		if i == j || i+j == 2*buffers-3 { // one memory
			if from < to+n && to < from+n {
				return nil
			}
		}
		p.Copy(c, dst, p.buffers[j].Range(from, n))
		return func() { copy(m.memory[i][to:to+n], m.memory[j][from:from+n]) }
	case 4:
		data := make([]byte, n)
		for k := range data {
			data[k] = byte(p.rng.Uint32())
		}
		p.Update(c, dst, data)
		return func() { copy(m.memory[i][to:], data) }
	case 5:
		v := fp16.FromFloat32(float32(p.rng.IntN(100)))
		h := []byte{byte(v), byte(v >> 8)}
		p.Fill(c, p.x.Range(0, row), h)
		return func() { copy(m.x, bytes.Repeat(h, row/2)) }
	case 6:
		in, out := names(p.x, p.y)
		p.Dispatch(c, p.executable, in, out)
		return func() {
			for k := 0; k < row; k += 2 {
				x := fp16.Bits(uint16(m.x[k]) | uint16(m.x[k+1])<<8).Float32()
				v := fp16.FromFloat32(x + x)
				m.y[k], m.y[k+1] = byte(v), byte(v>>8)
			}
		}
	default:
		if n > 10 {
			c.Barrier()
			return nil
		}
		p.Copy(c, dst, p.y.Range(0, n))
		return func() { copy(m.memory[i][to:to+n], m.y) }
	}
}
