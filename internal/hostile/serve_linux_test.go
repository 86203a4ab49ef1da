//go:build !macrules

package hostile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/soft"
)

// cacheEnv is the folder of the broker's cache; it makes this binary a broker.
const cacheEnv = "ANEKIT_HOSTILE_TEST_CACHE"

// drainTime is what calls in flight have when it ends. Attackers leave some that never end.
const drainTime = time.Second

// counts are what the broker's process has open. It counts itself, since another process may not look.
type counts struct {
	Descriptors, Threads, Goroutines int
	Memfds                           int   // mappings of memory files: surfaces, programs, bells
	Mappings                         int   // all
	Heap                             int64 // bytes that are reachable
	Resident                         int64 // bytes, without those of files
}

func (c counts) String() string {
	return fmt.Sprintf("%d descriptors, %d threads, %d goroutines, %d mappings (%d of memfds), heap %d KiB, "+
		"resident %d KiB", c.Descriptors, c.Threads, c.Goroutines, c.Mappings, c.Memfds, c.Heap>>10, c.Resident>>10)
}

// brokerMain is a shared broker over the software engine, which answers each line of its standard input with counts.
// It ends as the command broker does, on a signal.
func brokerMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	l, err := shared.Listen(os.Getenv(socketEnv))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	go func() {
		fmt.Println("serving")
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			_ = json.NewEncoder(os.Stdout).Encode(count())
		}
		os.Exit(3) // the campaign has ended
	}()
	signal.Ignore(unix.SIGPIPE) // as the command does: its standard error may have no reader
	log := server.NewLogWriter(os.Stderr)
	err = server.Serve(ctx, l, server.Config{CacheDir: os.Getenv(cacheEnv), Stay: true, Drain: drainTime,
		Engine: func() ane.Engine { return panicking{soft.New()} },
		Log:    slog.New(slog.NewTextHandler(log, nil))})
	if err != nil && !errors.Is(err, server.ErrCut) {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// count collects garbage first, so that only what is reachable counts.
func count() (c counts) {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.Heap = int64(m.HeapAlloc)
	c.Goroutines = runtime.NumGoroutine()
	files, _ := os.ReadDir("/proc/self/fd")
	c.Descriptors = len(files)
	tasks, _ := os.ReadDir("/proc/self/task")
	c.Threads = len(tasks)
	maps, _ := os.ReadFile("/proc/self/maps")
	c.Mappings = bytes.Count(maps, []byte("\n"))
	c.Memfds = bytes.Count(maps, []byte("/memfd:"))
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		var kib int64
		name, rest, _ := strings.Cut(line, ":")
		if _, err := fmt.Sscanf(rest, "%d kB", &kib); err == nil && (name == "RssAnon" || name == "RssShmem") {
			c.Resident += kib << 10
		}
	}
	return c
}

// Comments that make the engine of the campaign's broker panic.
const (
	panicCompile  = "hostile: panic in compile"
	panicEvaluate = "hostile: panic in evaluate"
)

// panicking is an engine with a fault that clients can reach.
type panicking struct{ ane.Engine }

type panickingExecutable struct{ ane.Executable }

type panickingRun struct{ ane.Invocation }

func (e panicking) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	text, err := src.MIL()
	if err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte(panicCompile)) {
		panic(panicCompile)
	}
	x, err := e.Engine.Compile(ctx, src)
	if err == nil && bytes.Contains(text, []byte(panicEvaluate)) {
		x = panickingExecutable{x}
	}
	return x, err
}

func (x panickingExecutable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := x.Executable.Prepare(in, out)
	return panickingRun{v}, err
}

func (panickingRun) Evaluate(context.Context) error { panic(panicEvaluate) }
