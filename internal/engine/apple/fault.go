package apple

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// fault turns an error of the bridge into the error that all engines use. nil stays
// nil.
func (e *Engine) fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	e.errors.add(err)
	out := &ane.Error{Op: op, Engine: e.cfg.Name, Name: name, Err: ane.Because(ane.ErrEngine, err)}
	var b *objcbridge.Error
	if !errors.As(err, &b) {
		return out
	}
	hint, sentinel := meaning(b)
	out.Err, out.Hint = ane.Because(sentinel, err), hint
	out.Domain, out.Code = b.Domain, int(b.Code)
	if b.Domain == "" {
		out.Code = 0
	}
	if errors.Is(sentinel, ane.ErrExhausted) && b.Kind == objcbridge.KindNSError {
		live, requests := unimem.Live(), 0
		e.idle.Range(func(_, _ any) bool { requests++; return true })
		out.Detail = fmt.Sprintf("open in this process: %d loaded programs, %d Blocks of %d bytes, %d Requests",
			e.bridge.Usage().Loaded, live.Blocks, live.Bytes, requests)
	}
	return out
}

// meaning returns the sentinel and the hint for a failure.
func meaning(b *objcbridge.Error) (hint string, sentinel error) {
	switch b.Kind {
	case objcbridge.KindMissing:
		return "run `ane-roundtrip info` and report its output", ane.ErrUnavailable
	case objcbridge.KindRefused:
		return refusal(b.Reason)
	}
	if b.Stage == objcbridge.StageCompile && b.Kind == objcbridge.KindNSError &&
		strings.HasSuffix(b.Domain, ".compiler") {
		return "", ane.ErrCompile
	}
	if b.Kind != objcbridge.KindNSError || b.Domain != objcbridge.DomainEngine {
		return "", ane.ErrEngine
	}
	switch status := b.DriverStatus(); {
	case b.HasStatus && status == driverabi.StatusBadGeometry &&
		b.Stage == objcbridge.StageEvaluate, b.Code == codeShort:
		return "make tensors with the layouts of the Model", ane.ErrShort
	case b.HasStatus && status == driverabi.StatusBadIndex && b.Stage == objcbridge.StageEvaluate:
		return "the request's indices are those of the program, so the memory that the engine can wire is probably near " +
			"its limit: close Requests and Models, free memory, and try again", ane.ErrExhausted
	case noSlot(b):
		return "all processes of the machine share its program slots: close Models here or in other processes, and try " +
			"again", ane.ErrExhausted
	case b.HasStatus && (status == driverabi.StatusNoMemory || status == driverabi.StatusNoResources),
		b.HasStatus && status == driverabi.StatusBadIndex && b.Stage == objcbridge.StageLoad,
		b.Code == codeMap, b.Code == codeNoMemory, b.Code == codeNoPlace:
		return "close Requests and Models, free memory, and try again", ane.ErrExhausted
	case b.HasStatus && status == driverabi.StatusBadIndex:
		return "compile the program again", ane.ErrName
	case b.HasStatus && (status == driverabi.StatusCancelled || status == driverabi.StatusAborted),
		b.Code == codeAborted, b.Code == codePower:
		return "try again", ane.ErrCancelled
	}
	return "", ane.ErrEngine
}

// Codes of the framework's errors. Those above 30 are from macOS 27.
const (
	codeMap      = 13 // surfaces could not be mapped
	codePower    = 34 // the request was cancelled by a power transition
	codeShort    = 42 // a surface is shorter than the program needs
	codeAborted  = 47 // the request was aborted
	codeNoMemory = 53 // the program could not be loaded for lack of memory
	codeNoPlace  = 54 // the program could not be loaded for lack of engine resources
)

// refusal is meaning for an error of the bridge itself. It adds no hint where the
// bridge's message has one.
func refusal(r objcbridge.Reason) (hint string, sentinel error) {
	switch r {
	case objcbridge.ReasonShort:
		return "make tensors with the layouts of the Model", ane.ErrShort
	case objcbridge.ReasonOffset:
		return "", ane.ErrOffset
	case objcbridge.ReasonIndex:
		return "compile the program again", ane.ErrName
	case objcbridge.ReasonCrowded:
		return "", ane.ErrExhausted
	case objcbridge.ReasonState, objcbridge.ReasonHeld:
		return "", ane.ErrInUse
	}
	return "", ane.ErrEngine
}

// refused reports whether the bridge rejected a call for reason r.
func refused(err error, r objcbridge.Reason) bool {
	var b *objcbridge.Error
	return errors.As(err, &b) && b.Kind == objcbridge.KindRefused && b.Reason == r
}
