package driver

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// tally counts the completions of each port; every request has a port of its own.
type tally struct {
	ports   atomic.Uint64
	ends    sync.Map    // port: *atomic.Int32
	strange atomic.Bool // an end of a port that no request had
}

func (y *tally) wake(d Completion) {
	if n, known := y.ends.Load(d.Port); known {
		n.(*atomic.Int32).Add(1)
	} else {
		y.strange.Store(true)
	}
}

// port makes one.
func (y *tally) port() uint64 {
	p := y.ports.Add(1)
	y.ends.Store(p, new(atomic.Int32))
	return p
}

// TestEveryEndComesOnce has clients of one identity share programs and surfaces and do
// everything at once: send, cancel, unprepare, unmap, destroy, close connections and go.
// A request that was accepted has one completion by the time that its client has gone,
// and a refused one has none.
func TestEveryEndComesOnce(t *testing.T) {
	ends := uint64(0)
	for round := range uint64(12) {
		r := newRig(t).bounded(6, 10)
		r.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
			if rand.IntN(8) > 0 {
				return nil
			}
			select {
			case <-ctx.Done():
				return ane.Deadline("evaluate", "fake", ctx.Err())
			case <-time.After(100 * time.Microsecond):
				return nil
			}
		}
		programs := []uint64{r.program(), r.program()}
		surfaces := []uint32{r.surface(1), r.surface(1), r.surface(1)}
		var clients sync.WaitGroup
		for i := range uint64(3) {
			clients.Go(func() { r.storm(rand.New(rand.NewPCG(round, i)), programs, surfaces) })
		}
		clients.Wait()
		require.Zero(t, r.driver.Stats().Clients)
		ends += r.driver.Stats().Completed
	}
	require.Greater(t, ends, uint64(100), "few requests were accepted; how many depends on the processors")
	t.Log(ends, "requests were accepted")
}

// storm is one client's life.
func (r *rig) storm(random *rand.Rand, programs []uint64, surfaces []uint32) {
	y := &tally{}
	info := privileged
	info.Wake = y.wake
	c, err := r.driver.Attach(info)
	if err != nil {
		r.t.Error(err)
		return
	}
	refused := &sync.Map{}
	var calls sync.WaitGroup
	for range 4 {
		own := rand.New(rand.NewPCG(random.Uint64(), 1))
		calls.Go(func() {
			for range 400 {
				c.blow(own, y, refused, programs, surfaces)
			}
		})
	}
	if random.IntN(2) == 0 {
		calls.Wait()
	} else { // it goes in the middle of it
		for many := random.Uint64N(300); y.ports.Load() < many; {
			time.Sleep(50 * time.Microsecond)
		}
	}
	if err := c.Close(context.Background()); err != nil {
		r.t.Error(err)
	}
	calls.Wait()
	if y.strange.Load() {
		r.t.Error("an end that no call asked for")
	}
	y.ends.Range(func(port, n any) bool {
		want := int32(1)
		if _, no := refused.Load(port); no {
			want = 0
		}
		if got := n.(*atomic.Int32).Load(); got != want {
			r.t.Errorf("port %d has %d ends, not %d", port, got, want)
		}
		return true
	})
}

// blow makes one call.
func (c *Client) blow(random *rand.Rand, y *tally, refused *sync.Map, programs []uint64, surfaces []uint32) {
	res := programs[random.IntN(len(programs))]
	a, b := surfaces[random.IntN(len(surfaces))], surfaces[random.IntN(len(surfaces))]
	c.driver.mu.Lock()
	var token uint64
	if own := c.created(res); own != nil {
		token = own.token
	}
	next := c.next
	c.driver.mu.Unlock()
	switch random.IntN(24) {
	case 0, 1:
		create1(c, res)
	case 2, 3, 4:
		prepare1(c, res)
	case 5:
		unprepare1(c, token)
	case 6:
		destroy1(c, Destroy{Token: token})
	case 7, 8, 9:
		map1(c, a)
	case 10:
		unmap1(c, a)
	case 11, 12:
		c.Stop(next - 1 - random.Uint32N(4))
	case 13:
		if random.IntN(16) == 0 {
			c.Direct(1, &driverabi.Args{})
		}
		handshake(c.Direct, 1)
	case 14:
		if random.IntN(16) == 0 {
			c.Control(1, &driverabi.Args{})
		}
		handshake(c.Control, 1)
	case 15: // without a port: the answer is the end
		ask{token: token, sequence: next, surfaces: []uint32{a, b},
			submit: Submit{Timeout: random.Uint64N(2) * 50_000}}.send(c)
	default:
		port := y.port()
		x := ask{token: token, sequence: next, port: port, surfaces: []uint32{a, b},
			qos:    []uint32{9, 17, 21, 33}[random.IntN(4)],
			submit: Submit{Flags: random.Uint32N(2), Timeout: random.Uint64N(2) * 50_000}}
		if _, ret := x.send(c); ret != nil {
			refused.Store(port, true)
		}
	}
}
