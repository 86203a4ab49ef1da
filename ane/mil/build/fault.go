package build

import (
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// place is a line of Go.
type place struct {
	file string
	line int
}

func (p place) String() string { return p.file + ":" + strconv.Itoa(p.line) }

// on puts a fault there.
func (p place) on(e *mil.Error) *mil.Error {
	e.File, e.Pos = p.file, mil.Pos{Line: p.line}
	return e
}

// caller is the line that called into this package.
func caller() place {
	inside := reflect.TypeFor[Builder]().PkgPath() + "."
	var pcs [16]uintptr // more than this package nests
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, inside) || !more {
			return place{frame.File, frame.Line}
		}
	}
}

const nameHint = "names are ASCII letters, digits and _, start with no digit and are no words of the language"

// longest is the number of bytes of a name that messages show.
const longest = 60

// quote shows a name in a message.
func quote(name string) string {
	if len(name) > longest {
		return strconv.Quote(name[:longest]) + ".."
	}
	return strconv.Quote(name)
}
