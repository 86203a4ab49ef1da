//go:build !macrules

package growthbench

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/internal/tripbench"
)

// client marks a process that is a client of the broker at the socket that it names.
const client = "ANEKIT_GROWTHBENCH_CLIENT"

// ServeClient evaluates at a broker and exits, in a process that a Subject started. In every other process it returns
// at once. Programs that measure Subjects call it first in main or TestMain.
func ServeClient() {
	socket := os.Getenv(client)
	if socket == "" {
		return
	}
	err := step.Run(context.Background(), func(t *step.T) {
		d := step.Must(engine.Open(t.Ctx, engine.Broker, engine.BrokerPath(socket)))
		t.Closing(d.Close)
		call, _ := evaluation(d, relu)(t, 32)
		step.NoError(call())
		for in := bufio.NewReader(os.Stdin); ; {
			fmt.Println("ready")
			var n int
			if _, err := fmt.Fscanln(in, &n); err != nil {
				return // the process that measures has closed its end
			}
			step.NoError(measure.Repeat(call)(n))
		}
	})
	if err != nil {
		fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
	os.Exit(0)
}

// relu is the tiny program of a client.
func relu(f *build.Func, n int) { f.Output("y", f.Relu(f.Input("x", build.FP16, 1, n))) }

// times is how many operations each client has in a call.
const times = 2000

// evaluations has n processes that evaluate a tiny program at a shared broker, which this process serves.
func evaluations(t *step.T, n int) (func() error, int) {
	dir := step.Must(os.MkdirTemp("", "ane-growth"))
	t.Closing(func() error { return os.RemoveAll(dir) })
	socket := filepath.Join(dir, "b")
	l := step.Must(shared.Listen(socket))
	ctx, stop := context.WithCancel(t.Ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l, server.Config{Stay: true}) }()
	t.Closing(func() error { stop(); return <-served })
	var in []io.Writer
	var out []*bufio.Reader
	for range n {
		cmd := exec.CommandContext(ctx, "/proc/self/exe")
		cmd.Env, cmd.Stderr = append(os.Environ(), client+"="+socket), os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		pipe := step.Must(cmd.StdinPipe())
		in, out = append(in, pipe), append(out, bufio.NewReader(step.Must(cmd.StdoutPipe())))
		step.NoError(cmd.Start())
		t.Closing(func() error { return errors.Join(pipe.Close(), cmd.Wait()) })
	}
	wait := func() error {
		for _, o := range out {
			if line, err := o.ReadString('\n'); line != "ready\n" {
				return fmt.Errorf("a client of the broker ended: %s: %w", strings.TrimSpace(line),
					cmp.Or(err, io.ErrUnexpectedEOF))
			}
		}
		return nil
	}
	step.NoError(wait())
	return func() error {
		for _, i := range in {
			if _, err := fmt.Fprintln(i, times); err != nil {
				return err
			}
		}
		return wait()
	}, n * times
}

// signals has n pairs of processes that wake each other through eventfds: what n clients cannot be faster than.
func signals(t *step.T, n int) (func() error, int) {
	var loops []measure.Loop
	for range n {
		loops = append(loops, tripbench.Floor()[0].Open(t))
	}
	return func() error {
		done := make(chan error)
		for _, l := range loops {
			go func() { done <- l(times) }()
		}
		var all error
		for range loops {
			all = errors.Join(all, <-done)
		}
		return all
	}, n * times
}
