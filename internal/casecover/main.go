// Command casecover completes the coverage that gremlins, the mutation tester of make mutate, reads. It stands in for
// the go command there and runs go with the same arguments. Then it adds to the profile of go test -coverprofile the
// code for which go counts nothing:
//
//   - the conditions of a switch's cases, as often as the function around them ran
//   - constants, variables and types of a package, once
//
// Without these lines gremlins takes the mutants there for uncovered and runs no test on
// them. A run with -coverprofile is never one from the cache: gremlins derives the time
// that it gives every mutant from it.
//
// CASECOVER_GO is the go command.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
)

func main() {
	args := slices.Clone(os.Args[1:])
	profile := ""
	if i := slices.Index(args, "-coverprofile"); i >= 0 && i+1 < len(args) {
		profile = args[i+1]
		args = slices.Insert(args, i, "-count=1")
	}
	cmd := exec.Command(os.Getenv("CASECOVER_GO"), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if err == nil && profile != "" {
		err = complete(profile)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "casecover:", err)
		os.Exit(max(1, cmd.ProcessState.ExitCode()))
	}
}
