package objcbridge

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// err converts the result of a C call and the record that it filled into an error; nil for 0. The
// record is 1 KB and only its kind is reset before a call, so it is read only if the call failed.
func (r *cError) err(stage Stage, result int32) error {
	if result == 0 {
		return nil
	}
	if r.kind == 0 {
		return &Error{Stage: stage, Kind: Kind(result), Message: "the bridge gave no description"}
	}
	e := &Error{
		Stage:     Stage(r.stage),
		Kind:      Kind(r.kind),
		Domain:    text(r.domain[:]),
		Code:      r.code,
		Message:   text(r.message[:]),
		Exception: text(r.exception[:]),
	}
	if e.Stage == 0 {
		e.Stage = stage
	}
	if e.Kind == KindRefused {
		e.Reason = Reason(r.code)
	}
	if r.hasStatus != 0 {
		e.HasStatus, e.Status, e.StatusType = true, r.status, r.statusType
	}
	e.LoadStage = int(r.loadStage)
	e.Causes = causes(text(r.causes[:]))
	return e
}

// refusal returns the error in a record that C filled for information, or nil.
func (r *cError) refusal() *Error {
	e, _ := errors.AsType[*Error](r.err(Stage(r.stage), r.kind))
	return e
}

// causes parses the lines "domain<TAB>code<TAB>message" of aneb_error.
func causes(lines string) []Cause {
	var all []Cause
	for line := range strings.Lines(lines) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(fields) < 3 {
			continue
		}
		code, _ := strconv.ParseInt(fields[1], 10, 64) // the bridge writes only numbers
		all = append(all, Cause{Domain: fields[0], Code: code, Message: fields[2]})
	}
	return all
}

// text copies a character array up to its zero byte.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
