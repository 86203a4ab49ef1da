package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// printReport prints the tests of a file of notes that were skipped and never ran. It omits a
// package that was skipped as a whole if any of its tests ran in another run.
func printReport(w io.Writer, notes string) error {
	f, err := os.Open(notes)
	if err != nil {
		return err
	}
	defer f.Close()
	ran, packages := map[id]bool{}, map[string]bool{}
	var skips []skip
	for lines := bufio.NewScanner(f); lines.Scan(); {
		part := strings.SplitN(lines.Text(), "\t", 4)
		switch {
		case part[0] == "ran" && len(part) == 3:
			ran[id{part[1], part[2]}], packages[part[1]] = true, true
		case part[0] == "skipped" && len(part) == 4:
			skips = append(skips, skip{id{part[1], part[2]}, part[3]})
		}
	}
	skips = slices.DeleteFunc(skips, func(s skip) bool { return ran[s.id] || s.Test == "" && packages[s.Package] })
	_, err = fmt.Fprintln(w, summary(skips))
	return err
}

// summary lists skipped tests on one line, by reason.
func summary(skips []skip) string {
	names := map[string][]string{}
	var reasons []string
	count := 0
	for _, s := range skips {
		name := strings.TrimSpace(path.Base(s.Package) + " " + s.Test)
		if slices.Contains(names[s.reason], name) {
			continue
		}
		if names[s.reason] == nil {
			reasons = append(reasons, s.reason)
		}
		names[s.reason] = append(names[s.reason], name)
		count++
	}
	if count == 0 {
		return "no test was skipped"
	}
	var parts []string
	for _, r := range reasons {
		parts = append(parts, strings.Join(names[r], ", ")+": "+r)
	}
	return fmt.Sprintf("skipped %d: %s", count, strings.Join(parts, " | "))
}
