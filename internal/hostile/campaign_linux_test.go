//go:build !macrules

package hostile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	client "github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

// Variables of the test.
const (
	durationVariable = "ANEKIT_HOSTILE"
	seedVariable     = "ANEKIT_HOSTILE_SEED"
	attackVariable   = "ANEKIT_HOSTILE_ATTACK"
	faultsVariable   = "ANEKIT_HOSTILE_FAULTS"
)

// saneTime is the deadline of the well-behaved client, for everything that it does in a round.
const saneTime = time.Minute

// campaign attacks one broker after another in one folder.
type campaign struct {
	*testing.T
	dir    string
	dice   *rand.Rand
	broker *broker
	base   counts // after the first round of this broker
	rounds int
	ran    map[string]int
	slow   time.Duration // of the well-behaved client, at most
	when   string        // it was that slow
	faults bool
}

func TestCampaign(t *testing.T) {
	if os.Getenv(durationVariable) == "" {
		effort.NeedsFull(t, "ten seconds of hostile processes")
	}
	leaktest.SkipEmulated(t)
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(seedVariable); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("seed %d; %s=%d chooses the same attacks", seed, seedVariable, seed)
	c := &campaign{T: t, dir: t.TempDir(), dice: rand.New(rand.NewPCG(seed, 0)), ran: map[string]int{},
		faults: os.Getenv(faultsVariable) != ""}
	over := c.duration()
	c.start(c.dice.IntN(stderrs))
	c.pass()
	for !over() {
		c.event()
	}
	c.settle()
	c.stop()
	t.Logf("%d rounds: %v", c.rounds, c.ran)
	t.Logf("the slowest round trip of the well-behaved client took %v: %s", c.slow.Round(time.Millisecond), c.when)
}

// duration returns a function that reports the end of the campaign.
func (c *campaign) duration() func() bool {
	long := 10 * time.Second
	if s := os.Getenv(durationVariable); s != "" {
		var err error
		long, err = time.ParseDuration(s)
		require.NoError(c, err)
	}
	end := time.Now().Add(long)
	return func() bool { return time.Now().After(end) }
}

// start starts a broker and warms it: later counts are compared with those after this.
func (c *campaign) start(stderr int) {
	c.Helper()
	c.broker = startBroker(c.T, c.dir, stderr)
	c.Logf("broker %d, its standard error is %s", c.broker.cmd.Process.Pid, stderrNames[stderr])
	c.sane("first")
	cold, ok := c.broker.count()
	require.True(c, ok)
	c.warm()
	// the runtime's threads are warm now, and what clients have is that of a broker without clients
	await.Until(c, "the broker has what it had before", func() bool {
		c.base, ok = c.broker.count()
		return !ok || c.base.Descriptors <= cold.Descriptors && c.base.Goroutines <= cold.Goroutines &&
			c.base.Memfds <= cold.Memfds
	})
	require.True(c, c.broker.lives())
}

// warm has the broker make all threads that it ever needs.
func (c *campaign) warm() {
	var all []*enemy
	for range 4 {
		e := c.attack("crowd")
		e.fate = leaves
		all = append(all, e)
	}
	for _, e := range all {
		e.wait()
	}
	for _, e := range all {
		e.finish()
	}
	c.sane("after the first crowds")
}

// pass carries out each attack once.
func (c *campaign) pass() {
	for _, i := range c.dice.Perm(len(attacks)) {
		c.round(c.chosen(attacks[i].name))
	}
	if c.faults {
		for i := range faults {
			c.fault(i)
		}
	}
	c.settle()
}

// event is a random round, or something that happens to the broker in one.
func (c *campaign) event() {
	c.Helper()
	switch n := c.dice.IntN(40); {
	case n == 0:
		c.restart()
	case n <= 2:
		c.rewriteCache(c.dice.IntN(len(rewrites)))
	case n <= 10 && c.faults:
		c.fault(c.dice.IntN(len(faults)))
	default:
		names := []string{c.choose()}
		for len(names) < 3 && c.dice.IntN(2) == 0 { // which leave places
			names = append(names, c.choose())
		}
		c.round(names...)
		if c.dice.IntN(10) == 0 {
			c.settle()
		}
	}
}

func (c *campaign) choose() string { return c.chosen(attacks[c.dice.IntN(len(attacks))].name) }

// chosen is the attack that the environment names, or the given one.
func (c *campaign) chosen(name string) string { return cmp.Or(os.Getenv(attackVariable), name) }

