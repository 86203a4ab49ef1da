package driver

import (
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Levels is the number of queues of the engine's firmware, .p0 to .p7.
const Levels = driverabi.Queues

// StarvationBound is the most turns of the engine that the longest-waiting request of any level waits, its own
// included. A part of a run that yields is a turn. Level n has the stride 1<<n, and a waiting level i is at most one
// stride before the turn that is being given. A level j meanwhile gets a turn while its own count is not above that of
// i: at most stride(i)/stride(j) times, and once more for the start. For the lowest level that is the sum over the
// others of 128>>j, plus 7, plus its own turn.
const StarvationBound = (128 + 64 + 32 + 16 + 8 + 4 + 2) + 7 + 1

// queue holds the requests that wait for the engine: one list for each level, served
// by stride scheduling.
type queue struct {
	lists [Levels][]*request
	most  [Levels]int    // requests of the level at any time
	pass  [Levels]uint64 // the turn at which the level is due next
	now   uint64         // the turn that was given last
	n     int
	// waits has a bit for each level with requests, for reading without the lock.
	waits atomic.Uint32
}

// push puts r at the end of its level.
func (q *queue) push(r *request) {
	l := &q.lists[r.level]
	if len(*l) == 0 { // a level that was away has no claim to the turns it missed
		q.pass[r.level] = max(q.pass[r.level], q.now)
		q.waits.Or(1 << r.level)
	}
	*l = append(*l, r)
	q.most[r.level] = max(q.most[r.level], len(*l))
	q.n++
}

// remove takes r out, wherever it stands.
func (q *queue) remove(r *request) {
	l := &q.lists[r.level]
	i := slices.Index(*l, r)
	if *l = slices.Delete(*l, i, i+1); len(*l) == 0 {
		q.waits.And(^(uint32(1) << r.level))
	}
	q.n--
}

// pop takes out the request whose turn it is; there is one.
func (q *queue) pop() *request {
	due := -1
	for i := range q.lists {
		if len(q.lists[i]) > 0 && (due < 0 || q.pass[i] < q.pass[due]) {
			due = i
		}
	}
	r := q.lists[due][0]
	q.charge(due)
	q.remove(r)
	return r
}

// before takes out a request that may run before the next step of r, or returns nil. Its level is higher and due no
// later, and its program fits.
func (q *queue) before(r *request, fits func(*request) bool) *request {
	var best *request
	for i := range q.lists[:r.level] {
		if q.pass[i] > q.pass[r.level] || best != nil && q.pass[i] >= q.pass[best.level] {
			continue
		}
		if at := slices.IndexFunc(q.lists[i], fits); at >= 0 {
			best = q.lists[i][at]
		}
	}
	if best != nil {
		q.charge(best.level)
		q.remove(best)
	}
	return best
}

// charge gives level the present turn. A request that runs without waiting is charged
// as well, so that it does not get more than its share.
func (q *queue) charge(level int) {
	q.pass[level] = max(q.pass[level], q.now)
	q.now = q.pass[level]
	q.pass[level] += 1 << level
}
