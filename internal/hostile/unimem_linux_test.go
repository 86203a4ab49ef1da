//go:build !macrules

package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// programEnv names a program against unimem that this binary is in a child process.
const programEnv = "ANEKIT_HOSTILE_TEST_PROGRAM"

// programs need a process of their own: they lower its limits, or may crash it.
var programs = map[string]func() int{
	"descriptors run out":    func() int { return exhaust(unix.RLIMIT_NOFILE, 64) },
	"address space runs out": func() int { return exhaust(unix.RLIMIT_AS, 0) },
}

func TestProgramsInAProcessOfTheirOwn(t *testing.T) {
	leaktest.SkipEmulated(t)
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			var out []byte
			var err error
			for range 5 {
				cmd := exec.Command("/proc/self/exe")
				cmd.Env = append(os.Environ(), programEnv+"="+name, "GORACE=atexit_sleep_ms=0")
				if out, err = cmd.CombinedOutput(); !bytes.Contains(out, []byte(runtimeItself)) {
					break
				}
			}
			if bytes.Contains(out, []byte(unlimited)) {
				t.Skip(unlimited)
			}
			require.NoError(t, err, "%s", out)
		})
	}
}

// runtimeItself: the limit has met an allocation of the Go runtime, which ends the process, in place of one of package
// unimem.
const runtimeItself = "fatal error: runtime: cannot allocate memory"

// unlimited: the race detector maps terabytes.
const unlimited = "the address space of this binary cannot be limited; run it without the race detector"

// exhaust opens memory of all kinds until a limit of the process refuses it, gives it back, and opens it again.
func exhaust(resource int, limit uint64) int {
	if resource == unix.RLIMIT_AS {
		if effort.Race {
			fmt.Println(unlimited)
			return 0
		}
		limit = addressSpace() + 512<<20
	}
	// The runtime opens its poller at the first file or timer of the process, and ends a process that has no descriptor
	// for it.
	null, err := os.Open(os.DevNull)
	if err != nil {
		return complain(err)
	}
	defer null.Close()
	var old unix.Rlimit
	if err := unix.Getrlimit(resource, &old); err != nil {
		return complain(err)
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: old.Max}); err != nil {
		return complain(err)
	}
	var counts []int
	for range 3 {
		var closers []func() error
		for {
			all, err := openAll(4 << 20)
			closers = append(closers, all...)
			if err == nil {
				continue
			}
			if !errors.Is(err, unimem.ErrCreate) || !errors.Is(err, unimem.ErrExhausted) {
				return complain(fmt.Errorf("the error matches neither ErrCreate nor ErrExhausted: %w", err))
			}
			break
		}
		counts = append(counts, len(closers))
		for i := len(closers) - 1; i >= 0; i-- {
			if err := closers[i](); err != nil {
				return complain(err)
			}
		}
		if s := unimem.Live(); s.Blocks != 0 || s.Mappings != 0 || s.Bytes != 0 {
			return complain(fmt.Errorf("left after Close: %+v", s))
		}
		runtime.GC()
	}
	if counts[0] == 0 || counts[2] < counts[0]*3/4 {
		return complain(fmt.Errorf("objects before the limit, each time: %v", counts))
	}
	return 0
}

// openAll opens an object of each kind. The functions close what was opened.
func openAll(size int) (closers []func() error, err error) {
	b, err := unimem.Open(size)
	if err != nil {
		return nil, err
	}
	closers = append(closers, b.Close)
	m, err := unimem.Map(b)
	if err != nil {
		return closers, err
	}
	closers = append(closers, m.Close)
	f, err := b.Share()
	if err != nil {
		return closers, err
	}
	closers = append(closers, f.Close)
	adopted, err := unimem.Adopt(f, size)
	if err != nil {
		return closers, err
	}
	closers = append(closers, adopted.Close)
	g, err := unimem.NewGrid(4096, 4, unimem.SurfacePerCell())
	if err != nil {
		return closers, err
	}
	closers = append(closers, g.Close)
	l, err := unimem.NewLayout(size, 4096, 4096)
	if err != nil {
		return closers, err
	}
	return append(closers, l.Close), nil
}

