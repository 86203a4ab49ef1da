package wasm_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/brokertest"
)

// sums is the number of elements of the program "sum", which takes one page of 16 KiB.
const sums = 8192

// mirror is what a guest's memory has to be, and its requests.
type mirror struct {
	*guest
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
	for _, way := range paths() {
		t.Run(way.name, func(t *testing.T) {
			if way.engine == engine.Broker {
				brokertest.Need(t)
			}
			way.host = append(way.host, wasm.Program("sum", ane.Source{File: "sum.mil", Program: program}))
			r := newRig(t, way)
			code := r.compile("calls.wasm")
			rapid.Check(t, func(t *rapid.T) {
				m := &mirror{guest: begin(t, code, wasm.Limits{Memory: 4 << 20})}
				ptr, n := m.put("sum")
				sum := m.need("program_open", ptr, n)
				m.memory = bytes.Clone(m.span(0, m.Memory().Size()))
				t.Repeat(m.acts(sum))
				require.NoError(t, m.Close(context.Background()))
			})
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

// acts are what a guest does.
func (m *mirror) acts(sum int) map[string]func(*rapid.T) {
	one := func(t *rapid.T) *mirrored {
		if len(m.requests) == 0 {
			t.Skip("no request is open")
		}
		return rapid.SampledFrom(m.requests).Draw(t, "request")
	}
	idle := func(t *rapid.T) {
		if m.pending() {
			t.Skip("a run is in flight")
		}
	}
	return map[string]func(*rapid.T){
		"open": func(*rapid.T) {
			if h := m.call("request_open", sum); h > 0 {
				m.requests = append(m.requests, &mirrored{handle: h})
			}
		},
		"grow": func(t *rapid.T) {
			if m.call("grow", rapid.IntRange(1, 3).Draw(t, "pages")) > 0 {
				m.memory = append(m.memory, make([]byte, m.Memory().Size()-len(m.memory))...)
			}
		},
		"bind a": func(t *rapid.T) { m.bindSomewhere(t, one(t), 0) },
		"bind b": func(t *rapid.T) { m.bindSomewhere(t, one(t), 1) },
		"bind c": func(t *rapid.T) { m.bindSomewhere(t, one(t), 2) },
		"evaluate": func(t *rapid.T) {
			idle(t)
			if q := one(t); m.call("evaluate", q.handle) == 0 {
				m.sum(q)
			}
		},
		"start": func(t *rapid.T) {
			idle(t)
			q := one(t)
			q.pending = m.call("start", q.handle) == 0
		},
		"wait": func(t *rapid.T) {
			q := one(t)
			require.Equal(t, q.pending, m.call("wait", q.handle) == 0)
			if q.pending {
				m.sum(q)
			}
			q.pending = false
		},
		"close": func(t *rapid.T) {
			q := one(t)
			if q.pending {
				t.Skip("it is in flight")
			}
			require.Zero(t, m.call("request_close", q.handle))
			m.requests = slices.DeleteFunc(m.requests, func(other *mirrored) bool { return other == q })
		},
		"write": func(t *rapid.T) {
			idle(t)
			at := 16384 + 2*rapid.IntRange(0, (len(m.memory)-16384)/2-sums/2-1).Draw(t, "pair of bytes")
			first := rapid.IntRange(0, 8).Draw(t, "first")
			part := m.span(at, sums)
			for i := 0; i < len(part); i += 2 {
				v := fp16.FromFloat32(float32((first+i*i>>3)%9 - 4))
				part[i], part[i+1] = byte(v), byte(v>>8)
			}
			copy(m.memory[at:], part)
		},
		"": func(*rapid.T) {
			if !m.pending() {
				m.check()
			}
		},
	}
}

// bindSomewhere binds a, b or c to a range that may not be aligned, or not be within the memory.
func (m *mirror) bindSomewhere(t *rapid.T, q *mirrored, which int) {
	at := 16384 * rapid.IntRange(1, len(m.memory)/16384).Draw(t, "page")
	size := 2 * sums * rapid.IntRange(1, 2).Draw(t, "size")
	if rapid.IntRange(0, 3).Draw(t, "aligned") == 3 {
		at += 64 * rapid.IntRange(0, 299).Draw(t, "lines")
	}
	if m.named("bind", q.handle, string("abc"[which]), at, size) == 0 {
		require.False(t, q.pending)
		require.LessOrEqual(t, at+size, len(m.memory))
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
