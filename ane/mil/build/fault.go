package build

import (
	"os"
	"path/filepath"
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

func (p place) String() string { return short(p.file) + ":" + strconv.Itoa(p.line) }

// short makes an absolute path relative to the working directory if it lies below
// it, and cuts it to its last two elements otherwise.
func short(path string) string {
	if !filepath.IsAbs(path) { // built with -trimpath
		return path
	}
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

func (p place) on(e *mil.Error) *mil.Error {
	e.File, e.Pos = short(p.file), mil.Pos{Line: p.line}
	return e
}

// caller returns the line that called into this package.
func caller() place {
	inside := reflect.TypeFor[Builder]().PkgPath() + "."
	var pcs [16]uintptr // more frames than this package nests
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, inside) || !more {
			return place{frame.File, frame.Line}
		}
	}
}

const nameHint = "a name is ASCII letters, digits and _, does not start with a digit and is not a reserved word"

// longest is the number of bytes that messages show of a name.
const longest = 60

func quote(name string) string {
	if len(name) > longest {
		return strconv.Quote(name[:longest]) + ".."
	}
	return strconv.Quote(name)
}
