package standin

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func TestSurfacesAreInSymbolOrder(t *testing.T) {
	s, m, h := compiled(t, 3, addition)
	fill(m.bytes(1), 10) // a has symbol 0, though b is declared first
	fill(m.bytes(2), 3)  // b
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}))
	require.Equal(t, filled(7), m.bytes(3))
}

func TestProceduresOfOneProgram(t *testing.T) {
	s, m, h := compiled(t, 5, pair2)
	fill(m.bytes(1), 2)
	fill(m.bytes(2), 5)
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}))
	require.Equal(t, filled(7), m.bytes(3), "first: a + z")
	// second has symbols m and z, and outputs early and late.
	require.Equal(t, done, s.evaluate(h, 1, 1, []uint32{1, 2}, []uint32{4, 5}), "the same request on another procedure")
	require.Equal(t, filled(3), m.bytes(4), "early: z - m")
	require.Equal(t, filled(10), m.bytes(5), "late: z * m")
	require.Len(t, s.requests[1], 2)
	s.DropRequest(1)
	require.Empty(t, s.requests)
}

func TestEvaluateReturnsAStatus(t *testing.T) {
	wide := functions(`func main<ios18>(tensor<fp16, [1, 4, 65, 32]> x) { tensor<fp16, [1, 4, 65, 32]> y = add(x = x, y = x)[name = string("y")]; } -> (y);`)
	for name, c := range map[string]struct {
		text     string
		program  uint64 // added to the handle
		index    uint32
		in, out  []uint32
		expected status
	}{
		"unknown program":      {addition, 1, 0, []uint32{1, 2}, []uint32{3}, notFound},
		"procedure 1 of 1":     {addition, 0, 1, []uint32{1, 2}, []uint32{3}, badIndex},
		"largest procedure":    {addition, 0, 1<<32 - 1, []uint32{1, 2}, []uint32{3}, badIndex},
		"an input is missing":  {addition, 0, 0, []uint32{1}, []uint32{3}, badIndex},
		"an input too many":    {addition, 0, 0, []uint32{1, 2, 3}, []uint32{3}, badIndex},
		"an output is missing": {addition, 0, 0, []uint32{1, 2}, nil, badIndex},
		"an output too many":   {addition, 0, 0, []uint32{1, 2}, []uint32{2, 3}, badIndex},
		"no such surface":      {addition, 0, 0, []uint32{1, 9}, []uint32{3}, mapRefused},
		"short input":          {wide, 0, 0, []uint32{1}, []uint32{3}, tooShort},
	} {
		t.Run(name, func(t *testing.T) {
			s, m, h := compiled(t, 3, c.text)
			for range 2 { // a failure leaves no state
				require.Equal(t, c.expected, s.evaluate(h+c.program, c.index, 1, c.in, c.out))
			}
			require.Empty(t, s.requests)
			require.Equal(t, make([]byte, plane), m.bytes(3), "the output is unchanged")
		})
	}
}

func TestRequestsAreReboundForOtherSurfaces(t *testing.T) {
	s, m, h := compiled(t, 4, addition)
	for range 3 {
		require.Equal(t, done, s.evaluate(h, 0, 7, []uint32{1, 2}, []uint32{3}))
		require.Equal(t, 3, m.opened)
	}
	fill(m.bytes(1), 9)
	require.Equal(t, done, s.evaluate(h, 0, 7, []uint32{1, 2}, []uint32{4}))
	require.Equal(t, 3, m.opened, "the other three are closed")
	require.Equal(t, filled(9), m.bytes(4))
	require.Equal(t, make([]byte, plane), m.bytes(3))
	s.DropRequest(7)
	require.Zero(t, m.opened)
	s.DropRequest(7)
	s.DropProgram(h)
	require.Equal(t, notFound, s.evaluate(h, 0, 7, []uint32{1, 2}, []uint32{3}))
}

