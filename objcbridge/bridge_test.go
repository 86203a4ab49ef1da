package objcbridge

import (
	"bytes"
	"encoding/json"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestOpenFailures(t *testing.T) {
	path := fakeBridge(t)
	var e *Error
	_, err := Open(Options{Library: path, Framework: "none"})
	require.ErrorAs(t, err, &e)
	require.Equal(t, &Error{Stage: stageOpen, Kind: KindMissing, Message: "no framework\nat none"}, e)
	require.NotContains(t, err.Error(), "\n")

	_, err = Open(Options{Library: path, Framework: "missing"})
	require.ErrorAs(t, err, &e)
	require.Equal(t, stageCheck, e.Stage)
	require.Equal(t, KindMissing, e.Kind)
}

func TestInspect(t *testing.T) {
	path := fakeBridge(t)
	report, err := Inspect(Options{Library: path, Framework: "fake"})
	require.NoError(t, err)
	require.Equal(t, path, report.Library)
	require.Equal(t, "fake", report.Framework)
	require.Equal(t, []Check{
		{Class: "_ANEModel", Selector: "first", ClassMethod: true, Expected: "B@:I", Found: "B@:I",
			NeededFor: "compile", Required: true},
		{Class: "_ANEModel", Selector: "other", Expected: "B@:I", NeededFor: "compile", Required: true},
	}, report.Checks)
	require.Equal(t, &Device{HasANE: AnswerYes, VirtualMachine: AnswerNo, InternalBuild: AnswerUnknown, Engines: 2,
		Cores: 16,
		Board: 1 << 40, Architecture: "h13g", Subtype: "h13", Variant: "g", Product: "macOS", Build: "25E246"},
		report.Device)
	require.Equal(t, []Property{{"H11ANEIn", "ANEDevicePropertyNumANECores", "16"}}, report.Registry)
	require.Equal(t, int64(100), report.Usage.ProgramLimit)

	// Lists longer than the buffer of the first attempt.
	report, err = Inspect(Options{Library: path, Framework: "fake", IOKit: "many"})
	require.NoError(t, err)
	require.Len(t, report.Checks, 100)
	require.Len(t, report.Registry, 10)
	require.Equal(t, Property{"H11ANEIn", "ANEDevicePropertyNumANECores", "16"}, report.Registry[9])

	// A missing method is an error, and the report still has the table that shows it.
	report, err = Inspect(Options{Library: path, Framework: "missing"})
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, KindMissing, e.Kind)
	require.Len(t, report.Checks, 2)
	require.Equal(t, checkNoSelector, report.Checks[1].Status)
	require.Nil(t, report.Device)

	_, err = Inspect(Options{Library: path, Framework: "none"})
	require.ErrorAs(t, err, &e)
}

func TestListOfImpossibleLength(t *testing.T) {
	const most = 1 << 16
	for name, n := range map[string]int{"negative": -1, "huge": most + 1} {
		_, err := list(stageCheck, 64, most, func([]byte) (int, error) { return n, nil })
		var e *Error
		require.ErrorAs(t, err, &e, name)
	}
	room := 0
	_, err := list(stageCheck, 64, most, func(rows []byte) (int, error) { room = len(rows); return room + 1000, nil })
	require.Error(t, err, "reading a list that always grows ends")
	require.LessOrEqual(t, room, most)
}

func TestSurfaceLock(t *testing.T) {
	b := openFake(t)
	_, err := b.WrapSurface(0, 0)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kindNil, e.Kind)

	s, err := b.WrapSurface(1, 0)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Unlock())
	refused(t, s.Unlock(), ReasonState)
	require.NoError(t, s.Lock())
	refused(t, s.Lock(), ReasonState)
}

