//go:build cgo

package standin

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// TestHostileDumps: with any dump, calls succeed or fail and the process
// continues.
func TestHostileDumps(t *testing.T) {
	if file := os.Getenv(hostileEnv); file != "" {
		f, err := Start(Options{Dump: file})
		require.NoError(t, err)
		_, _ = objcbridge.Inspect(f.Config().Bridge)
		c := f.Config()
		require.NoError(t, c.Open())
		defer c.Close()
		b, err := objcbridge.Open(c.Bridge)
		if err != nil {
			return // methods are missing
		}
		r := &replay{t: t, f: f, b: b}
		p := r.program(addition)
		_, err = p.Compile(driverabi.QoSDefault)
		t.Log("compile:", err)
		t.Log("load:", p.Load(driverabi.QoSDefault))
		_, err = p.Attributes()
		t.Log("attributes:", err)
		facts, err := p.Inspect()
		t.Log("facts:", facts, err)
		surface := func() *objcbridge.Surface { return wrapped(t, f, b, opened(t, 16384, f.Surfaces())) }
		for procedure := range 3 {
			for _, bytes := range []int{0, plane} {
				q, err := p.NewRequest(procedure, []objcbridge.Binding{{Surface: surface(), Bytes: bytes},
					{Surface: surface(), Index: 1, Bytes: bytes}},
					[]objcbridge.Binding{{Surface: surface(), Bytes: bytes}})
				if err != nil {
					continue
				}
				t.Log("evaluate:", q.Evaluate(p, driverabi.QoSDefault))
				q.Close()
			}
		}
		m := newMessages(t)
		mapper := m.named("_ANEQoSMapper")
		for _, n := range []uintptr{0, 33, 1 << 31} {
			m.send(mapper, "queueIndexForQoS:", n)
			m.send(mapper, "qosForProgramPriority:", n)
			m.send(mapper, "programPriorityForQoS:", n)
		}
		t.Log("unload:", p.Unload(driverabi.QoSDefault))
		t.Log("the process continues")
		return
	}
	dir := bridgetest.Build(t)
	for i, text := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			file := written(t, text)
			if _, err := ReadDump(file); err != nil {
				require.ErrorIs(t, err, ane.ErrUnavailable)
				return
			}
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileDumps$", "-test.v")
			c.Env = append(os.Environ(), hostileEnv+"="+file, objcbridge.EnvDir+"="+dir)
			out, err := c.CombinedOutput()
			require.NotContains(t, string(out), "SIG", string(out))
			require.NotContains(t, string(out), "panic", string(out))
			require.Contains(t, string(out), "TestHostileDumps", string(out))
			t.Log(string(out), err)
		})
	}
}

const hostileEnv = "STANDIN_TEST_HOSTILE"
