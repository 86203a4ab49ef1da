//go:build !macrules

package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/models"
)

// What a client's process is told, and with which quality of service it asks.
const (
	pathEnv   = "ANEKIT_SERVER_TEST_PATH"
	classEnv  = "ANEKIT_SERVER_TEST_CLASS"
	roundsEnv = "ANEKIT_SERVER_TEST_ROUNDS"
)

func init() {
	child["client"] = func() int {
		n, err := clientProcess()
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("answered", n)
		return 0
	}
}

// clientProcess has evaluations out by the bell and over the socket at once. It says when
// it has had as many answers as it was told, and goes on until its input ends.
func clientProcess() (answered int, err error) {
	rounds, err := strconv.Atoi(os.Getenv(roundsEnv))
	if err != nil {
		return 0, err
	}
	class, err := strconv.Atoi(os.Getenv(classEnv))
	if err != nil {
		return 0, err
	}
	conn, err := wiretest.Dial(os.Getenv(pathEnv))
	if err != nil {
		return 0, err
	}
	p := newPeer(conn)
	defer p.close()
	bell, memory, err := wire.NewBell()
	if err != nil {
		return 0, err
	}
	defer bell.Close()
	defer memory.Close()
	if err := p.ask(wire.KindHello, &wire.Hello{Version: wire.Version}, &p.hello, int(memory.Fd())); err != nil {
		return 0, err
	}
	all, err := models.All()
	if err != nil {
		return 0, err
	}
	x := all[0]
	for _, m := range all {
		if m.Name == "identity" {
			x = m
		}
	}
	r, err := p.ready(x, uint32(class))
	if err != nil {
		return 0, err
	}
	requests := []uint32{r.request}
	for range 7 {
		var b wire.Bound
		if err := p.ask(wire.KindBind, &wire.Bind{Program: r.program, In: r.ports[0], Out: r.ports[1]},
			&b); err != nil {
			return 0, err
		}
		requests = append(requests, b.Request)
	}
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	fmt.Println("begins")
	dice := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	buf := make([]byte, wire.MaxFrame)
	sequence := uint64(0)
	for told := false; ; {
		// One by the bell and some over the socket are out at the same time.
		many := dice.IntN(len(requests))
		want := map[uint64]uint64{}
		for i, request := range requests[:many+1] {
			sequence++
			q := wire.Evaluate{Request: request, Sequence: sequence}
			if i == 0 {
				want[wire.BellID|sequence] = sequence
				err = bell.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | sequence, Payload: wire.Append(nil, &q)})
			} else {
				want[sequence] = sequence
				err = p.conn.Send(wire.Frame{Kind: wire.KindEvaluate, ID: sequence, Payload: wire.Append(nil, &q)})
			}
			if err != nil {
				return answered, err
			}
		}
		take := func(f wire.Frame) error {
			asked, ok := want[f.ID]
			delete(want, f.ID)
			var d wire.Done
			if !ok || f.Kind != wire.KindEvaluate|wire.Reply || wire.Parse(f.Payload, &d) != nil || d.Sequence != asked {
				return fmt.Errorf("%v to %#x, asked: %v, of %d", f.Kind, f.ID, ok, d.Sequence)
			}
			answered++
			return nil
		}
		f, err := bell.Receive(buf, time.Minute)
		for errors.Is(err, wire.ErrTimeout) {
			f, err = bell.Receive(buf, time.Minute)
		}
		if err == nil {
			err = take(f)
		}
		for range many {
			if err == nil {
				if f, _, err = p.conn.Receive(buf); err == nil {
					err = take(f)
				}
			}
		}
		if err == nil && len(want) > 0 {
			err = fmt.Errorf("not answered: %v", want)
		}
		if err != nil {
			return answered, err
		}
		if answered >= rounds && !told {
			told = true
			fmt.Println("done")
		}
		select {
		case <-over:
			if told {
				return answered, nil
			}
		default:
		}
	}
}

// process is a client of its own.
type process struct {
	*exec.Cmd
	in  io.Closer
	out *bufio.Scanner
}

