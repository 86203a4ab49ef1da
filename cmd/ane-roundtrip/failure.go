package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/probe"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/models/decoder"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// failure is the error of a command in its report.
type failure struct {
	Message string  `json:"message"`
	Hint    string  `json:"hint"` // what the user can do; may be empty
	Code    int     `json:"exit_code"`
	Faults  []fault `json:"faults,omitempty"` // the faults of a program
}

// fault is an error at one place of a program.
type fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0 if not known
	Column  int    `json:"column"` // in bytes, from 1; 0 if not known
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// failureOf describes the error of a command for its report.
func failureOf(ctx context.Context, err error, checks []trial.Check) *failure {
	f := &failure{Code: exitCode(ctx, err)}
	faults := faultsOf(err)
	switch {
	case f.Code == codeInterrupted:
		f.Message = "interrupted"
	case errors.As(err, new(lintFailed)):
		f.Message = err.Error()
	case errors.Is(err, errFailed):
		f.Message = failedChecks(checks)
	case faults != nil:
		for _, e := range faults {
			f.Faults = append(f.Faults, fault{visible(e.File), e.Pos.Line, e.Pos.Col, oneLine(e.Msg), oneLine(e.Hint)})
		}
		f.Message, f.Hint = splitHint(oneLine(faultText(faults[0])), oneLine(faults[0].Hint))
		if n := len(faults); n > 1 {
			f.Message += fmt.Sprintf(", the first of %d faults", n)
		}
	default:
		f.Message, f.Hint = splitHint(textOf(err), visible(hintOf(err)))
	}
	return f
}

// failedChecks names the checks that failed.
func failedChecks(checks []trial.Check) string {
	var names []string
	for _, c := range checks {
		if c.Status == trial.Fail {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return errFailed.Error()
	}
	return fmt.Sprintf("%s: %s", counted(len(names), "check failed", "checks failed"), strings.Join(names, ", "))
}

// counted formats a number with its noun in singular or plural.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// splitHint removes the hint from the text of an error; both are one line.
func splitHint(text, hint string) (message, rest string) {
	if hint == "" {
		return text, ""
	}
	return strings.Replace(text, "; "+hint, "", 1), hint
}

// hintOf returns the hint of an error.
func hintOf(err error) string {
	var input badInput
	if errors.As(err, &input) && input.hint != "" {
		return input.hint
	}
	var other *alternative
	var engine *ane.Error
	var program *mil.Error
	var array *npy.Error
	var image *picture.Error
	var weights *blob.Error
	var memory *unimem.Error
	var placed *attributes.Error
	var named *chip.Error
	var rule *lint.UnknownRule
	var language *decoder.Error
	var guest *wasm.Error
	var absent *probe.Unavailable
	var tensors *safetensors.Error
	var bridge interface{ Hint() string } // of objcbridge
	switch {
	case errors.As(err, &other):
		return strings.TrimPrefix(hintOf(other.err)+"; "+other.hint, "; ")
	case errors.As(err, &absent):
		return absent.Hint
	case errors.As(err, &language) && language.Hint != "":
		return language.Hint
	case errors.As(err, &guest) && guest.Hint != "":
		return guest.Hint
	case errors.As(err, &named):
		return named.Hint
	case errors.As(err, &rule):
		return rule.Hint
	case errors.As(err, &engine) && engine.Hint != "":
		return engine.Hint
	case errors.As(err, &program) && program.Hint != "":
		return program.Hint
	case errors.As(err, &array) && array.Fix != "":
		return array.Fix
	case errors.As(err, &image) && image.Fix != "":
		return image.Fix
	case errors.As(err, &weights) && weights.Hint != "":
		return weights.Hint
	case errors.As(err, &memory) && memory.Hint != "":
		return memory.Hint
	case errors.As(err, &placed):
		return placed.Hint
	case errors.As(err, &tensors):
		return tensors.Hint
	case errors.As(err, &bridge):
		return bridge.Hint()
	}
	return ""
}
