package apple

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/objcbridge"
)

// dialectRule is lint's name of the rule that a text in the new dialect breaks on macOS 13 and 14.
const dialectRule = "opset-os"

// print returns the text of a tree in the dialect that the framework's compiler reads.
func (e *Engine) print(file string, p *mil.Program) ([]byte, error) {
	if e.info.Dialect == mil.NewText {
		return mil.Print(p), nil
	}
	old, err := mil.Convert(p, e.info.Dialect)
	if err != nil {
		return nil, &ane.Error{Op: "compile", Engine: e.cfg.Name, Name: file, Rule: dialectRule,
			Err: ane.Because(ane.ErrCompile, in(file, err))}
	}
	return mil.Print(old), nil
}

// in returns faults with the name of their file.
func in(file string, err error) (list mil.ErrorList) {
	var faults mil.ErrorList
	errors.As(err, &faults)
	for _, f := range faults {
		placed := *f
		placed.File = file
		list.Add(&placed)
	}
	return list
}

// undialectal returns the error for a text that the framework has refused because of its dialect, or nil. Such a text
// is not in the dialect of the known answer, and has no other fault.
func (e *Engine) undialectal(src ane.Source, p *mil.Program, refusal *objcbridge.Error) error {
	if e.info.Dialect == mil.NewText || src.Text == nil {
		return nil
	}
	old, err := mil.Convert(p, e.info.Dialect)
	if err == nil && mil.Equal(p, old) {
		return nil
	}
	if _, fault := ops.Analyze(src.File, p, src.Function, src.Weights); fault != nil {
		return nil
	}
	list := mil.ErrorList{{File: src.File, Pos: p.Pos, Err: refusal,
		Msg: fmt.Sprintf("the compiler of macOS 13 and 14 reads the %v dialect of MIL, and this one has refused even the "+
			"known answer in the %v one: %s", e.info.Dialect, mil.NewText, reason(refusal)),
		Hint: "convert it with `ane-roundtrip fmt --dialect old`, or give Source.Program, which is printed so"}}
	if err != nil { // the dialect has no words for these
		list = in(src.File, err)
	}
	return &ane.Error{Op: "compile", Engine: e.cfg.Name, Name: src.File, Err: ane.Because(ane.ErrCompile, list),
		Rule: dialectRule, Domain: refusal.Domain, Code: int(refusal.Code)}
}
