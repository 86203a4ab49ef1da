//go:build !macrules

package broker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/internal/tripbench"
)

// What a process of BenchmarkCrowd or of the tests that kill is, and the broker's socket.
const (
	crowdVariable = "ANEKIT_TEST_CROWD"
	crowdPath     = "ANEKIT_TEST_CROWD_PATH"
)

// BenchmarkCrowd counts the evaluations of several processes that one broker serves, and in turns with them how often
// as many pairs of processes wake each other through eventfds. More processes than processors share these, so both
// fall; x-floor is how many wake-ups one evaluation takes the time of.
func BenchmarkCrowd(b *testing.B) {
	for _, clients := range []int{1, 2, 4, 8, 16, 32} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "anekit", "s")
			broker := joinCrowd(b, "broker", path)
			b.Cleanup(func() { broker.leave(b) })
			var calls, floors, ratios []float64
			for range max(b.N, 1) {
				call, floor := rate(b, clients, "client", path), rate(b, clients, "floor", path)
				calls, floors, ratios = append(calls, call), append(floors, floor), append(ratios, floor/call)
			}
			slices.Sort(ratios)
			b.ReportMetric(slices.Max(calls), "calls/s")
			b.ReportMetric(slices.Max(floors), "floor/s")
			b.ReportMetric(ratios[len(ratios)/2], "x-floor")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// rate is how often per second all of several processes do what their part is.
func rate(b *testing.B, n int, part, path string) float64 {
	all := make([]*crowded, n)
	for i := range all {
		all[i] = joinCrowd(b, part, path)
	}
	for _, c := range all {
		_, err := io.WriteString(c.in, "go\n")
		require.NoError(b, err)
	}
	start := time.Now()
	time.Sleep(300 * time.Millisecond)
	took := time.Since(start)
	for _, c := range all {
		require.NoError(b, c.in.Close())
	}
	sum := 0
	for _, c := range all {
		sum += c.leave(b)
	}
	return float64(sum) / took.Seconds()
}

// crowded is a process of a crowd.
type crowded struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// joinCrowd starts a process and waits until it is ready.
func joinCrowd(b testing.TB, part, path string) *crowded {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), crowdVariable+"="+part, crowdPath+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	c := &crowded{cmd, in, bufio.NewReader(out)}
	line, err := c.out.ReadString('\n')
	require.NoError(b, err)
	require.Equal(b, "ready\n", line)
	return c
}

// leave ends a process and returns what it counted.
func (c *crowded) leave(b testing.TB) (count int) {
	_ = c.in.Close() // it may be closed
	_, err := fmt.Fscan(c.out, &count)
	require.NoError(b, err)
	require.NoError(b, c.Wait())
	return count
}

// crowdPart is the main of such a process: it says when it is ready, works from a first line of its input until the
// end of that, and prints how often it did.
func crowdPart(part, path string) error {
	return step.Run(context.Background(), func(t *step.T) {
		if part == "broker" {
			l := step.Must(shared.Listen(path))
			workers := server.Processors()
			fmt.Println("ready")
			ctx, cancel := ossignal.NotifyContext(t.Ctx, unix.SIGTERM)
			go func() {
				_, _ = io.Copy(io.Discard, os.Stdin)
				cancel()
			}()
			step.NoError(server.Serve(ctx, l, server.Config{Stay: true, Workers: workers,
				Policy: admission.OwnerPolicy()}))
			fmt.Println(0)
			return
		}
		if part == "everything" {
			fmt.Println("ready")
			step.Must(bufio.NewReader(os.Stdin).ReadString('\n'))
			everything(t, path, certain)
			return
		}
		c := tripbench.Floor()[0]
		if part == "client" {
			d := step.Must(ane.Open(step.Must(Open(t.Ctx, Options{Path: path})), ""))
			t.Closing(d.Close)
			c = tripbench.Cases(d)[0]
		}
		count(c.Open(t))
	})
}

func count(work measure.Loop) {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	step.Must(in.ReadString('\n'))
	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, in)
		over.Store(true)
	}()
	n := 0
	for ; !over.Load(); n += 10 {
		step.NoError(work(10))
	}
	fmt.Println(n)
}