func TestIdleProgramsHoldNoMemory(t *testing.T) {
	// Two operators read h, so no result is written over it.
	deep := functions(`func main<ios18>(T x) { T h = add(x = x, y = x)[name = string("h")]; ` +
		`T g = relu(x = h)[name = string("g")]; T y = mul(x = h, y = g)[name = string("y")]; } -> (y);`)
	s, _, h := compiled(t, 2, deep)
	before := unimem.Live().Blocks
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1}, []uint32{2}))
	require.Equal(t, done, s.evaluate(h, 0, 2, []uint32{1}, []uint32{2}))
	require.Equal(t, before+1, unimem.Live().Blocks, "one scratch memory, shared by the requests")
	s.DropRequest(1)
	require.Equal(t, before+1, unimem.Live().Blocks)
	s.DropRequest(2)
	require.Equal(t, before, unimem.Live().Blocks)
	require.Equal(t, done, s.evaluate(h, 0, 3, []uint32{1}, []uint32{2}), "the program works again")
}

func TestFailedBindClosesEverySurface(t *testing.T) {
	broken := errors.New("broken")
	for _, call := range []string{"open", "share"} {
		for nth := range 3 {
			t.Run(fmt.Sprint(call, nth), func(t *testing.T) {
				s, m, h := compiled(t, 3, addition)
				left := nth
				m.refuse = func(c string) error {
					if c == call {
						if left--; left < 0 {
							return broken
						}
					}
					return nil
				}
				require.Equal(t, mapRefused, s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}))
				require.Zero(t, m.opened)
				require.Zero(t, m.shared)
				m.refuse = nil
				require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}))
			})
		}
	}
}

// logged captures the log until the test ends.
func logged(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	usual := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { slog.SetDefault(usual) })
	return &b
}

func TestPanicsBecomeAStatus(t *testing.T) {
	s, m, h := compiled(t, 3, addition)
	m.refuse = func(call string) error {
		if call == "share" {
			panic("planted")
		}
		return nil
	}
	log := logged(t)
	require.Equal(t, failed, s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}))
	require.Contains(t, log.String(), "evaluate panicked")
	require.Contains(t, log.String(), "planted")
	m.refuse = nil
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1, 2}, []uint32{3}), "the panic left no lock held")
}

func TestWarmEvaluateAllocatesNothing(t *testing.T) {
	s, _, h := compiled(t, 3, addition)
	in, out := []uint32{1, 2}, []uint32{3}
	require.Equal(t, done, s.evaluate(h, 0, 1, in, out))
	require.Zero(t, testing.AllocsPerRun(200, func() { s.evaluate(h, 0, 1, in, out) }))
}

// TestEvaluateFromManyThreads drops requests and programs while others run on
// shared inputs.
func TestEvaluateFromManyThreads(t *testing.T) {
	const threads, rounds = 16, 40
	m := newFake(t, threads+2)
	s := newServer(m, nil)
	fill(m.bytes(threads+1), 5)
	fill(m.bytes(threads+2), 2)
	h, err := s.compile(write(t, map[string]string{"model.mil": addition}))
	require.NoError(t, err)
	var work, ran sync.WaitGroup
	ran.Add(threads)
	for i := range uint32(threads) {
		work.Go(func() {
			for n := range rounds {
				request := uint64(i / 2) // two threads use each request, on different surfaces
				if a := s.evaluate(h, 0, request, []uint32{threads + 1, threads + 2}, []uint32{i + 1}); a != done &&
					a != notFound {
					t.Errorf("status %#x", a)
				}
				if n == 0 {
					ran.Done()
				}
				if n%5 == 0 {
					s.DropRequest(request)
				}
				if i == 0 && n == rounds/2 {
					ran.Wait()
					s.DropProgram(h)
				}
			}
		})
	}
	work.Wait()
	for i := range uint64(threads) {
		s.DropRequest(i)
	}
	for i := range uint32(threads) {
		require.Equal(t, filled(3), m.bytes(i+1))
	}
	require.Empty(t, s.requests)
	require.Empty(t, s.programs)
}
