package apple

import (
	"encoding/json"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/dumptest"
	"github.com/anekit/anekit/objcbridge"
)

// The codes that macOS 27 adds have the meanings of their texts.
func TestMeaningOfDumpedCodes(t *testing.T) {
	var codes map[string]struct {
		Text       string
		Contains   string `json:"text_contains"`
		Stage      string
		Status     string
		Underlying string
	}
	dumptest.Data(t, "error-codes-27-more", &codes)
	want := map[string]error{"34": ane.ErrCancelled, "54": ane.ErrExhausted, "10": ane.ErrCompile}
	stages := map[string]objcbridge.Stage{"evaluate": objcbridge.StageEvaluate, "load": objcbridge.StageLoad,
		"compile": objcbridge.StageCompile}
	require.Len(t, codes, len(want))
	for text, c := range codes {
		code, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		e := &objcbridge.Error{Stage: stages[c.Stage], Kind: objcbridge.KindNSError, Domain: objcbridge.DomainEngine,
			Code: code, Message: c.Text + c.Contains}
		_, sentinel := meaning(e)
		if want[text] != ane.ErrCompile {
			require.Equal(t, want[text], sentinel, text)
		}
		status := c.Status + c.Underlying
		if status == "" {
			continue
		}
		n, err := strconv.ParseUint(status, 0, 32)
		require.NoError(t, err)
		e.Code, e.HasStatus, e.Status = 8, true, uint32(n)
		_, sentinel = meaning(e)
		require.Equal(t, want[text], sentinel, "status %s alone", status)
	}
}

// A cancelled run is sent again as often, and as late, as was enough on an M3 Ultra, for longer than a power transition.
func TestRetriesOutlastAPowerTransition(t *testing.T) {
	var d map[string]json.RawMessage
	dumptest.Data(t, "m3ultra-power-transition", &d)
	for key, value := range d {
		if m := regexp.MustCompile(`^failures_with_(\d+)_retries_of_(\d+)_ms$`).FindStringSubmatch(key); m != nil {
			require.JSONEq(t, "0", string(value))
			tries, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			ms, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			require.Equal(t, tries, cancelTries)
			require.Equal(t, time.Duration(ms)*time.Millisecond, cancelPause)
			delete(d, key)
		}
	}
	require.Len(t, d, 4, "the key with the retries")
	var took []int
	require.NoError(t, json.Unmarshal(d["transition_ms"], &took))
	require.Greater(t, cancelTries*cancelPause, time.Duration(took[1])*time.Millisecond)
}

// Apple's engine takes status 0x2 of a run, and 0x20004 of a load, for lack of memory.
func TestMeaningOfDumpedPressure(t *testing.T) {
	var d struct {
		Evaluate struct{ Text string }
		Load     struct {
			Code int64
			Text string
		}
	}
	dumptest.Data(t, "m5pro-status-0x2-under-memory-pressure", &d)
	status := func(text string) uint32 {
		n, err := strconv.ParseUint(regexp.MustCompile(`0x[0-9a-f]+`).FindString(text), 0, 32)
		require.NoError(t, err)
		return uint32(n)
	}
	for _, e := range []*objcbridge.Error{
		{Stage: objcbridge.StageEvaluate, Code: 8, Status: status(d.Evaluate.Text)},
		{Stage: objcbridge.StageLoad, Code: d.Load.Code, Status: status(d.Load.Text)},
	} {
		e.Kind, e.Domain, e.HasStatus = objcbridge.KindNSError, objcbridge.DomainEngine, true
		_, sentinel := meaning(e)
		require.Equal(t, ane.ErrExhausted, sentinel, "%+v", e)
	}
}
