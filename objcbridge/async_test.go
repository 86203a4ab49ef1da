package objcbridge

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestStart(t *testing.T) {
	p, r := fakeProgram(t, openFake(t))
	for name, qos := range map[string]uint32{"later": driverabi.QoSDefault, "before the return": qosAtOnce} {
		t.Run(name, func(t *testing.T) {
			answers := make(chan error)
			ticket, err := r.Start(p, qos, func(err error) { answers <- err })
			require.NoError(t, err)
			require.NoError(t, <-answers)
			require.False(t, ticket.Forget(), "the run has been answered")
		})
	}
	for _, c := range runErrors {
		t.Run(c.name, func(t *testing.T) {
			answers := make(chan error)
			_, err := r.Start(p, c.qos, func(err error) { answers <- err })
			require.NoError(t, err)
			var e *Error
			require.ErrorAs(t, <-answers, &e)
			require.Equal(t, &c.want, e)
		})
	}
}

func TestStartFails(t *testing.T) {
	p, r := fakeProgram(t, openFake(t))
	ticket, err := r.Start(p, qosStartFails, func(error) { panic("done was called") })
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, KindNo, e.Kind)
	require.Nil(t, ticket)
	require.False(t, ticket.Forget())
	require.Zero(t, listed())
	require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
}

// TestStartAnswersBeyondTheContract: answers that the header forbids still reach done once.
func TestStartAnswersBeyondTheContract(t *testing.T) {
	p, r := fakeProgram(t, openFake(t))
	for _, qos := range []uint32{qosTwice, qosFailsAndAnswers} {
		answers := make(chan error, 2)
		_, err := r.Start(p, qos, func(err error) { answers <- err })
		require.NoError(t, err)
		require.NoError(t, <-answers)
		done := make(chan error)
		_, err = r.Start(p, driverabi.QoSDefault, func(err error) { done <- err })
		require.NoError(t, err)
		require.NoError(t, <-done)
		require.Empty(t, answers)
	}
	completed(1<<60, 0, nil) // a number that was never used
}

func TestForget(t *testing.T) {
	b := openFake(t)
	p, r := fakeProgram(t, b)
	ticket, err := r.Start(p, qosNever, func(error) { panic("done was called") })
	require.NoError(t, err)
	r.Close()
	require.Equal(t, int64(1), b.Usage().Requests, "the run uses the request")
	require.True(t, ticket.Forget())
	require.True(t, ticket.Forget(), "a second Forget returns true")
	require.Zero(t, b.Usage().Requests)
	require.Zero(t, listed())
}

// TestCloseInFlight: handles closed in flight are free when done is called, so done can close
// the Bridge.
func TestCloseInFlight(t *testing.T) {
	b, err := Open(Options{Library: fakeBridge(t), Framework: "fake"})
	require.NoError(t, err)
	s, err := b.WrapSurface(1, 0)
	require.NoError(t, err)
	p, err := b.NewProgram([]byte("text"), nil)
	require.NoError(t, err)
	r, err := p.NewRequest(0, []Binding{{s, 0, 64}}, []Binding{{s, 0, 64}})
	require.NoError(t, err)
	answers := make(chan error)
	proceed := make(chan struct{})
	_, err = r.Start(p, driverabi.QoSDefault, func(error) {
		<-proceed
		answers <- b.Close()
	})
	require.NoError(t, err)
	s.Close()
	r.Close()
	p.Close()
	close(proceed)
	require.NoError(t, <-answers)
}

// TestForgetRace: either done is called once or Forget returns true, never both and never
// neither.
func TestForgetRace(t *testing.T) {
	b := openFake(t)
	p, _ := fakeProgram(t, b)
	s, err := b.WrapSurface(1, 0)
	require.NoError(t, err)
	defer s.Close()
	var wg sync.WaitGroup
	var answered, forgotten atomic.Int64
	const routines, rounds = 16, 200
	for range routines {
		wg.Go(func() {
			r, err := p.NewRequest(0, []Binding{{s, 0, 64}}, []Binding{{s, 1, 64}})
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for i := range rounds {
				done := make(chan struct{})
				ticket, err := r.Start(p, driverabi.QoSDefault, func(error) {
					answered.Add(1)
					close(done) // a second call panics
				})
				if err != nil {
					t.Error(err)
					return
				}
				for range i % 40 {
					runtime.Gosched()
				}
				gaveUp := make(chan bool)
				go func() { gaveUp <- ticket.Forget() }()
				mine := ticket.Forget()
				if other := <-gaveUp; other != mine {
					t.Error("two Forgets disagree")
				}
				if mine {
					forgotten.Add(1)
				} else {
					<-done
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, routines*rounds, answered.Load()+forgotten.Load())
	t.Logf("%d answered, %d forgotten", answered.Load(), forgotten.Load())
	require.Zero(t, listed())
}

// TestManyRuns: one callback address serves any number of runs.
func TestManyRuns(t *testing.T) {
	p, r := fakeProgram(t, openFake(t))
	done := make(chan error)
	for range 5000 {
		_, err := r.Start(p, qosAtOnce, func(err error) { done <- err })
		require.NoError(t, err)
		require.NoError(t, <-done)
	}
}

func listed() int {
	process.Lock()
	defer process.Unlock()
	return len(process.runs)
}
