//go:build !macrules

package wire_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/tripbench"
)

// frameBytes is the length of the frames that the benchmarks send, with the header.
const frameBytes = 64

func init() {
	parts["echo"] = echoConn
	parts["echo poller"] = echoPoller
	parts["echo seqpacket"] = func() error { return echoPackets(3) }
}

func echoConn() error {
	c, err := wire.NewConn(3)
	if err != nil {
		return err
	}
	defer c.Close()
	buf := make([]byte, wire.MaxFrame)
	for {
		f, _, err := c.Receive(buf)
		if err != nil {
			return nil // the parent has gone
		}
		if err := c.Send(f); err != nil {
			return err
		}
	}
}

// A frame there and back over Conns of two processes.
func BenchmarkPingPong(b *testing.B) { pingPong(b, 0) }

// The same with a Conn that gives up waiting now and then.
func BenchmarkPingPongPatience(b *testing.B) { pingPong(b, time.Millisecond) }

func pingPong(b *testing.B, patience time.Duration) {
	c, peer := wiretest.PairFile(b)
	child := start(b, "echo", peer)
	require.NoError(b, c.SetPatience(patience, patience))
	frame := wire.Frame{Kind: wire.KindPing, Payload: make([]byte, frameBytes-wire.HeaderSize)}
	buf := make([]byte, wire.MaxFrame)
	measure.Percentiles(b, func() error {
		if err := c.Send(frame); err != nil {
			return err
		}
		for {
			if _, _, err := c.Receive(buf); !errors.Is(err, wire.ErrTimeout) {
				return err
			}
		}
	})
	require.NoError(b, c.Close())
	require.NoError(b, child.Wait())
}

// The least that two processes need to wake one another: blocking calls on two eventfds.
func BenchmarkPingPongEventfdFloor(b *testing.B) {
	leaktest.SkipEmulated(b)
	measure.Bench(b, tripbench.Floor())
}

func packetPair(b *testing.B) (int, *os.File) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	require.NoError(b, err)
	return fds[0], os.NewFile(uintptr(fds[1]), "peer")
}

func echoPackets(fd int) error {
	buf := make([]byte, frameBytes)
	for {
		n, err := unix.Read(fd, buf)
		if err != nil || n == 0 {
			return err
		}
		if _, err := unix.Write(fd, buf[:n]); err != nil {
			return err
		}
	}
}

// The same packets by bare blocking calls.
func BenchmarkPingPongSeqpacketFloor(b *testing.B) {
	leaktest.SkipEmulated(b)
	fd, peer := packetPair(b)
	child := start(b, "echo seqpacket", peer)
	buf := make([]byte, frameBytes)
	measure.Percentiles(b, func() error {
		if _, err := unix.Write(fd, buf); err != nil {
			return err
		}
		_, err := unix.Read(fd, buf)
		return err
	})
	require.NoError(b, unix.Close(fd))
	require.NoError(b, child.Wait())
}

func overPoller(f *os.File) (net.Conn, error) {
	defer f.Close()
	return net.FileConn(f)
}

func echoPoller() error {
	c, err := overPoller(os.NewFile(3, "parent"))
	if err != nil {
		return err
	}
	defer c.Close()
	buf := make([]byte, frameBytes)
	for {
		n, err := c.Read(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// The same packets over the runtime's poller, which Conn does without: see type
// socket.
func BenchmarkPingPongPoller(b *testing.B) {
	leaktest.SkipEmulated(b)
	fd, peer := packetPair(b)
	child := start(b, "echo poller", peer)
	c, err := overPoller(os.NewFile(uintptr(fd), "child"))
	require.NoError(b, err)
	buf := make([]byte, frameBytes)
	measure.Percentiles(b, func() error {
		if _, err := c.Write(buf); err != nil {
			return err
		}
		_, err := c.Read(buf)
		return err
	})
	require.NoError(b, c.Close())
	require.NoError(b, child.Wait())
}

// The same with one goroutine that receives and hands over by a channel.
func BenchmarkPingPongHandOver(b *testing.B) {
	leaktest.SkipEmulated(b)
	c, peer := wiretest.PairFile(b)
	child := start(b, "echo", peer)
	frame := wire.Frame{Kind: wire.KindPing, Payload: make([]byte, frameBytes-wire.HeaderSize)}
	came := make(chan error, 1)
	go func() {
		buf := make([]byte, wire.MaxFrame)
		for err := error(nil); err == nil; came <- err {
			_, _, err = c.Receive(buf)
		}
	}()
	measure.Percentiles(b, func() error {
		if err := c.Send(frame); err != nil {
			return err
		}
		return <-came
	})
	require.NoError(b, c.Close())
	require.ErrorIs(b, <-came, wire.ErrClosed)
	require.NoError(b, child.Wait())
}
