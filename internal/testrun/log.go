package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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

// log reads events and prints the output of go test without -json.
type log struct {
	out   io.Writer
	text  map[id]*strings.Builder // output of tests and packages that have not ended yet
	ran   []id
	skips []skip
}

// skip is a skipped test with its reason.
type skip struct {
	id
	reason string
}

func newLog(out io.Writer) *log {
	return &log{out: out, text: map[id]*strings.Builder{}}
}

// read reads events until the end of r. It prints lines that are not events.
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

// marker starts the output line of a package that skips all of its tests; see leaktest.
const marker = "skipped: "

// end handles the end of a package: it prints the last line of its output, and all lines if
// the package failed.
func (l *log) end(e event, text string) {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if e.Action == "fail" {
		for at, b := range l.text { // tests that were running when the process ended
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

// place matches a line of output of a test with its place.
var place = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)

// reason returns the last message of a skipped test.
func reason(text string) string {
	all := place.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return "no reason given"
	}
	return all[len(all)-1][1]
}

// note appends the tests that were read to a file of notes.
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
	var w bytes.Buffer
	for _, r := range l.ran {
		fmt.Fprintf(&w, "ran\t%s\t%s\n", r.Package, r.Test)
	}
	for _, s := range l.skips {
		fmt.Fprintf(&w, "skipped\t%s\t%s\t%s\n", s.Package, s.Test, s.reason)
	}
	_, err = f.Write(w.Bytes()) // at once: another run may append to the same file
	return errors.Join(err, f.Close())
}
