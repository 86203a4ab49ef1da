package objcbridge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// requireAllRefused calls every method of every handle on a handle that is not
// open.
func requireAllRefused(t *testing.T, b *Bridge, s *Surface, p *Program, r *Request) {
	t.Helper()
	call := map[string]func() error{
		"SelfCheck":   func() error { _, err := b.selfCheck(); return err },
		"Device":      func() error { _, err := b.Device(); return err },
		"Registry":    func() error { _, err := b.registry(); return err },
		"WrapSurface": func() error { _, err := b.WrapSurface(1, 0); return err },
		"NewProgram":  func() error { _, err := b.NewProgram([]byte("x"), nil); return err },
		"Unlock":      s.Unlock,
		"Lock":        s.Lock,
		"Compile":     func() error { _, err := p.Compile(driverabi.QoSDefault); return err },
		"Load":        func() error { return p.Load(driverabi.QoSDefault) },
		"Unload":      func() error { return p.Unload(driverabi.QoSDefault) },
		"Purge":       p.Purge,
		"Attributes":  func() error { _, err := p.Attributes(); return err },
		"Inspect":     func() error { _, err := p.Inspect(); return err },
		"NewRequest":  func() error { _, err := p.NewRequest(0, nil, nil); return err },
		"Evaluate":    func() error { return r.Evaluate(p, driverabi.QoSDefault) },
	}
	for name, f := range call {
		t.Run(name, func(t *testing.T) { refused(t, f(), ReasonState, "closed or was never opened") })
	}
	require.Zero(t, b.Usage())
	for range 2 {
		require.NoError(t, b.Close())
		s.Close()
		p.Close()
		r.Close()
	}
}

func TestNilHandles(t *testing.T) {
	requireAllRefused(t, nil, nil, nil, nil)
}

func TestZeroHandles(t *testing.T) {
	requireAllRefused(t, &Bridge{}, &Surface{}, &Program{}, &Request{})
}

func TestClosedHandles(t *testing.T) {
	b, err := Open(Options{Library: fakeBridge(t), Framework: "fake"})
	require.NoError(t, err)
	s, err := b.WrapSurface(1, 0)
	require.NoError(t, err)
	p, err := b.NewProgram([]byte("text"), nil)
	require.NoError(t, err)
	r, err := p.NewRequest(0, []Binding{{s, 0, 64}}, []Binding{{s, 0, 64}})
	require.NoError(t, err)

	refused(t, b.Close(), ReasonState, "something is alive")
	require.Equal(t, int64(1), b.Usage().Requests, "a failed Close leaves the bridge open")
	r.Close()
	p.Close()
	s.Close()
	require.NoError(t, b.Close())
	requireAllRefused(t, b, s, p, r)
}

// TestBadArguments passes arguments that cannot be passed to C.
func TestBadArguments(t *testing.T) {
	b := openFake(t)
	p, r := fakeProgram(t, b)
	s, err := b.WrapSurface(1, 0)
	require.NoError(t, err)
	defer s.Close()
	other := openFake(t)
	foreign, err := other.WrapSurface(1, 0)
	require.NoError(t, err)
	defer foreign.Close()
	stranger, err := other.NewProgram([]byte("text"), nil)
	require.NoError(t, err)
	defer stranger.Close()
	good := []Binding{{s, 0, 64}}
	request := func(procedure int, in, out []Binding) error {
		_, err := p.NewRequest(procedure, in, out)
		return err
	}
	program := func(text string, paths ...string) error {
		var weights []Weight
		for _, path := range paths {
			weights = append(weights, Weight{Path: path, Data: []byte("d")})
		}
		_, err := b.NewProgram([]byte(text), weights)
		return err
	}
	for _, c := range []struct {
		name   string
		err    error
		reason Reason
		words  string
	}{
		{"negative procedure", request(-1, good, good), ReasonIndex, "-1"},
		{"huge procedure", request(1<<31, good, good), ReasonIndex, "2147483648"},
		{"procedure beyond the program", request(2, good, good), ReasonIndex, ""},
		{"negative index", request(0, []Binding{{s, 0, 64}, {s, -1, 64}}, good), ReasonIndex, "input 1"},
		{"huge index", request(0, good, []Binding{{s, 1 << 31, 64}}), ReasonIndex, "output 0"},
		{"nil surface", request(0, good, []Binding{{s, 0, 64}, {nil, 1, 64}}), ReasonState, "output 1"},
		{"foreign surface", request(0, []Binding{{foreign, 0, 64}}, good), ReasonArgument,
			"input 0: the surface belongs to another bridge"},
		{"too many", request(0, make([]Binding, 256), good), ReasonArgument, "256 inputs"},
		{"nothing bound", request(0, nil, nil), ReasonIndex, ""},
		{"short surface", request(0, []Binding{{s, 0, 2 << 20}}, good), ReasonShort, ""},
		{"foreign program", r.Evaluate(stranger, driverabi.QoSDefault), ReasonArgument, "another bridge"},
		{"no text", program(""), ReasonArgument, "empty text"},
		{"path with a zero byte", program("text", "@model_path/good", "@model_path/\x00"), ReasonArgument, "weight 1"},
		{"path that the bridge rejects", program("text", "/etc/passwd"), ReasonArgument, "/etc/passwd"},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, c.err, c.reason, c.words) })
	}
	_, err = b.WrapSurface(1, -1)
	refused(t, err, ReasonOffset, "-1")
	_, err = b.WrapSurface(1, 64)
	refused(t, err, ReasonOffset)
	for _, o := range []Options{{ProgramLimit: -1}, {ProgramLimit: 1 << 31}, {Framework: "a\x00b"}} {
		o.Library = fakeBridge(t)
		_, err = Open(o)
		refused(t, err, ReasonArgument)
	}
	require.NoError(t, r.Evaluate(p, driverabi.QoSDefault), "the request still runs afterwards")
}
