package driver

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestFIFOWithinALevel(t *testing.T) {
	var q queue
	var want []*request
	for range 50 {
		r := &request{level: 4}
		want = append(want, r)
		q.push(r)
	}
	q.remove(want[0])
	q.remove(want[20])
	q.remove(want[49])
	want = append(want[1:20:20], want[21:49]...)
	for _, r := range want {
		require.Same(t, r, q.pop())
	}
	require.Zero(t, q.n)
}

// TestComeBack: levels that were away have no claim to the turns they missed.
func TestComeBack(t *testing.T) {
	var q queue
	for range 3 { // level 3 has had more turns than level 7
		q.push(&request{level: 3})
		q.pop()
	}
	for range 100 {
		q.push(&request{level: 2})
		q.pop()
	}
	q.push(&request{level: 7})
	q.push(&request{level: 3})
	require.Equal(t, 3, q.pop().level, "the more urgent one first")
}

func TestShares(t *testing.T) {
	var q queue
	turns := [Levels]int{}
	for level := range Levels {
		q.push(&request{level: level})
	}
	for range 255 * 4 { // 255 turns are one round: 128 for level 0, 1 for level 7
		r := q.pop()
		turns[r.level]++
		q.push(r)
	}
	for level, n := range turns {
		require.InDelta(t, 4*(128>>level), n, 2, "level %d", level)
	}
}

// TestStarvationBound counts turns while every other level has work all the time, is
// away at times, or comes back at the worst moments.
func TestStarvationBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var away []*request
		for level := range Levels - 1 {
			q.push(&request{level: level})
		}
		for range rapid.IntRange(0, 299).Draw(t, "turns before") { // whatever went before
			r := q.pop()
			q.push(r)
		}
		comeAndGo := rapid.Bool().Draw(t, "levels come and go")
		moves := func(label string) bool { return comeAndGo && rapid.IntRange(0, 2).Draw(t, label) == 2 }
		for range 5 {
			lowest := &request{level: Levels - 1}
			q.push(lowest)
			for turn := 1; ; turn++ {
				require.LessOrEqual(t, turn, StarvationBound)
				r := q.pop()
				if r == lowest {
					break
				}
				if moves("leaves") {
					away = append(away, r)
				} else {
					q.push(r)
				}
				if len(away) > 0 && (q.n == 1 || moves("comes back")) {
					q.push(away[0])
					away = away[1:]
				}
			}
		}
	})
}

// TestLowestClassIsServed fills the queue through the ABI and counts the engine's turns.
func TestLowestClassIsServed(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	var clients []*Client
	order := make(chan string, 8192)
	for i := range 6 {
		info := privileged
		name := []string{"busy", "background"}[i/5]
		info.Wake = func(d Completion) { order <- name }
		clients = append(clients, r.opened(info))
	}
	res := r.program()
	for i, c := range clients {
		token, surfaces := r.prepared(c, res), r.pair(c)
		qos, count := driverabi.QoSUserInteractive, uint32(driverabi.QueueDepth)
		if i == 5 {
			qos, count = driverabi.QoSBackground, 10
		}
		for n := range count {
			_, ret := ask{token: token, sequence: n, port: 1, qos: qos, surfaces: surfaces}.send(c)
			require.NoError(t, ret)
		}
	}
	within(t, begun)
	require.Equal(t, 5*driverabi.QueueDepth+10-1, r.driver.Stats().Queued)
	let()
	turns, served := 0, 0
	for range 5*driverabi.QueueDepth + 10 {
		turns++
		if within(t, order) == "background" {
			require.LessOrEqual(t, turns, StarvationBound)
			turns = 0
			served++
		}
	}
	require.Equal(t, 10, served)
}

func TestFull(t *testing.T) {
	r := newRig(t).bounded(3, 5)
	begun, let := r.hold()
	info, done := woken()
	one, two := r.opened(info), r.opened(info)
	res := r.program()
	more := r.fill(one, res, 3, "the client's part")
	r.fill(two, res, 2, "the queue is full")
	within(t, begun)
	let()
	for range 5 {
		require.NoError(t, within(t, done).Err)
	}
	_, ret := more.send(one)
	require.NoError(t, ret, "room again")
	within(t, done)
}

func TestPowerArgumentsLowerTheLevel(t *testing.T) {
	for _, tc := range []struct {
		flags, hint, qos uint32
		want             int
	}{{0, 0, 21, 5}, {PowerSaving, 0, 21, 6}, {PowerSaving, 0, 9, 7}, {MoreAggressive, 0, 33, 7},
		{0, HintBackground, 33, 7}, {KeepWired, 0, 33, 3}, {PowerSaving, HintBackground, 0, 7}} {
		x := attachment{flags: tc.flags}
		require.Equal(t, tc.want, x.level(tc.qos, tc.hint), "%+v", tc)
	}
}