// round carries out attacks at the same time, and checks the broker while they hold and afterwards.
func (c *campaign) round(names ...string) {
	c.Helper()
	c.rounds++
	var all []*enemy
	for _, name := range names {
		c.ran[name]++
		all = append(all, c.attack(name))
	}
	for _, e := range all {
		e.wait()
	}
	c.sane(fmt.Sprint("beside ", names))
	for _, e := range all {
		e.finish()
	}
	c.sane(fmt.Sprint("after ", names))
}

// enemy is the process of an attack.
type enemy struct {
	*campaign
	name string
	seed uint64
	fate int
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	err  bytes.Buffer
}

// attack starts one.
func (c *campaign) attack(name string) *enemy {
	c.Helper()
	e := &enemy{campaign: c, name: name, seed: c.dice.Uint64(), fate: c.dice.IntN(fates)}
	e.cmd = exec.Command("/proc/self/exe")
	e.cmd.Env = append(os.Environ(), attackEnv+"="+name, seedEnv+"="+strconv.FormatUint(e.seed, 10),
		socketEnv+"="+c.broker.path, "TMPDIR="+c.dir) // an attacker that is killed leaves its files
	e.cmd.Stderr = &e.err
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := e.cmd.StdinPipe()
	require.NoError(c, err)
	out, err := e.cmd.StdoutPipe()
	require.NoError(c, err)
	e.in, e.out = in, bufio.NewReader(out)
	require.NoError(c, e.cmd.Start())
	c.Cleanup(func() {
		if e.cmd.ProcessState == nil { // the test has failed
			_ = e.cmd.Process.Kill()
			_ = e.cmd.Wait()
		}
	})
	return e
}

// Fates of attackers.
const (
	leaves = iota
	killed
	stopped // for a while
	stoppedAndKilled
	killedInTheAct // before it holds
	fates
)

// wait waits until the attacker holds what it got.
func (e *enemy) wait() {
	e.Helper()
	if e.fate == killedInTheAct {
		require.NoError(e, e.cmd.Process.Signal(unix.SIGKILL)) // sooner or later in its life, as it happens
		return
	}
	line := await.Done(e.T, func() string {
		line, err := e.out.ReadString('\n')
		if err != nil {
			return err.Error()
		}
		return line
	})
	require.True(e, strings.HasPrefix(line, held), "attack %q, seed %d: %q\n%s", e.name, e.seed, line, &e.err)
	e.Logf("round %d, %s (seed %d): %s", e.rounds, e.name, e.seed, strings.TrimSpace(line[len(held):]))
	if e.fate == stopped || e.fate == stoppedAndKilled {
		require.NoError(e, e.cmd.Process.Signal(unix.SIGSTOP))
	}
}

// finish ends the attacker.
func (e *enemy) finish() {
	switch e.fate {
	case killed, stoppedAndKilled:
		_ = e.cmd.Process.Signal(unix.SIGKILL)
	case stopped:
		_ = e.cmd.Process.Signal(unix.SIGCONT)
	}
	_ = e.in.Close()
	err := await.Done(e.T, e.cmd.Wait)
	if e.fate == leaves || e.fate == stopped {
		require.NoError(e, err, "attack %q, seed %d\n%s", e.name, e.seed, &e.err)
	}
}

// sane is the well-behaved client: it gets right results within a deadline.
func (c *campaign) sane(when string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), saneTime)
	defer cancel()
	begin := time.Now()
	err := c.add(ctx)
	took := time.Since(begin)
	if took > c.slow {
		c.slow, c.when = took, when
	}
	if err == nil {
		return
	}
	state := "it lives"
	if !c.broker.lives() {
		state = fmt.Sprint("it has ended: ", <-c.broker.ended)
	}
	require.NoError(c, err, "round %d, %s, after %v; broker: %s", c.rounds, when, took, state)
}

