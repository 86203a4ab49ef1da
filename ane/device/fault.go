package device

import (
	"errors"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
)

// fault turns what the bridge says into the error that users of any engine know.
// nil stays nil.
func (e *Engine) fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	out := &ane.Error{Op: op, Engine: e.cfg.Name, Name: name, Err: ane.Because(ane.ErrEngine, err)}
	var b *objcbridge.Error
	if !errors.As(err, &b) {
		return out
	}
	sentinel, hint := meaning(b)
	out.Err, out.Hint = ane.Because(sentinel, err), hint
	out.Domain, out.Code = b.Domain, int(b.Code)
	if b.Domain == "" {
		out.Code = 0
	}
	return out
}

// meaning finds the sentinel for a failure and what to do about it.
func meaning(b *objcbridge.Error) (sentinel error, hint string) {
	switch b.Kind {
	case objcbridge.KindMissing:
		return ane.ErrUnavailable, "run `ane-roundtrip info` and report what it prints"
	case objcbridge.KindRefused:
		return refusal(b.Reason)
	}
	if b.Stage == objcbridge.StageCompile && b.Kind == objcbridge.KindNSError && strings.HasSuffix(b.Domain, ".compiler") {
		return ane.ErrCompile, ""
	}
	switch {
	case b.HasStatus && b.Status == 0x1d:
		return ane.ErrShort, "make tensors with the layouts of the Model"
	case b.HasStatus && b.Status == 0x2:
		return ane.ErrName, "compile the program again"
	}
	return ane.ErrEngine, ""
}

// refusal is meaning for what the bridge itself refused.
func refusal(r objcbridge.Reason) (error, string) {
	switch r {
	case objcbridge.ReasonShort:
		return ane.ErrShort, "make tensors with the layouts of the Model"
	case objcbridge.ReasonOffset:
		return ane.ErrOffset, "give the tensor a surface of its own"
	case objcbridge.ReasonIndex:
		return ane.ErrName, "compile the program again"
	case objcbridge.ReasonBudget:
		return ane.ErrExhausted, "compile fewer different programs in one process; programs that were compiled before cost nothing"
	case objcbridge.ReasonCrowded:
		return ane.ErrExhausted, "unload or close models that are not needed"
	case objcbridge.ReasonState:
		return ane.ErrInUse, ""
	case objcbridge.ReasonFile:
		return ane.ErrEngine, "make room in the folder for temporary files, and check its permissions"
	}
	return ane.ErrEngine, ""
}

// refused reports whether the bridge refused for reason r.
func refused(err error, r objcbridge.Reason) bool {
	var b *objcbridge.Error
	return errors.As(err, &b) && b.Kind == objcbridge.KindRefused && b.Reason == r
}
