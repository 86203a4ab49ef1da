package emulate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Texts that real machines printed.
const (
	textCompile  = "_ANECompiler : ANECCompile() FAILED"
	textCause    = "ANECCompile(..) FAILED: err=(%s)" // the path of the program's folder is left out
	textInvalid  = "InvalidMILProgram"
	textEvaluate = "ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9: Program Inference error"
	textLoad     = "createProgramInstanceForModel: Program load failure (0x50004)"
	textDied     = "the framework answers NO without an NSError: the compiler's process has ended"
)

// Codes of NSErrors.
const (
	codeCompile  = 1
	codeLoad     = 6
	codeEvaluate = 8
	codeTopK     = 22
)

// NSError is an error as Apple's framework reports it.
type NSError struct {
	Domain string
	Code   int
	Text   string
	Cause  *NSError // NSUnderlyingError; may be nil
}

// Error returns domain, code and text, and the text of the cause, with its code if that is another one.
func (e *NSError) Error() string {
	s := fmt.Sprintf("%s code %d: %s", e.Domain, e.Code, e.Text)
	switch {
	case e.Cause == nil:
	case e.Cause.Code != e.Code:
		s += fmt.Sprintf(", because %s (code %d)", e.Cause.Text, e.Cause.Code)
	default:
		s += ", because " + e.Cause.Text
	}
	return s
}

// Invalid reports whether the cause is InvalidMILProgram.
func (e *NSError) Invalid() bool {
	return e.Cause != nil && strings.Contains(e.Cause.Text, textInvalid)
}

// ErrDied: the process of the compiler has ended, and the framework gave no NSError.
var ErrDied = errors.New("the compiler's process has ended")

// compileError is the framework's refusal of a program.
func compileError(f fate) *NSError {
	cause := &NSError{Domain: driverabi.CompilerErrorDomain, Code: codeCompile, Text: fmt.Sprintf(textCause, "")}
	switch f {
	case invalid:
		cause.Text = fmt.Sprintf(textCause, textInvalid)
	case refused22:
		cause.Code = codeTopK
	}
	return &NSError{driverabi.CompilerErrorDomain, codeCompile, textCompile, cause}
}

// maxFindings is the largest number of findings that a refusal lists.
const maxFindings = 10

// refusal is the error of a program that the compiler refuses, with what lint finds at its places.
func (e *engine) refusal(file string, pos mil.Pos, f fate, found []lint.Finding) error {
	out := &ane.Error{Op: "compile", Engine: e.name, Name: file}
	answer, cause := textDied, ErrDied
	if f != dies {
		ns := compileError(f)
		answer, cause = ns.Error(), ns
		out.Domain, out.Code = ns.Domain, ns.Code
	}
	var list mil.ErrorList
	for _, f := range found[:min(len(found), maxFindings)] {
		list.Add(&mil.Error{File: f.File, Pos: f.Pos, Hint: f.Fix,
			Msg: fmt.Sprintf("%s [%s]", f.Message, f.Rule.ID)})
	}
	list.Add(&mil.Error{File: file, Pos: pos, Msg: "the compiler for " + e.chip.Target() + " refuses the program: " +
		answer})
	out.Err = ane.Because(ane.Because(ane.ErrCompile, cause), list)
	return out
}

// loadError is the error of a program that does not load.
func (e *engine) loadError(file, detail, hint string) error {
	ns := &NSError{driverabi.ErrorDomain, codeLoad, textLoad, nil}
	return &ane.Error{Op: "load", Engine: e.name, Name: file, Domain: ns.Domain, Code: ns.Code,
		Err: ane.Because(ane.ErrExhausted, ns), Detail: detail, Hint: hint}
}

// evaluateError is the error of an evaluate in a process that a program has spoiled.
func (e *engine) evaluateError(op string) error {
	ns := &NSError{driverabi.ErrorDomain, codeEvaluate, textEvaluate, nil}
	return &ane.Error{Op: op, Engine: e.name, Domain: ns.Domain, Code: ns.Code, Err: ane.Because(ane.ErrShort, ns),
		Detail: "a program of this process has tile", Rule: "tile-poison",
		Hint: "write concat instead of tile, and start the process again"}
}
