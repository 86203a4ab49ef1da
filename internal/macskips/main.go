// Command macskips checks why tests were skipped in a build with the rules of macOS.
//
//	go run ./internal/macskips RESULTS
//
// RESULTS is the output of go test -json. Each skip has to give a reason that reasons.txt lists, with the constant of
// package internal/host that the host lacks. Another reason ends the command with status 1, so that no test stops
// running unseen.
package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

//go:embed reasons.txt
var list string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: macskips RESULTS")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err == nil {
		defer f.Close()
		err = check(f, list, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "macskips:", err)
		os.Exit(1)
	}
}

// reason is a line of the list: what is missing, and a part of the texts that say so.
type reason struct{ missing, part string }

// reasons reads the list.
func reasons(list string) (all []reason) {
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if missing, part, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
			all = append(all, reason{missing, strings.TrimSpace(part)})
		}
	}
	return all
}

// check counts the skips by what is missing and returns an error that names those of another reason.
func check(results io.Reader, list string, w io.Writer) error {
	skips, err := skipped(results)
	if err != nil {
		return err
	}
	known, counts := reasons(list), map[string]int{}
	var unknown []string
	for _, test := range slices.Sorted(maps.Keys(skips)) {
		text := skips[test]
		i := slices.IndexFunc(known, func(r reason) bool { return strings.Contains(text, r.part) })
		if i < 0 {
			unknown = append(unknown, test+": "+text)
			continue
		}
		counts[known[i].missing]++
	}
	for _, missing := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(w, "skipped for want of %s: %d\n", missing, counts[missing])
	}
	if len(unknown) > 0 {
		return fmt.Errorf("skipped for a reason that is not in reasons.txt:\n  %s", strings.Join(unknown, "\n  "))
	}
	return nil
}

// message is the position before the text of a skip.
var message = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// skipped returns the skipped tests, by package and name, with the texts they printed.
func skipped(results io.Reader) (map[string]string, error) {
	texts, skips := map[string]string{}, map[string]string{}
	lines := bufio.NewScanner(results)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%q is no line of go test -json: %w", lines.Text(), err)
		}
		key := e.Package + " " + e.Test
		switch {
		case e.Test == "":
		case e.Action == "output" && message.MatchString(e.Output):
			texts[key] += message.ReplaceAllString(strings.TrimSpace(e.Output)+" ", "")
		case e.Action == "output" && strings.HasPrefix(e.Output, "        "): // the rest of a text of several lines
			texts[key] += strings.TrimSpace(e.Output) + " "
		case e.Action == "skip":
			skips[key] = strings.TrimSpace(texts[key])
		}
	}
	return skips, lines.Err()
}
