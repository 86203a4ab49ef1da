// Package jinja renders the templates that models of language are published with, as Jinja2 does under the settings of
// transformers: trim_blocks and lstrip_blocks, break and continue, {% generation %}, tojson without escapes,
// raise_exception and strftime_now, and the sandbox that refuses to change lists and dicts.
//
// A template reads no file, and a Render is bounded: in its work, its text and its depth. The values of a template are
// those of Python: an undefined name is no None, integers are no floats, and dicts keep the order of their keys.
//
// # Why no library
//
// gonja (v2.9.1) rejects conditions inside an expression, line breaks inside of one, and targets of several names. It
// knows no difference between None and an undefined name, sorts the keys of dicts, and cannot be interrupted. These are
// parts of its parser, evaluator and values, which have no points of extension. RATIONALE.md has the comparison.
package jinja

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/anekit/anekit/internal/errtext"
)

// The kinds of error, for errors.Is.
var (
	// ErrTemplate: a template that is no Jinja, or that fails on the values.
	ErrTemplate = errors.New("template cannot be rendered")
	// ErrRefused: the template called raise_exception. Detail has its words.
	ErrRefused = errors.New("the template refuses the conversation")
	// ErrBudget: the template needs more than it may.
	ErrBudget = errors.New("template exceeds its budget")
)

// Error is the error type of this package.
type Error struct {
	errtext.Base     // the fields Op ("parse" or "render"), Err (a kind, or that of a context) and Detail
	Line         int // of the template, from 1
}

// Error returns the text on one line.
func (e *Error) Error() string { return e.Base.Line("chat template: line " + itoa(e.Line)) }

// Budgets of a template.
const (
	maxSource = 1 << 20  // bytes
	maxText   = 64 << 20 // bytes that a template writes
	maxWork   = 8 << 20  // some seconds
	maxDepth  = 200      // of nested expressions and tags, of values, and of calls
	perCheck  = 1 << 12
)

// Template is a parsed template. Several goroutines may use it.
type Template struct{ body []statement }

// Parse parses a template. The error matches ErrTemplate or ErrBudget.
func Parse(source string) (t *Template, err error) {
	p := &parser{line: 1}
	defer caught("parse", &p.line, &err)
	if len(source) > maxSource {
		panic(fault{ErrBudget, itoa(len(source)) + " bytes, at most " + itoa(maxSource)})
	}
	p.tokens = lex(source, &p.line)
	return &Template{p.body()}, nil
}

// Render returns the text of a template for the variables, a Dict. now is the time of strftime_now.
//
// Errors match ErrTemplate, ErrRefused, ErrBudget or the one of ctx.
func (t *Template) Render(ctx context.Context, variables *Dict, now time.Time) (text string, err error) {
	r := &run{ctx: ctx, out: new(strings.Builder), now: now, line: 1}
	defer caught("render", &r.line, &err)
	global := &frame{run: r}
	r.globals(global)
	f := global.inner()
	for name, value := range variables.All() {
		f.set(name, value)
	}
	f = f.inner()
	exec(f, t.body)
	return r.out.String(), nil
}

// fault is what parser and evaluation panic with.
type fault struct {
	kind   error
	detail string
}

// fail ends a parse or a render: the template is wrong.
func fail(words ...string) { panic(fault{ErrTemplate, strings.Join(words, "")}) }

// caught makes an Error of a fault.
func caught(op string, line *int, err *error) {
	switch e := recover().(type) {
	case nil:
	case fault:
		*err = &Error{errtext.Base{Op: op, Err: e.kind, Detail: e.detail}, *line}
	default:
		panic(e)
	}
}

// run is one Render.
type run struct {
	ctx         context.Context
	out         *strings.Builder
	now         time.Time
	line        int // of the statement
	work, depth int
	check       int // the work at which ctx is asked next
}

// spend counts work: a step of the template, or 16 bytes that it reads or makes. It ends a run that exceeds its budget
// or whose context is done.
func (r *run) spend(n int) {
	if r.work += n; r.work < r.check {
		return
	}
	if r.check = r.work + perCheck; r.work > maxWork || n < 0 {
		panic(fault{ErrBudget, "it does not end"})
	}
	if err := r.ctx.Err(); err != nil {
		panic(fault{err, ""})
	}
}

// bytes counts the work of n bytes, and returns n.
func (r *run) bytes(n int) int {
	if n > maxText || n < 0 {
		panic(fault{ErrBudget, "a text of more than " + itoa(maxText) + " bytes"})
	}
	r.spend(n / 16)
	return n
}

// write writes to the text.
func (r *run) write(s string) {
	r.bytes(r.out.Len() + len(s) - max(0, r.out.Len()-len(s))) // about 2 len(s)
	if r.out.Len()+len(s) > maxText {
		panic(fault{ErrBudget, "a text of more than " + itoa(maxText) + " bytes"})
	}
	r.out.WriteString(s)
}

// enter counts a level of depth; the caller calls leave.
func (r *run) enter() {
	if r.depth++; r.depth > maxDepth {
		panic(fault{ErrBudget, "more than " + itoa(maxDepth) + " levels"})
	}
}

func (r *run) leave() { r.depth-- }

// captured returns what work writes.
func (r *run) captured(work func()) string {
	outer := r.out
	r.out = new(strings.Builder)
	defer func() { r.out = outer }()
	work()
	return r.out.String()
}

// frame is a scope of names.
type frame struct {
	*run
	names []binding // few
	outer *frame
}

type binding struct {
	name  string
	value any
}

func (f *frame) inner() *frame { return &frame{run: f.run, outer: f} }

// set gives a name of this scope a value.
func (f *frame) set(name string, v any) {
	for i := range f.names {
		if f.names[i].name == name {
			f.names[i].value = v
			return
		}
	}
	f.names = append(f.names, binding{name, v})
}

// get returns the value of a name.
func (f *frame) get(name string) any {
	for at := f; at != nil; at = at.outer {
		for i := range at.names {
			if at.names[i].name == name {
				return at.names[i].value
			}
		}
	}
	return undefined{quoted(name) + " is undefined"}
}
