package wasm_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/leaktest"
)

// sums is the number of elements of the program "sum", which takes one page of 16 KiB.
const sums = 8192

// mirror is what a guest's memory has to be, and its requests.
type mirror struct {
	*guest
	random   *rand.Rand
	memory   []byte
	requests []*mirrored
}

// mirrored is a request of the program "sum": the places of a, b and c, 0 for one that is not bound.
type mirrored struct {
	handle  int
	at      [3]int
	pending bool
}

// Whatever a guest binds, runs, closes and grows in whatever order: its memory has what it wrote, and the sums where it
// bound them. It ends with runs in flight.
func TestMemoryIsWhatTheGuestWrote(t *testing.T) {
	b := build.New()
	f := b.Func("main")
	f.Output("c", f.Add(f.Input("a", build.FP16, 1, 1, 1, sums), f.Input("b", build.FP16, 1, 1, 1, sums)))
	program, err := b.Program()
	require.NoError(t, err)
	for _, way := range roads() {
		t.Run(way.name, func(t *testing.T) {
			if way.engine == engine.Broker {
				leaktest.SkipEmulated(t)
			}
			way.host = append(way.host, wasm.Program("sum", ane.Source{File: "sum.mil", Program: program}))
			r := newRig(t, way)
			for seed := range uint64(4) {
				m := &mirror{guest: r.start("calls.wasm", wasm.Limits{Memory: 4 << 20}),
					random: rand.New(rand.NewPCG(seed, 7))}
				ptr, n := m.put("sum")
				sum := m.need("program_open", ptr, n)
				m.memory = bytes.Clone(m.span(0, m.Memory().Size()))
				for range 100 {
					m.act(sum)
					if !m.pending() {
						m.check()
					}
				}
				require.NoError(t, m.Close(context.Background()))
			}
		})
	}
}

func (m *mirror) span(at, n int) []byte {
	b, err := m.Memory().Range(uint64(at), uint64(n))
	require.NoError(m.t, err)
	return b
}

// check compares the guest's memory after the texts that it passes.
func (m *mirror) check() {
	const from = 16384
	require.True(m.t, bytes.Equal(m.memory[from:], m.span(from, m.Memory().Size()-from)), "the memory differs")
}

func (m *mirror) pending() bool {
	for _, q := range m.requests {
		if q.pending {
			return true
		}
	}
	return false
}

// act does one thing.
func (m *mirror) act(sum int) {
	op := m.random.IntN(12)
	if op == 0 || len(m.requests) == 0 {
		if h := m.call("request_open", sum); h > 0 {
			m.requests = append(m.requests, &mirrored{handle: h})
		}
		return
	}
	i := m.random.IntN(len(m.requests))
	q := m.requests[i]
	switch {
	case op == 1:
		if m.call("grow", 1+m.random.IntN(3)) > 0 {
			m.memory = append(m.memory, make([]byte, m.Memory().Size()-len(m.memory))...)
		}
	case op <= 5:
		m.bindSomewhere(q)
	case op == 6 && !m.pending():
		if m.call("evaluate", q.handle) == 0 {
			m.sum(q)
		}
	case op == 7 && !m.pending():
		q.pending = m.call("start", q.handle) == 0
	case op == 8:
		require.Equal(m.t, q.pending, m.call("wait", q.handle) == 0)
		if q.pending {
			m.sum(q)
		}
		q.pending = false
	case op == 9 && !q.pending:
		require.Zero(m.t, m.call("request_close", q.handle))
		m.requests = append(m.requests[:i], m.requests[i+1:]...)
	case op > 9 && !m.pending():
		at := 16384 + 2*m.random.IntN((len(m.memory)-16384)/2-sums/2)
		part := m.span(at, sums)
		for i := 0; i < len(part); i += 2 {
			v := fp16.FromFloat32(float32(m.random.IntN(9) - 4))
			part[i], part[i+1] = byte(v), byte(v>>8)
		}
		copy(m.memory[at:], part)
	}
}

// bindSomewhere binds a, b or c to a range that may not be aligned, or not be within the memory.
func (m *mirror) bindSomewhere(q *mirrored) {
	which := m.random.IntN(3)
	at, size := 16384*(1+m.random.IntN(len(m.memory)/16384)), 2*sums*(1+m.random.IntN(2))
	if m.random.IntN(4) == 0 {
		at += 64 * m.random.IntN(300)
	}
	if m.named("bind", q.handle, string("abc"[which]), at, size) == 0 {
		require.False(m.t, q.pending)
		require.LessOrEqual(m.t, at+size, len(m.memory))
		q.at[which] = at
	}
}

// sum is what the program does. On the copying path c may share bytes with a and b.
func (m *mirror) sum(q *mirrored) {
	a, b := bytes.Clone(m.memory[q.at[0]:][:2*sums]), bytes.Clone(m.memory[q.at[1]:][:2*sums])
	value := func(b []byte) float32 { return (fp16.Bits(b[0]) | fp16.Bits(b[1])<<8).Float32() }
	for i := 0; i < 2*sums; i += 2 {
		v := fp16.FromFloat32(value(a[i:]) + value(b[i:]))
		m.memory[q.at[2]+i], m.memory[q.at[2]+i+1] = byte(v), byte(v>>8)
	}
}
