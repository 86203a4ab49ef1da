package objcbridge

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Stage: StageEvaluate, Kind: KindNSError, Domain: DomainEngine, Code: 8, HasStatus: true, Status: 0x1d,
			StatusType: 9, Message: "run: failed"},
			"objcbridge: evaluate: NSError, com.apple.appleneuralengine code 8, status 0x1d of type 0x9: run: failed " +
				"(a surface is shorter than the program needs); compare surfaces and indices with the attributes"},
		{Error{Stage: StageCompile, Kind: KindNSError, Domain: domainCompiler, Code: 1, Message: "two\nlines"},
			"objcbridge: compile: NSError, com.apple.appleneuralengine.compiler code 1: two lines " +
				"(the compiler rejects the MIL program); the soft engine reports the faulty operator"},
		{Error{Stage: StageCompile, Kind: KindNSError, Domain: domainCompiler, Code: 1,
			Message: "_ANECompiler : ANECCompile() FAILED",
			Causes:  []Cause{{domainCompiler, 22, "ANECCompile(p) FAILED: err=(InvalidMILProgram)"}}},
			"objcbridge: compile: NSError, com.apple.appleneuralengine.compiler code 1: _ANECompiler : ANECCompile() " +
				"FAILED, " +
				"because ANECCompile(p) FAILED: err=(InvalidMILProgram) (code 22) " +
				"(the compiler rejects the MIL program); the soft engine reports the faulty operator"},
		{Error{Stage: StageLoad, Kind: KindNSError, Domain: DomainEngine, Code: 53, HasStatus: true, Status: 1,
			LoadStage: 4, Message: "no"},
			"objcbridge: load: NSError, com.apple.appleneuralengine code 53, status 0x1: no (no memory); unload " +
				"programs, free memory, and try again"},
		{Error{Stage: StageLoad, Kind: kindContradiction, Domain: DomainEngine, Code: 3},
			"objcbridge: load: YES together with an error, com.apple.appleneuralengine code 3 " +
				"(timed out in the framework or its broker); try again when fewer programs are being loaded"},
		{Error{Stage: StageEvaluate, Kind: KindNo},
			"objcbridge: evaluate: NO without an error; load the program, and create the request again"},
		{Error{Stage: stagePurge, Kind: KindNo}, "objcbridge: purge: NO without an error"},
		{Error{Stage: StageCreate, Kind: kindException, Exception: "NSRangeException", Message: "index 4"},
			"objcbridge: create: exception NSRangeException: index 4; the effect of the call is undefined: " +
				"close the program"},
		{Error{Stage: stageCheck, Kind: KindMissing, Message: "no class"},
			"objcbridge: check: missing: no class; `ane-roundtrip info` lists what this framework has"},
		{Error{Stage: stageOpen, Kind: KindMissing, Message: "no file"},
			"objcbridge: open: missing: no file; set Options.Framework to an existing framework; Apple's is on " +
				"macOS only"},
		{Error{Stage: stageSurface, Kind: KindRefused, Reason: ReasonOffset, Code: 3, Message: "offset 64"},
			"objcbridge: surface: refused, surface at an offset: offset 64; give every tensor a surface of its own, " +
				"or slice a larger one in the MIL program"},
		{Error{Stage: 99, Kind: 98, Message: "later"}, "objcbridge: stage 99: kind 98: later"},
		{Error{}, "objcbridge: stage 0: kind 0"},
		{Error{Stage: StageLoad, Kind: KindNSError, Domain: "a\nb", Code: -1},
			"objcbridge: load: NSError, a b code -1"},
	} {
		require.Equal(t, c.want, c.err.Error())
	}
}

func TestErrorAs(t *testing.T) {
	var e *Error
	require.ErrorAs(t, fmt.Errorf("around: %w", refuse(StageLoad, ReasonCrowded, "%d", 100)), &e)
	require.Equal(t, ReasonCrowded, e.Reason)
	require.False(t, errors.Is(e, ErrBridgeUnavailable), "the bridge exists and rejected the call")
}

// TestEveryReasonHasNameAndHint: every reason has a hint except a state, whose
// message has it.
func TestEveryReasonHasNameAndHint(t *testing.T) {
	for r := ReasonArgument; r <= ReasonHeld; r++ {
		require.NotContains(t, r.String(), "reason ")
		if r != ReasonState {
			require.NotEmpty(t, refuse(StageLoad, r, "").hint(), r.String())
		}
	}
	for k := KindNSError; k <= KindRefused; k++ {
		require.NotContains(t, k.String(), "kind ")
	}
	for s := stageOpen; s <= stageClose; s++ {
		require.NotContains(t, s.String(), "stage ")
	}
}