func startClient(t *testing.T, path string, class uint32, rounds int) *process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"=client", pathEnv+"="+path, classEnv+"="+strconv.Itoa(int(class)),
		roundsEnv+"="+strconv.Itoa(rounds))
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	p := &process{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	return p
}

// says waits for the next line.
func (p *process) says(t *testing.T, want string) {
	t.Helper()
	require.True(t, p.out.Scan(), "%v", p.out.Err())
	require.Equal(t, want, p.out.Text())
}

// finish ends a client and returns how many answers it had.
func (p *process) finish(t *testing.T) uint64 {
	t.Helper()
	require.NoError(t, p.in.Close())
	require.True(t, p.out.Scan())
	count, ok := strings.CutPrefix(p.out.Text(), "answered ")
	require.True(t, ok, p.out.Text())
	n, err := strconv.ParseUint(count, 10, 64)
	require.NoError(t, err)
	require.NoError(t, p.Wait())
	return n
}

// served runs a broker on a socket and returns it, with its path.
func served(t *testing.T) (*server, string) { return serves(t, Config{Stay: true}) }

// serves is served with a configuration.
func serves(t *testing.T, c Config) (*server, string) {
	t.Helper()
	path := socket(t)
	l, err := shared.Listen(path)
	require.NoError(t, err)
	s, err := newServer(patient(c).settled(admission.OwnerPolicy()))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- s.accept(t.Context(), l) }()
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		require.NoError(t, <-done)
		s.disconnect()
		s.connections.Wait()
		require.NoError(t, s.failure())
		require.NoError(t, s.close())
	})
	return s, path
}

// TestEightProcesses: each request is answered once and run once, by the bell and over
// the socket, whatever its class; and the lowest class is served while the others never
// let go.
func TestEightProcesses(t *testing.T) {
	rounds := effort.Rounds(10_000, 500)
	s, path := served(t)
	low := startClient(t, path, driverabi.QoSBackground, rounds)
	var others []*process
	for _, class := range []uint32{driverabi.QoSRealTime, driverabi.QoSRealTime, driverabi.QoSUserInteractive,
		driverabi.QoSUserInteractive,
		driverabi.QoSUserInitiated, driverabi.QoSDefault, driverabi.QoSUtility} {
		others = append(others, startClient(t, path, class, rounds))
	}
	for _, p := range append(others, low) {
		p.says(t, "begins")
	}
	low.says(t, "done") // the others go on until they are told
	answered := low.finish(t)
	for _, p := range others {
		p.says(t, "done")
		answered += p.finish(t)
	}
	require.GreaterOrEqual(t, answered, uint64(8*rounds))
	require.Equal(t, answered, s.counts.Evaluations.Load())
	require.Zero(t, s.counts.Failed.Load())
	require.Zero(t, s.counts.faults.Load())
	eventually(t, "they are gone", func() bool {
		st := s.driver.Stats()
		return st.Clients+st.Resources == 0
	})
}

// TestFrozenAndKilledClients: one that is frozen in the middle of it goes on where it was,
// one that is killed leaves nothing, and no other client notices.
func TestFrozenAndKilledClients(t *testing.T) {
	s, path := served(t)
	for i := range 6 {
		frozen, killed := startClient(t, path, driverabi.QoSDefault, 1000), startClient(t, path,
			driverabi.QoSUserInteractive, 1000)
		frozen.says(t, "begins")
		killed.says(t, "begins")
		time.Sleep(time.Duration(i) * time.Millisecond)
		require.NoError(t, frozen.Process.Signal(unix.SIGSTOP))
		require.NoError(t, killed.Process.Kill())
		require.Error(t, killed.Wait())
		eventually(t, "one is left", func() bool { return s.driver.Stats().Clients == 1 })
		p := dial(t, path)
		r, err := p.ready(model(t, "add"), 21)
		require.NoError(t, err)
		for range 200 {
			require.NoError(t, p.evaluate(r, 0))
		}
		p.close()
		require.NoError(t, frozen.Process.Signal(unix.SIGCONT))
		frozen.says(t, "done")
		require.GreaterOrEqual(t, frozen.finish(t), uint64(1000))
		eventually(t, "none is left", func() bool {
			st := s.driver.Stats()
			return st.Clients+st.Resources == 0
		})
	}
}
