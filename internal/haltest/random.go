package haltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/hal"
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
func Random(ctx context.Context, open Open, calls Calls, seed uint64, operations int) (err error) {
	engine, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	d, err := hal.NewDevice(engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(context.Background())) }()
	p := &play{Calls: calls, rng: rand.New(rand.NewPCG(seed, 0)), d: d, left: operations}
	block, err := unimem.Open(size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(context.Background()), block.Close()) }()
	if err := p.begin(ctx, block); err != nil {
		return err
	}
	for round := 0; p.left > 0; round++ {
		if err := p.round(ctx); err != nil {
			return fmt.Errorf("seed %d, round %d: %w", seed, round, err)
		}
	}
	return nil
}

// begin makes the Buffers and the program.
func (p *play) begin(ctx context.Context, block *unimem.Block) (err error) {
	for i := range buffers - 2 {
		if p.buffers[i], err = p.NewBuffer(p.d, size); err != nil {
			return err
		}
		p.model.memory[i] = make([]byte, size)
	}
	same := make([]byte, block.Size())
	for i := buffers - 2; i < buffers; i++ {
		if p.buffers[i], err = p.Import(p.d, block); err != nil {
			return err
		}
		p.model.memory[i] = same
	}
	if p.executable, err = p.Prepare(p.d, ctx, ane.Source{Text: []byte(double)}); err != nil {
		return err
	}
	p.model.x, p.model.y = make([]byte, row), make([]byte, row)
	if p.x, err = p.NewBuffer(p.d, row); err == nil {
		p.y, err = p.NewBuffer(p.d, row)
	}
	return err
}

// batch is a recorded command buffer and what it does to the model.
type batch struct {
	buffer  *hal.CommandBuffer
	effects []func()
	again   bool // it runs twice
}

// round runs a few batches and compares.
func (p *play) round(ctx context.Context) error {
	var steps []batch
	var all []batch
	for range 1 + p.rng.IntN(5) {
		b, err := p.record()
		if err != nil {
			return err
		}
		all = append(all, b)
		steps = append(steps, b)
		if b.again {
			steps = append(steps, b)
		}
	}
	s := hal.NewSemaphore(0)
	for _, i := range p.rng.Perm(len(steps)) {
		p.left--
		if err := p.Execute(p.d.Queue(), ctx, at(s, uint64(i+1)), at(s, uint64(i+2)), steps[i].buffer); err != nil {
			return err
		}
	}
	if err := p.Signal(s, 1); err != nil {
		return err
	}
	if err := p.Wait(s, ctx, uint64(len(steps)+1)); err != nil {
		return err
	}
	p.left -= 2
	if v, err := p.Value(s); err != nil || v != uint64(len(steps)+1) {
		return fmt.Errorf("the value is %d, %w", v, err)
	}
	for _, b := range steps {
		for _, f := range b.effects {
			f()
		}
	}
	for _, b := range all {
		if err := b.buffer.Close(); err != nil {
			return err
		}
	}
	for i, want := range p.model.memory {
		if err := differ(fmt.Sprint("buffer ", i), p.Bytes(p.buffers[i]), want); err != nil {
			return err
		}
	}
	return errors.Join(differ("x", p.Bytes(p.x), p.model.x), differ("y", p.Bytes(p.y), p.model.y))
}

func differ(what string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Errorf("%s differs from the model at byte %d", what, i)
		}
	}
	return fmt.Errorf("%s has %d bytes, the model %d", what, len(got), len(want))
}

// record records random commands.
func (p *play) record() (b batch, err error) {
	mode := hal.OneShot
	if b.again = p.rng.IntN(3) == 0; b.again {
		mode = hal.Reusable
	}
	if b.buffer, err = p.d.NewCommandBuffer(mode); err != nil {
		return b, err
	}
	for range p.rng.IntN(30) {
		p.left--
		if f := p.command(b.buffer); f != nil {
			b.effects = append(b.effects, f)
		}
	}
	return b, p.End(b.buffer)
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
			p.Barrier(c)
			return nil
		}
		p.Copy(c, dst, p.y.Range(0, n))
		return func() { copy(m.memory[i][to:to+n], m.y) }
	}
}
