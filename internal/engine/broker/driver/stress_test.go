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
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// TestNothingLostNothingDoubled has 8 clients send 10,000 requests each, of all classes
// and in all ways, cancelling some at random. Every accepted request has exactly one
// completion.
func TestNothingLostNothingDoubled(t *testing.T) {
	const clients, requests = 8, 10000
	r := newRig(t)
	r.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
		if rand.IntN(64) == 0 { // some runs are long enough to be cancelled
			select {
			case <-ctx.Done():
				return ane.Deadline("evaluate", "fake", ctx.Err())
			case <-time.After(50 * time.Microsecond):
			}
		}
		return nil
	}
	classes := driverabi.QoSClasses()
	res := r.program()
	var wg sync.WaitGroup
	var aborted atomic.Int64
	for i := range clients {
		ends := make([]atomic.Int32, requests) // completions of each request
		room := make(chan struct{}, 1)
		info := privileged
		info.Wake = func(d Completion) {
			ends[d.Sequence].Add(1)
			if d.Err != nil {
				aborted.Add(1)
			}
			select {
			case room <- struct{}{}:
			default:
			}
		}
		c := r.opened(info)
		token, pairs := r.prepared(c, res), [][]uint32{r.pair(c), r.pair(c), r.pair(c)}
		wg.Add(1)
		go func() {
			defer wg.Done()
			random := rand.New(rand.NewPCG(uint64(i), 9))
			for n := uint32(0); n < requests; {
				x := ask{token: token, sequence: n, port: uint64(i + 1), qos: classes[random.IntN(len(classes))].QoS,
					doorbell: random.Uint64N(32), surfaces: pairs[random.IntN(3)]}
				x.edit = func(s []byte) { class(s, x.qos, driverabi.Priority(x.qos)) }
				switch random.IntN(8) {
				case 0:
					x.port = 0
				case 1:
					x.submit.Flags = RunInline
				case 2:
					x.submit.Timeout = random.Uint64N(100000) + 1
				}
				_, ret := x.send(c)
				if ret == Full {
					select {
					case <-room:
					case <-time.After(await.Patience):
						t.Error("no completion makes room")
						return
					}
					continue
				}
				if x.port == 0 {
					ends[n].Add(1)
				} else if ret != nil {
					t.Errorf("request %d: %v", n, ret)
					return
				}
				if random.IntN(4) == 0 {
					c.Stop(n - random.Uint32N(8))
				}
				n++
			}
			if i%2 == 0 { // half of them go with requests in flight
				soon(t, func() bool { return c.pending.Load() == 0 }, "completions")
			}
			if err := c.Close(context.Background()); err != nil {
				t.Error(err)
			}
			for n := range ends {
				if got := ends[n].Load(); got != 1 {
					t.Errorf("client %d: request %d has %d completions", i, n, got)
				}
			}
		}()
	}
	wg.Wait()
	require.Equal(t, uint64(clients*requests), r.driver.Stats().Completed)
	require.Positive(t, aborted.Load(), "some were cancelled")
}

// TestChaosOfOneClient calls everything at once from many goroutines, and then the client
// goes. The rig checks that the engine saw no broken rule and that nothing is left.
func TestChaosOfOneClient(t *testing.T) {
	for round := range 20 {
		r := newRig(t).bounded(20, totalDepth)
		info := privileged
		info.Wake = func(Completion) {}
		c := r.opened(info)
		var programs []uint64
		for range 3 {
			programs = append(programs, r.program())
		}
		surfaces := []uint32{r.surface(1), r.surface(1), r.surface(1), r.surface(1)}
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				random := rand.New(rand.NewPCG(uint64(round), uint64(g)))
				for range 300 {
					res := programs[random.IntN(3)]
					a, b := surfaces[random.IntN(4)], surfaces[random.IntN(4)]
					c.driver.mu.Lock()
					var token uint64
					if own := c.created(res); own != nil {
						token = own.token
					}
					next := c.next
					c.driver.mu.Unlock()
					switch random.IntN(12) {
					case 0:
						create1(c, res)
					case 1:
						prepare1(c, res)
					case 2:
						unprepare1(c, token)
					case 3:
						destroy1(c, Destroy{Token: token})
					case 4:
						map1(c, a)
					case 5:
						unmap1(c, a)
					case 6:
						c.Stop(next - 1)
					case 7:
						if random.IntN(20) == 0 {
							c.Direct(1, &driverabi.Args{})
							handshake(c.Direct, 1)
						}
					default:
						ask{token: token, sequence: next, port: uint64(random.IntN(2)), surfaces: []uint32{a, b},
							submit: Submit{Flags: random.Uint32N(2), Timeout: random.Uint64N(3) * 1000}}.send(c)
					}
				}
			}()
		}
		if round%2 == 0 {
			require.NoError(t, c.Close(context.Background()))
		}
		wg.Wait()
	}
}