// addressSpace is what the process has mapped now.
func addressSpace() uint64 {
	data, _ := os.ReadFile("/proc/self/statm")
	var pages uint64
	_, _ = fmt.Sscan(string(data), &pages)
	return pages * uint64(os.Getpagesize())
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// Whatever a caller adopts, it gets a Block or an error, and the descriptors that it had.
func TestAdoptOddFiles(t *testing.T) {
	before := descriptorsOpen(t)
	for _, o := range odd {
		fd := o.open()
		if fd < 0 {
			t.Log("this system refuses to make a ", o.name)
			continue
		}
		f := os.NewFile(uintptr(fd), o.name)
		for _, size := range []int{-1, 0, 1, 1 << 14, 1 << 39, 1 << 62} {
			b, err := unimem.Adopt(f, size)
			if err == nil {
				require.Contains(t, []string{"surface of half a TiB of holes", "memfd of an odd size"}, o.name)
				b.Bytes()[0] = 1
				require.NoError(t, b.Close())
			}
		}
		require.NoError(t, f.Close())
	}
	for _, f := range []*os.File{nil, {}} {
		_, err := unimem.Adopt(f, 1<<14)
		require.ErrorIs(t, err, unimem.ErrShare)
	}
	require.Equal(t, before, descriptorsOpen(t))
}

func descriptorsOpen(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

// A closed Grid has no memory. A caller that holds a cell keeps the Grid open.
func TestGridWithCellsOut(t *testing.T) {
	for _, perCell := range [][]unimem.Option{nil, {unimem.SurfacePerCell()}} {
		g, err := unimem.NewGrid(4096, 8, perCell...)
		require.NoError(t, err)
		c, err := g.Take()
		require.NoError(t, err)
		for range 3 {
			require.ErrorIs(t, g.Close(), unimem.ErrInUse)
		}
		c.Bytes()[0] = 1
		require.NoError(t, g.Give(c))
		require.ErrorIs(t, g.Give(c), unimem.ErrStaleCell)
		require.NoError(t, g.Close())
		require.NoError(t, g.Close())
		require.ErrorIs(t, g.Give(c), unimem.ErrClosed)
		require.Empty(t, c.Bytes())
	}
}

// A copy of a cell that was given stays refused, however often its cell is taken and given afterwards.
func TestStaleGives(t *testing.T) {
	g, err := unimem.NewGrid(64, 2)
	require.NoError(t, err)
	stale, err := g.Take()
	require.NoError(t, err)
	require.NoError(t, g.Give(stale))
	for range effort.Rounds(1<<17, 1<<12) {
		c, err := g.Take()
		require.NoError(t, err)
		require.NoError(t, g.Give(c))
		require.ErrorIs(t, g.Give(stale), unimem.ErrStaleCell)
	}
	require.NoError(t, g.Close())
}

// Foreign bytes become no Go values that the language does not have.
func TestViewsOfInvalidTypes(t *testing.T) {
	b := make([]byte, 64)
	for i := range b {
		b[i] = 0xff
	}
	refused := func(_ any, err error) {
		t.Helper()
		require.Error(t, err)
	}
	view(refused, func() (any, error) { return unimem.View[bool](b) })
	view(refused, func() (any, error) { return unimem.View[[4]bool](b) })
	view(refused, func() (any, error) { return unimem.View[struct{ A, B bool }](b) })
	view(refused, func() (any, error) { return unimem.View[struct{ A [2]struct{ B bool } }](b) })
	view(refused, func() (any, error) { return unimem.View[string](b) })
	view(refused, func() (any, error) { return unimem.View[[]byte](b) })
	view(refused, func() (any, error) { return unimem.View[any](b) })
	view(refused, func() (any, error) { return unimem.View[func()](b) })
	view(refused, func() (any, error) { return unimem.View[*int](b) })
	view(refused, func() (any, error) { return unimem.View[chan int](b) })
	view(refused, func() (any, error) { return unimem.View[map[int]int](b) })
	view(refused, func() (any, error) { return unimem.View[struct{}](b) })
	view(refused, func() (any, error) { return unimem.View[uint64](b[1:9]) })
	view(refused, func() (any, error) { return unimem.View[uint64](b[:7]) })
}

func view(check func(any, error), f func() (any, error)) { check(f()) }

// Callers that close while others use: each call succeeds or fails by ErrClosed or ErrInUse, and all is given back.
func TestCloseRaces(t *testing.T) {
	before := descriptorsOpen(t)
	for range effort.Rounds(200, 5) {
		b, err := unimem.Open(1 << 14)
		require.NoError(t, err)
		g, err := unimem.NewGrid(64, 16)
		require.NoError(t, err)
		tape, err := unimem.Open(1 << 14)
		require.NoError(t, err)
		var all sync.WaitGroup
		var out atomic.Int64
		fail := func(err error, allowed ...error) {
			if err == nil {
				return
			}
			for _, a := range allowed {
				if errors.Is(err, a) {
					return
				}
			}
			t.Error(err)
		}
		for range 4 {
			all.Go(func() {
				for range 50 {
					if err := b.Retain(); err != nil {
						fail(err, unimem.ErrClosed)
						continue
					}
					b.Bytes()[0] = 1
					if m, err := unimem.Map(b); err == nil {
						fail(m.Close())
					} else {
						t.Error(err) // it is retained
					}
					b.Release()
					if f, err := b.Share(); err != nil {
						fail(err, unimem.ErrClosed)
					} else {
						fail(f.Close())
					}
				}
			})
			all.Go(func() {
				for range 200 {
					c, err := g.Take()
					if err != nil {
						fail(err, unimem.ErrClosed, unimem.ErrGridFull)
						continue
					}
					out.Add(1)
					c.Bytes()[63]++
					out.Add(-1)
					fail(g.Give(c))
				}
			})
			all.Go(func() {
				for range 20 {
					fail(b.Close(), unimem.ErrInUse)
					fail(g.Close(), unimem.ErrInUse)
					fail(tape.Close())
					runtime.Gosched()
				}
			})
		}
		all.Wait()
		require.Zero(t, out.Load())
		for range 3 {
			require.NoError(t, b.Close())
			require.NoError(t, g.Close())
			require.NoError(t, tape.Close())
		}
	}
	require.Equal(t, before, descriptorsOpen(t))
}
