//go:build cgo

package standin

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// writtenReplay is a dump written for the test, and the framework's expected answers.
type writtenReplay struct {
	file  string
	check func(*replay)
}

// writtenReplays run in separate processes.
func writtenReplays() map[string]writtenReplay {
	all := map[string]writtenReplay{}
	for name, data := range manyAttributes {
		all[name] = writtenReplay{`{"data": {` + data + `}}`, func(r *replay) { r.differs(difference, "main") }}
	}
	for name, c := range networkOrders {
		if name != "no numbers of names" { // its procedures have no names for the reader
			all["networks: "+name] = writtenReplay{`{"data": {` + c.data + `}}`, func(r *replay) {
				r.differs(twoDifferences, "f")
				r.differs(twoDifferences, "g")
			}}
		}
	}
	for name, c := range writtenErrors {
		all["errors: "+name] = c
	}
	return all
}

// differs runs a procedure on surfaces with the lengths and placements from the
// engine's own reader of attributes and requires a less b.
func (r *replay) differs(text, function string) {
	p := loadedProgram(r.t, r.b, text)
	d := described(r.t, p, function)
	require.Len(r.t, d.Inputs, 2)
	memory := map[string][]byte{}
	bind := func(t attributes.Tensor) objcbridge.Binding {
		block := opened(r.t, t.Layout.Bytes(), r.f.Surfaces())
		memory[t.Name] = block.Bytes()
		return objcbridge.Binding{Surface: wrapped(r.t, r.f, r.b, block), Index: t.Index, Bytes: t.Layout.Bytes()}
	}
	strides := map[string]int64{}
	for _, t := range append(d.Inputs, d.Outputs...) {
		strides[t.Name] = int64(t.Layout.PlaneStride)
	}
	want := []int64{64, 128, 192}
	if function == "g" {
		want = []int64{256, 320, 384}
	}
	require.Equal(r.t, want, []int64{strides["a"], strides["b"], strides["y"]})
	at := func(name string, i int64) int64 { return i/32*strides[name] + i%32*2 }
	q := requested(r.t, p, d.Number, []objcbridge.Binding{bind(d.Inputs[0]), bind(d.Inputs[1])},
		[]objcbridge.Binding{bind(d.Outputs[0])})
	for i := range int64(128) {
		half(memory["a"], at("a", i), float32(3*i))
		half(memory["b"], at("b", i), float32(i+7))
	}
	require.NoError(r.t, q.Evaluate(p, driverabi.QoSDefault))
	for i := range int64(128) {
		require.Equal(r.t, float32(2*i-7), halfAt(memory["y"], at("y", i)), "element %d", i)
	}
}

func TestReplayOfWritten(t *testing.T) {
	all := writtenReplays()
	if name := os.Getenv(replayEnv); name != "" {
		f, err := Start(Options{})
		require.NoError(t, err)
		all[name].check(&replay{t: t, f: f, b: onBridge(t, f)})
		return
	}
	dir := bridgetest.Build(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		t.Run(name, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReplayOfWritten$", "-test.v")
			child.Env = append(os.Environ(), replayEnv+"="+name, EnvDump+"="+written(t, c.file), objcbridge.EnvDir+"="+
				dir)
			out, err := child.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "--- PASS: TestReplayOfWritten")
		})
	}
}