func TestProgramLife(t *testing.T) {
	b := openFake(t)
	p, err := b.NewProgram([]byte("text"), []Weight{{"@model_path/weights/weight.bin", []byte("data")},
		{Path: "@model_path/empty"}})
	require.NoError(t, err)
	defer p.Close()

	var e *Error
	_, err = p.Compile(1)
	require.ErrorAs(t, err, &e)
	require.Equal(t, &Error{Stage: StageCompile, Kind: KindNSError, Domain: domainCompiler, Code: 1,
		Message: "_ANECompiler : ANECCompile() FAILED"}, e)
	before := b.Usage().Compiles
	cached, err := p.Compile(driverabi.QoSDefault)
	require.NoError(t, err)
	require.False(t, cached)
	require.Equal(t, before+1, b.Usage().Compiles)
	cached, err = p.Compile(driverabi.QoSBackground)
	require.NoError(t, err)
	require.True(t, cached)

	_, err = p.Attributes()
	refused(t, err, ReasonState)
	require.ErrorAs(t, p.Load(0), &e)
	require.Equal(t, KindNo, e.Kind)
	require.NoError(t, p.Load(driverabi.QoSDefault))

	facts, err := p.Inspect()
	require.NoError(t, err)
	require.Equal(t, Facts{Identity: "A_B_C", Path: "dir/A_B_C", Handle: 7, State: 3, Loaded: true, QueueDepth: 127,
		PerfStats: 5}, facts)

	text, err := p.Attributes()
	require.NoError(t, err)
	require.Equal(t, "{}", string(text))

	require.ErrorAs(t, p.Purge(), &e)
	require.Equal(t, kindException, e.Kind)
	require.NoError(t, p.Unload(driverabi.QoSDefault))
	refused(t, p.Unload(driverabi.QoSDefault), ReasonState)
	require.NoError(t, p.Purge())

	many, err := b.NewProgram([]byte("many"), nil)
	require.NoError(t, err)
	defer many.Close()
	require.NoError(t, many.Load(driverabi.QoSDefault))
	text, err = many.Attributes()
	require.NoError(t, err)
	require.Len(t, text, 100<<10, "more than the buffer of the first attempt")
	require.True(t, json.Valid(text))
	facts, err = many.Inspect()
	require.NoError(t, err)
	require.Equal(t, &Error{Stage: StageLoad, Kind: KindNSError, Code: 53, Message: "refused", LoadStage: 4,
		Causes: []Cause{{Domain: "domain", Code: -7, Message: "the first"}}}, facts.Recovered)
}

// TestTextsStayUntilRelease: the bridge reads text and weights when a program is released. They
// must be unchanged then, even if no Go pointer refers to them.
func TestTextsStayUntilRelease(t *testing.T) {
	b := openFake(t)
	var programs []*Program
	for i := range 50 {
		data := bytes.Repeat([]byte{byte(i)}, 10_000)
		p, err := b.NewProgram(bytes.Clone(data), []Weight{{"@model_path/w", data}})
		require.NoError(t, err)
		programs = append(programs, p)
	}
	for range 3 {
		runtime.GC()
		for range 200 {
			_ = bytes.Repeat([]byte{0xee}, 10_000)
		}
	}
	for _, p := range programs {
		p.Close()
	}
	require.Zero(t, b.Usage().Programs)
}

// TestForgottenProgram: a program that was never closed keeps its texts, and collecting it does
// not end the process.
func TestForgottenProgram(t *testing.T) {
	b := openFake(t)
	handle := func() uintptr {
		p, err := b.NewProgram(bytes.Repeat([]byte("x"), 10_000), nil)
		require.NoError(t, err)
		return p.handle
	}()
	for range 3 {
		runtime.GC()
		_ = bytes.Repeat([]byte{0xee}, 10_000)
	}
	process.Lock()
	require.Len(t, process.pinned, 1)
	process.Unlock()
	call(b.lib.programRelease, handle)
	for p := range process.pinned {
		drop(p)
	}
}

// TestCloseDuringCalls closes from many goroutines during calls. The fake bridge ends the process
// if a handle is released twice, released during a call, or used after its release.
func TestCloseDuringCalls(t *testing.T) {
	b := openFake(t)
	held, err := b.WrapSurface(1, 0) // makes every Close of the bridge fail
	require.NoError(t, err)
	defer held.Close()
	for range 100 {
		s, err := b.WrapSurface(1, 0)
		require.NoError(t, err)
		p, err := b.NewProgram([]byte("text"), nil)
		require.NoError(t, err)
		require.NoError(t, p.Load(driverabi.QoSDefault))
		r, err := p.NewRequest(0, []Binding{{s, 0, 64}}, []Binding{{s, 1, 64}})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 20 {
					_ = r.Evaluate(p, driverabi.QoSDefault)
					_, _ = p.Attributes()
					_ = s.Lock()
					if again, err := p.NewRequest(0, []Binding{{s, 0, 64}}, []Binding{{s, 0, 64}}); err == nil {
						again.Close()
					}
					if i == 7 {
						_ = p.Unload(driverabi.QoSDefault)
						_ = b.Close()
					}
				}
			})
			wg.Go(func() {
				s.Close()
				p.Close()
				r.Close()
			})
		}
		wg.Wait()
		refused(t, r.Evaluate(p, driverabi.QoSDefault), ReasonState)
	}
	u := b.Usage()
	require.EqualValues(t, 1, u.Programs+u.Surfaces+u.Requests)
}