func TestMeaning(t *testing.T) {
	engine := func(code int64) *Error { return &Error{Kind: KindNSError, Domain: DomainEngine, Code: code} }
	status := func(s uint32) *Error {
		return &Error{Kind: KindNSError, Domain: DomainEngine, Code: 8, HasStatus: true, Status: s}
	}
	for code := int64(1); code <= 29; code++ {
		require.NotEmpty(t, engine(code).meaning(), "code %d", code)
	}
	for _, c := range []struct {
		name string
		err  *Error
		want string
	}{
		{"short", status(0x1d), "a surface is shorter than the program needs"},
		{"indices", status(0x2), "symbol indices or procedure that the program does not have, no device, or wired memory near " +
			"its limit"},
		{"cancelled", status(0x12), "the request was cancelled"},
		{"aborted", status(0x15), "the request was aborted"},
		{"map", &Error{Kind: KindNSError, Domain: DomainEngine, Code: 13, HasStatus: true, Status: 0x12},
			"surfaces could not be mapped"},
		{"short on 27", engine(42), "a surface is shorter than the program needs"},
		{"aborted on 27", engine(47), "the request was aborted"},
		{"power on 27", engine(34), "a power transition cancelled the request"},
		{"place on 27", engine(54), "no engine resources are free for the program"},
		{"memory on 27", engine(53), "the program could not be loaded for lack of memory"},
		{"no place", &Error{Stage: StageLoad, Kind: KindNSError, Domain: DomainEngine, Code: 6, HasStatus: true,
			Status: 0x50004}, "no engine resources are free"},
		{"no memory", &Error{Stage: StageLoad, Kind: KindNSError, Domain: DomainEngine, Code: 6, HasStatus: true,
			Status: 0x10004}, "no memory"},
		{"trust", status(0xe00002e2), "the kernel does not trust the program's signature"},
		{"entitlement", status(0xe00002c7), "an entitlement is missing"},
		{"kernel argument", status(0xe00002c2), "the kernel rejects an argument"},
		{"seen, not understood", status(0xb), "the run failed"},
		{"status that was not found", &Error{Kind: KindNSError, Domain: DomainEngine, Code: 8, Status: 0x1d},
			"the run failed"},
		{"signature", engine(7), "this process has no code-signing identity"},
		{"host", &Error{Kind: KindNSError, Domain: domainVirtual, Code: 22},
			"the host system or its interface is too old"},
		{"compiler", &Error{Kind: KindNSError, Domain: domainCompiler, Code: 1},
			"the compiler rejects the MIL program"},
		{"contradiction", &Error{Kind: kindContradiction, Domain: DomainEngine, Code: 6},
			"the program could not be loaded"},
		{"code 0", engine(0), ""},
		{"negative code", engine(-1), ""},
		{"code 30", engine(30), ""},
		{"other compiler code", &Error{Kind: KindNSError, Domain: domainCompiler, Code: 2}, ""},
		{"translator", &Error{Kind: KindNSError, Domain: DomainEngine + ".espresso", Code: 1}, ""},
		{"code 8 of a guest", &Error{Kind: KindNSError, Domain: domainVirtual, Code: 8}, ""},
		{"other domain", &Error{Kind: KindNSError, Domain: "NSPOSIXErrorDomain", Code: 1}, ""},
		{"longer domain", &Error{Kind: KindNSError, Domain: DomainEngine + "s", Code: 1}, ""},
		{"no NSError", &Error{Kind: KindNo, Domain: DomainEngine, Code: 8}, ""},
		{"a reason is no code", refuse(StageLoad, ReasonCrowded, ""), ""},
		{"zero", &Error{}, ""},
	} {
		require.Equal(t, c.want, c.err.meaning(), c.name)
	}
}

func TestRecord(t *testing.T) {
	require.NoError(t, new(cError).err(StageLoad, 0))
	require.Equal(t, &Error{Stage: StageLoad, Kind: KindNo, Message: "the bridge gave no description"},
		new(cError).err(StageLoad, 2))
	r := &cError{kind: 7, code: 5}
	require.Equal(t, &Error{Stage: StageCompile, Kind: KindRefused, Reason: ReasonCrowded, Code: 5},
		r.err(StageCompile, 7))
	copy(r.message[:], strings.Repeat("m", len(r.message)))
	var e *Error
	require.ErrorAs(t, r.err(StageCompile, 7), &e)
	require.Len(t, e.Message, len(r.message))
}
