package apple_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
)

// Codes of macOS 27 for a load without a free slot, and without memory.
const noPlace, noMemory = 54, 53

// tries is how often the bridge itself sends a load.
const tries = 2

// waits are those for a slot.
var waits = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond,
	800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond}

// pausing has the engine call pause, and records the waits, instead of waiting.
func pausing(waited *[]time.Duration, pause func() bool) func(*apple.Config) {
	return func(c *apple.Config) {
		c.Pause = func(_ context.Context, d time.Duration) bool {
			*waited = append(*waited, d)
			return pause()
		}
	}
}

func always() bool { return true }

// TestLoadsWaitForSlots: a load for which no slot is free is sent again after waits that double, in a compile or after
// an Unload. If none becomes free, the error says that the slots are the machine's.
func TestLoadsWaitForSlots(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	var waited []time.Duration
	e := open(t, pausing(&waited, always))
	require.Empty(t, waited)
	e.Shed() // what the known answer may have left would be one more try
	require.NoError(t, f.Fault(selLoad, standin.NoError, 3*tries, noPlace))
	r := newRig(t, e, fresh())
	require.Equal(t, waits[:3], waited)

	waited = nil
	require.NoError(t, r.model.Unload(t.Context()))
	const shed = 1 // the load is sent again at once, after idle invocations have released their surfaces
	require.NoError(t, f.Fault(selLoad, standin.NoError, (6+shed)*tries, noPlace))
	require.NoError(t, r.model.Load(t.Context()))
	require.Equal(t, waits, waited)
	met := e.Met()
	require.Len(t, met, 1)
	require.True(t, met[0].Recovered)

	waited = nil
	require.NoError(t, r.model.Unload(t.Context()))
	require.NoError(t, f.Fault(selLoad, standin.NoError, -1, noPlace))
	err := r.model.Load(t.Context())
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "all processes of the machine share its program slots")
	require.Equal(t, waits, waited)

	waited = nil
	require.ErrorIs(t, r.model.Load(ane.FailFast(t.Context())), ane.ErrExhausted)
	require.NoError(t, f.Fault(selLoad, standin.NoError, -1, noMemory))
	require.ErrorIs(t, r.model.Load(t.Context()), ane.ErrExhausted)
	require.Empty(t, waited, "the caller has programs to close, or memory is short")
	f.ClearFaults()
	require.NoError(t, r.model.Load(t.Context()))
}

// TestWaitsForSlotsEnd: the waits end with the deadline of the call.
func TestWaitsForSlotsEnd(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	var waited []time.Duration
	r := newRig(t, open(t, pausing(&waited, func() bool { return len(waited) < 3 })), fresh())
	require.NoError(t, r.model.Unload(t.Context()))
	require.NoError(t, f.Fault(selLoad, standin.NoError, -1, noPlace))
	require.ErrorIs(t, r.model.Load(t.Context()), ane.ErrExhausted)
	require.Equal(t, waits[:3], waited)
	f.ClearFaults()
	require.NoError(t, r.model.Load(t.Context()))

	const long = time.Hour
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.False(t, apple.Pause(soon, long), "at once: the deadline is before")
	ended, end := context.WithCancel(t.Context())
	end()
	require.False(t, apple.Pause(ended, long))
	require.False(t, apple.Pause(ended, 0))
	require.True(t, apple.Pause(t.Context(), 0))
}

// TestCompilesReleaseSurfaces: a compile for which memory is short is sent again once idle invocations have released
// their surfaces.
func TestCompilesReleaseSurfaces(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	e := open(t)
	idle := newRig(t, e, 100)
	require.NoError(t, idle.run(t.Context(), 1, 100))
	require.NoError(t, f.Fault(selCompile, standin.NoError, 1, noMemory))
	n := fresh()
	other := newRig(t, e, n)
	require.NoError(t, other.run(t.Context(), 1, float32(n)))
	require.Equal(t, 2, f.Instances("_ANEIOSurfaceObject"), "those of the new program")
	require.NoError(t, idle.run(t.Context(), 2, 100))
	require.Len(t, e.Met(), 1)
}

// TestSlotsOfAnotherProcess: another process of the machine has all slots; a load waits until it has ended.
func TestSlotsOfAnotherProcess(t *testing.T) {
	framework(t)
	var other *exec.Cmd
	var waited []time.Duration
	ends := func() bool {
		require.NoError(t, other.Process.Kill())
		require.Error(t, other.Wait(), "it was killed")
		return true
	}
	e := open(t, pausing(&waited, ends))
	r := newRig(t, e, 1)
	require.NoError(t, r.model.Unload(t.Context()))
	other = holder(t)
	require.NoError(t, r.model.Load(t.Context()))
	require.Equal(t, waits[:1], waited)
	require.NoError(t, r.run(t.Context(), 1, 1))
}

// holder starts a process that takes all slots of the machine and keeps them.
func holder(t *testing.T) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(task{Options: standin.Options{Dir: bridgetest.Build(t), ProgramLimit: 1000},
		Programs: 1000, Keep: true, Wait: true})
	require.NoError(t, err)
	own := t.TempDir() // for the files that the killed process leaves
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childRun+"="+string(text), "TEMP="+own, "TMPDIR="+own)
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "waiting\n", line)
	return cmd
}
