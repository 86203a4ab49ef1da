package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// id names a test; Test is empty for a whole package.
type id struct{ Package, Test string }

// log reads events and prints what go test would without -json.
type log struct {
	out   io.Writer
	text  map[id]*strings.Builder // of what has not ended yet
	ran   []id
	skips []skip
}

// skip is a test that was skipped, and why.
type skip struct {
	id
	reason string
}

func newLog(out io.Writer) *log {
	return &log{out: out, text: map[id]*strings.Builder{}}
}

// read takes events until the end of r. A line that is none is printed.
func (l *log) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if line != "" && (json.Unmarshal([]byte(line), &e) != nil || e.Action == "") {
			fmt.Fprint(l.out, line)
		} else if line != "" {
			l.take(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *log) take(e event) {
	at := id{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(l.out, e.Output)
	case "output":
		if l.text[at] == nil {
			l.text[at] = &strings.Builder{}
		}
		l.text[at].WriteString(e.Output)
	case "pass", "fail", "skip":
		text := ""
		if b := l.text[at]; b != nil {
			text = b.String()
		}
		delete(l.text, at)
		if e.Test == "" {
			l.end(e, text)
			return
		}
		switch e.Action {
		case "skip":
			l.skips = append(l.skips, skip{at, reason(text)})
			return
		case "fail":
			fmt.Fprint(l.out, text)
		}
		l.ran = append(l.ran, at)
	}
}

// marker begins the line of a package that skips all of its tests; see leaktest.
const marker = "skipped: "

// end is the end of a package: its last line says how it went, those before are of
// interest when it failed.
func (l *log) end(e event, text string) {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if e.Action == "fail" {
		for at, b := range l.text { // of tests that the end of the process cut short
			if at.Package == e.Package {
				fmt.Fprint(l.out, b.String())
				delete(l.text, at)
			}
		}
		fmt.Fprintln(l.out, strings.Join(lines, ""))
		return
	}
	for _, line := range lines {
		if why, ok := strings.CutPrefix(line, marker); ok {
			l.skips = append(l.skips, skip{id{Package: e.Package}, strings.TrimSpace(why)})
		}
	}
	fmt.Fprintln(l.out, lines[len(lines)-1])
}

// place is where go test says that a test has said something.
var place = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)

// reason is the last thing that a skipped test said.
func reason(text string) string {
	all := place.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return "no reason given"
	}
	return all[len(all)-1][1]
}

// note adds what was read to a file.
func (l *log) note(path string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, r := range l.ran {
		fmt.Fprintf(w, "ran\t%s\t%s\n", r.Package, r.Test)
	}
	for _, s := range l.skips {
		fmt.Fprintf(w, "skipped\t%s\t%s\t%s\n", s.Package, s.Test, s.reason)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