// add opens the broker and adds there, twice: by a program that it has seen, and by one that is new to it.
func (c *campaign) add(ctx context.Context) error {
	d, err := c.opened(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(adds(ctx, d, "sane", c.dice), adds(ctx, d, c.dice.Uint64(), c.dice))
	return errors.Join(err, d.Close())
}

// opened opens the broker, at once or once it has places.
func (c *campaign) opened(ctx context.Context) (d *ane.Device, err error) {
	await.Poll(func() bool {
		var e ane.Engine
		if e, err = client.Open(ctx, client.Options{Path: c.broker.path}); err == nil {
			d, err = ane.Open(e, "")
		}
		return !errors.Is(err, ane.ErrExhausted) || ctx.Err() != nil
	})
	return d, err
}

func adds(ctx context.Context, d *ane.Device, note any, dice *rand.Rand) (err error) {
	m, err := d.Compile(ctx, ane.Source{Text: addition(note)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	r, err := m.NewRequest(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	a, b := make([]float32, 32), make([]float32, 32)
	for range 3 {
		for i := range a {
			a[i], b[i] = float32(dice.IntN(1000)), float32(dice.IntN(1000))
		}
		if _, err := r.Input("a").WriteFloat32(a); err != nil {
			return err
		}
		if _, err := r.Input("b").WriteFloat32(b); err != nil {
			return err
		}
		if _, err := r.Evaluate(ctx); err != nil {
			return err
		}
		got, err := r.Output("c").Float32s()
		if err != nil {
			return err
		}
		for i := range a {
			if got[i] != a[i]+b[i] {
				return fmt.Errorf("wrong result: %v + %v = %v", a[i], b[i], got[i])
			}
		}
	}
	return nil
}

// Bounds of what the runtime keeps once it has needed it. What clients have is exact: descriptors, memory files,
// goroutines.
const (
	// mostThreads are two for each of 64 clients, one for each of 16 that wait to be refused, and some for processors
	// and system calls. The runtime makes a thread when another one blocks, and ends none.
	mostThreads   = 2*64 + 16 + 32
	slackMappings = 64      // ranges of the heap
	slackHeap     = 8 << 20 // tables that do not shrink
	slackResident = 64 << 20
)

// excess lists what the broker has beyond what it had after its first round.
func (c counts) excess(base counts) (all []string) {
	stacks, resident := 2*max(0, c.Threads-base.Threads), int64(slackResident) // a stack has a guard page
	// it keeps the shadow of all memory that was ever used, and more for each thread
	if effort.Race {
		stacks, resident = 4*stacks, math.MaxInt64-base.Resident
	}
	for _, one := range []struct {
		what             string
		now, base, slack int64
	}{
		{"descriptors", int64(c.Descriptors), int64(base.Descriptors), 0},
		{"goroutines", int64(c.Goroutines), int64(base.Goroutines), 0},
		{"mappings of memfds", int64(c.Memfds), int64(base.Memfds), 0},
		{"threads", int64(c.Threads), int64(max(base.Threads, mostThreads)), 0},
		{"mappings", int64(c.Mappings), int64(base.Mappings + stacks), slackMappings},
		{"bytes of the heap", c.Heap, base.Heap, slackHeap},
		{"bytes resident", c.Resident, base.Resident, resident},
	} {
		if one.now > one.base+one.slack {
			all = append(all, fmt.Sprintf("%d %s, expected %d", one.now, one.what, one.base+one.slack))
		}
	}
	return all
}

// slowSettling is when settle tells what it waits for: longer than the broker lets a connection stay silent.
const slowSettling = 8 * time.Second

// settle waits until the broker has no more than after its first round.
func (c *campaign) settle() {
	c.Helper()
	var last counts
	begin := time.Now()
	told := false
	left := await.Left(func() []string {
		now, ok := c.broker.count()
		if !ok {
			return nil
		}
		last = now
		all := now.excess(c.base)
		if len(all) > 0 && !told && time.Since(begin) > slowSettling {
			told = true
			c.Logf("round %d, after %v: %v", c.rounds, slowSettling, all)
		}
		return all
	})
	require.Empty(c, left, "broker after %d rounds", c.rounds)
	require.True(c, c.broker.lives())
	c.Logf("round %d: %v; at first %v", c.rounds, last, c.base)
}

// stop ends the broker by SIGTERM: it gives back everything, and its files.
func (c *campaign) stop() {
	c.Helper()
	c.broker.signal(unix.SIGTERM)
	require.NoError(c, c.broker.wait(), "broker after SIGTERM")
	_, err := os.Lstat(c.broker.path)
	require.ErrorIs(c, err, os.ErrNotExist)
}

// restart ends the broker during an attack and starts another, with another standard error.
func (c *campaign) restart() {
	c.Helper()
	c.settle()
	var all []*enemy
	for range c.dice.IntN(3) {
		e := c.attack(c.choose())
		e.fate = killed
		all = append(all, e)
	}
	if c.dice.IntN(2) == 0 {
		for _, e := range all {
			e.wait()
		}
	}
	c.stop()
	for _, e := range all {
		e.finish()
	}
	c.start(c.dice.IntN(stderrs))
}
