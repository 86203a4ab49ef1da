package jinja

import (
	"strings"
	"time"
)

// globals are the names that every template has.
func (r *run) globals(f *frame) {
	for named, call := range map[string]func(f *frame, a *arguments) any{
		"range":           spanned,
		"dict":            dictOf,
		"namespace":       func(f *frame, a *arguments) any { return &namespace{*dictOf(f, a).(*Dict)} },
		"raise_exception": raise,
		"strftime_now": func(f *frame, a *arguments) any {
			return strftime(f.now, str(a.at(0, "format"), "the format"))
		},
	} {
		f.set(named, &function{name: named, call: call})
	}
}

// raise refuses the conversation with the words of the template.
func raise(f *frame, a *arguments) any {
	panic(fault{ErrRefused, f.text(a.at(0, "message"))})
}

// maxRange is how many integers a range may have, as in the sandbox.
const maxRange = 100_000

func spanned(f *frame, a *arguments) any {
	from, to, step := 0, integer(a.at(0, "stop"), "range"), 1
	if len(a.all) > 1 {
		from, to = to, integer(a.all[1], "range")
	}
	if len(a.all) > 2 {
		step = integer(a.all[2], "range")
	}
	if step == 0 {
		fail("range() arg 3 must not be zero")
	}
	all := []any{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		if f.spend(2); len(all) == maxRange {
			fail("a range of more than ", itoa(maxRange), " integers")
		}
		all = append(all, i)
		if next := i + step; (next > i) != (step > 0) {
			break
		}
	}
	return &view{"range", all}
}

func dictOf(_ *frame, a *arguments) any {
	d := &Dict{}
	if len(a.all) > 0 {
		from, ok := a.all[0].(*Dict)
		if !ok {
			fail("dict takes a mapping or names")
		}
		d.Merge(from)
	}
	d.Merge(&a.named)
	return d
}

// strftime writes a time as Python does in the locale C.
func strftime(now time.Time, form string) string {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(form, "%")
		if out.WriteString(before); !ok || after == "" {
			return out.String()
		}
		bare := strings.HasPrefix(after, "-") && len(after) > 1
		if bare {
			after = after[1:]
		}
		layout, ok := map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'e': "_2",
			'm': "01", 'y': "06", 'Y': "2006", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002",
			'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'x': "01/02/06", 'X': "15:04:05",
			'c': "Mon Jan _2 15:04:05 2006", 'Z': "", 'z': "", '%': "%"}[after[0]]
		if !ok {
			fail("strftime_now: the format %", after[:1], " is not supported")
		}
		part := now.Format(layout)
		if bare {
			part = strings.TrimLeft(part[:len(part)-1], "0 ") + part[len(part)-1:]
		}
		out.WriteString(part)
		form = after[1:]
	}
}
