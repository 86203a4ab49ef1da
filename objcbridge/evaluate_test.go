package objcbridge

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// The behaviour of testdata/fakebridge.c for a run, by QoS.
const (
	qosBadStatus uint32 = iota + 1
	qosNoError
	qosRaise
	qosYesError
	qosLacking
	qosTooShort
	qosHang
	qosRelease
	qosNoRecord
	qosLong
)

// runErrors are the failures of a run.
var runErrors = []struct {
	name string
	qos  uint32
	want Error
}{
	{"status", qosBadStatus, Error{Stage: StageEvaluate, Kind: KindNSError, Domain: DomainEngine, Code: 8,
		HasStatus: true, Status: 0x1d, StatusType: 9,
		Message: "ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9"}},
	{"NO", qosNoError, Error{Stage: StageEvaluate, Kind: KindNo}},
	{"exception", qosRaise, Error{Stage: StageEvaluate, Kind: kindException, Exception: "NSInvalidArgumentException",
		Message: "unrecognized selector"}},
	{"YES with error", qosYesError, Error{Stage: StageEvaluate, Kind: kindContradiction, Domain: DomainEngine, Code: 8,
		HasStatus: true, Status: 0x1d, StatusType: 9,
		Message: "ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9"}},
	{"missing", qosLacking, Error{Stage: StageEvaluate, Kind: KindMissing, Message: "no such selector"}},
	{"short", qosTooShort, Error{Stage: StageEvaluate, Kind: KindRefused, Reason: ReasonShort, Code: 2,
		Message: "input x has 64 bytes, needs 512"}},
	{"no record", qosNoRecord, Error{Stage: StageEvaluate, Kind: KindNo, Message: "the bridge gave no description"}},
	{"full message", qosLong, Error{Stage: StageEvaluate, Kind: KindNo, Message: strings.Repeat("x", 1023) + "\uFFFD"}},
}

func TestEvaluateErrors(t *testing.T) {
	p, r := fakeProgram(t, openFake(t))
	for _, c := range runErrors {
		t.Run(c.name, func(t *testing.T) {
			var e *Error
			require.ErrorAs(t, r.Evaluate(p, c.qos), &e)
			require.Equal(t, &c.want, e)
			require.NoError(t, r.Evaluate(p, driverabi.QoSDefault), "the next run works")
		})
	}
}

func TestEvaluateTwiceAtOnce(t *testing.T) {
	b := openFake(t)
	p, r := fakeProgram(t, b)
	p2, other := fakeProgram(t, b)
	var wg sync.WaitGroup
	var hung error
	wg.Go(func() { hung = r.Evaluate(p, qosHang) })
	for !r.busy.Load() {
	}
	refused(t, r.Evaluate(p, driverabi.QoSDefault), ReasonState, "in flight")

	// Closed during the call: further calls are rejected, and the handle is released
	// after the call.
	r.Close()
	p.Close()
	refused(t, r.Evaluate(p, driverabi.QoSDefault), ReasonState, "closed")
	require.Equal(t, int64(2), b.Usage().Requests)
	require.Equal(t, int64(2), b.Usage().Programs)
	require.NoError(t, other.Evaluate(p2, qosRelease))
	wg.Wait()
	require.NoError(t, hung)
	require.Equal(t, int64(1), b.Usage().Requests)
	require.Equal(t, int64(1), b.Usage().Programs)
}

func TestEvaluateAllocatesNothing(t *testing.T) {
	p, r := fakeProgram(t, openFake(t))
	var err error
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if e := r.Evaluate(p, driverabi.QoSDefault); e != nil {
			err = e
		}
	}))
	require.NoError(t, err)
}

func TestEvaluateConcurrently(t *testing.T) {
	b := openFake(t)
	p, _ := fakeProgram(t, b)
	s, err := b.WrapSurface(1, 0)
	require.NoError(t, err)
	defer s.Close()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			r, err := p.NewRequest(0, []Binding{{s, 0, 64}}, []Binding{{s, 1, 64}})
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for n := range 100 {
				qos := driverabi.QoSDefault
				if (i+n)%3 == 0 {
					qos = qosTooShort
				}
				if err := r.Evaluate(p, qos); (err != nil) != (qos == qosTooShort) {
					t.Errorf("QoS %d: %v", qos, err)
				}
			}
		})
	}
	wg.Wait()
}
