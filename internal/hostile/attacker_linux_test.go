//go:build !macrules

package hostile

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Variables of an attacker's process.
const (
	attackEnv = "ANEKIT_HOSTILE_TEST_ATTACK" // a name of the table
	seedEnv   = "ANEKIT_HOSTILE_TEST_SEED"
	socketEnv = "ANEKIT_HOSTILE_TEST_SOCKET"
)

// brief bounds an attack, until it holds.
const brief = 3 * time.Second

// held is the line by which an attacker says that it has done its worst and holds what it got.
const held = "held: "

// attacker is the client of one attack, in a process of its own.
type attacker struct {
	path  string
	dice  *rand.Rand
	end   time.Time
	conns []*raw
	keep  []any // what would end with a collection
	sent  int
}

// attackMain carries out the attack that the environment names, says so, and holds until its standard input ends.
func attackMain() int {
	seed, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	a := &attacker{path: os.Getenv(socketEnv), dice: rand.New(rand.NewPCG(seed, 1)), end: time.Now().Add(brief)}
	for _, one := range attacks {
		if one.name == os.Getenv(attackEnv) {
			one.run(a)
			fmt.Println(held + a.String())
			_, _ = io.Copy(io.Discard, os.Stdin)
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, "no such attack")
	return 1
}

// String tells what the attack came to.
func (a *attacker) String() string {
	answers, faults := 0, 0
	for _, r := range a.conns {
		answers += r.answers
		faults += r.faults
	}
	return fmt.Sprintf("%d connections, %d frames sent, %d answers, %d of them refuse", len(a.conns), a.sent, answers,
		faults)
}

// over reports whether the attack has lasted long enough.
func (a *attacker) over() bool { return time.Now().After(a.end) }

// connect makes a connection, nil if there is none.
func (a *attacker) connect() *raw {
	r, err := dial(a.path)
	if err != nil {
		return nil
	}
	a.conns = append(a.conns, r)
	return r
}

// greet makes a connection that is admitted, nil if there is none.
func (a *attacker) greet(fds ...int) *raw {
	r := a.connect()
	if r == nil {
		return nil
	}
	var reply wire.HelloReply
	if r.ask(wire.KindHello, &wire.Hello{Version: wire.Version, Executable: "hostile"}, &reply, fds...) != nil {
		return nil
	}
	return r
}

// some makes up to n connections that are admitted.
func (a *attacker) some(n int) (all []*raw) {
	for range n {
		r := a.greet()
		if r == nil {
			break
		}
		all = append(all, r)
	}
	return all
}

// one is a number from 1 to n.
func (a *attacker) one(n int) int { return 1 + a.dice.IntN(n) }

// throw sends bytes without waiting, and reports false when the connection has ended.
func (a *attacker) throw(r *raw, b []byte, fds ...int) bool {
	err := r.push(b, fds...)
	if err == nil {
		a.sent++
	}
	return err == nil || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ETOOMANYREFS) ||
		errors.Is(err, unix.EINVAL) ||
		errors.Is(err, unix.EMSGSIZE)
}

// press sends a correct frame as soon as there is room, and reports false when the connection or the attack has ended.
func (a *attacker) press(r *raw, k wire.Kind, q wire.Payload, fds ...int) bool {
	r.id++
	return a.insist(r, framed(k, r.id, wire.Append(nil, q)).bytes(), fds...)
}

// insist sends bytes as soon as there is room, and reads answers while it waits.
func (a *attacker) insist(r *raw, b []byte, fds ...int) bool {
	for !a.over() {
		err := r.push(b, fds...)
		switch {
		case err == nil:
			a.sent++
			return true
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EMSGSIZE):
			return true // the system refuses it
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.ETOOMANYREFS):
			return false
		}
		r.drain()
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLOUT | unix.POLLIN}}, 5)
	}
	return false
}

func itoa(n int) string { return strconv.Itoa(n) }
