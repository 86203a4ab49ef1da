package apple_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
)

// childRun is the environment variable with the task of a child process. A test
// needs a process for each framework, since classes cannot be unloaded.
const childRun = "ANEKIT_DEVICE_TEST_CHILD"

// task is the work of a child.
type task struct {
	Options  standin.Options
	Programs int      // number of different programs to compile, each closed before the next
	Keep     bool     // close all programs only at the end
	Wait     bool     // at the end print a line, and wait until the input ends
	Surfaces bool     // evaluate on surfaces of several sizes
	Texts    []string // compiled after the programs
}

// outcome is the result of a child.
type outcome struct {
	Start, Inspect, Open string            // errors
	Unavailable          bool              // Open matched ErrUnavailable
	Inspected            []byte            // the report of Inspect, by gob: its JSON is for readers
	Report               objcbridge.Report `json:"-"`
	Compiled             int               // number of programs compiled, all with right results
	Compile              string
	Exhausted            bool   // the last error matched ErrExhausted
	Known                string // opset of the last form of the known program that was tried
	Dialect              mil.Dialect
	Notes                []string // of the last program
	Texts                []string // errors of the texts
	Faults               []int    // how many faults each error has
	Met                  []apple.Met
	Surfaces             map[string]string // errors by kind of surfaces
	Left                 []string
}

// inChild runs a task in its own process.
func inChild(t *testing.T, job task) outcome {
	t.Helper()
	job.Options.Dir = bridgetest.Build(t)
	text, err := json.Marshal(job)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childRun+"="+string(text), "TEMP="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", out, &stderr)
	var o outcome
	require.NoError(t, json.Unmarshal(out, &o), "%s", out)
	if o.Inspected != nil {
		require.NoError(t, gob.NewDecoder(bytes.NewReader(o.Inspected)).Decode(&o.Report))
	}
	return o
}

// child runs the task and prints the outcome.
func child(run string) int {
	var job task
	if err := json.Unmarshal([]byte(run), &job); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(job.do()); err != nil {
		return 1
	}
	return 0
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (job task) do() (o outcome) {
	f, err := standin.Start(job.Options)
	if o.Start = message(err); err != nil {
		return o
	}
	started.f = f
	r, err := objcbridge.Inspect(f.Config().Bridge)
	var inspected bytes.Buffer
	if fault := gob.NewEncoder(&inspected).Encode(r); fault != nil {
		panic(fault)
	}
	o.Inspect, o.Inspected = message(err), inspected.Bytes()
	c := f.Config()
	c.Observe = func(k apple.Known, errs []apple.Met) { o.Known, o.Met = k.Opset, errs }
	e, err := apple.Open(context.Background(), c)
	o.Open, o.Unavailable = message(err), errors.Is(err, ane.ErrUnavailable)
	if err != nil {
		o.Left = leftovers()
		return o
	}
	var kept []ane.Executable
	for n := range job.Programs {
		tree, err := mil.Parse("new.mil", text(n)) // printed in the dialect of the profile
		if err != nil {
			o.Compile = message(err)
			break
		}
		x, err := e.Compile(context.Background(), ane.Source{File: "new.mil", Program: tree})
		if err != nil {
			o.Compile, o.Exhausted = message(err), errors.Is(err, ane.ErrExhausted)
			break
		}
		o.Compiled, o.Notes = o.Compiled+1, x.Notes()
		if kept = append(kept, x); !job.Keep {
			kept = nil
			if err := x.Close(); err != nil {
				o.Compile = message(err)
				break
			}
		}
	}
	if job.Surfaces {
		o.Surfaces = sized(f, e)
	}
	if job.Wait {
		fmt.Println("waiting")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	for _, x := range kept {
		if err := x.Close(); err != nil {
			o.Compile = message(err)
		}
	}
	o.Dialect = e.Info().Dialect
	for _, text := range job.Texts {
		x, err := e.Compile(context.Background(), ane.Source{File: "text.mil", Text: []byte(text)})
		var faults mil.ErrorList
		errors.As(err, &faults)
		o.Texts, o.Faults = append(o.Texts, message(err)), append(o.Faults, len(faults))
		if err == nil {
			o.Compile = cmp.Or(o.Compile, message(x.Close()))
		}
	}
	if err := e.Close(); err != nil {
		o.Open = message(err)
	}
	o.Left = leftovers()
	return o
}

// TestProfiles: the engine opens on each generation of the framework or rejects
// it by name.
func TestProfiles(t *testing.T) {
	for _, p := range []string{"15", "16.5", "17", "26", "27"} {
		t.Run(p, func(t *testing.T) {
			o := inChild(t, task{Options: standin.Options{Profile: p}, Programs: 3})
			require.Empty(t, o.Left)
			missing := slices.DeleteFunc(slices.Clone(o.Report.Checks), func(c objcbridge.Check) bool {
				return !c.Required || c.Status.String() == "ok"
			})
			if p == "15" { // macOS 12, whose compiler reads no form of the known answer
				require.True(t, o.Unavailable)
				require.Contains(t, o.Open, "known-ios18.mil")
				require.Empty(t, missing)
				return
			}
			if len(missing) == 0 {
				require.Empty(t, o.Inspect)
				require.Empty(t, o.Open)
				require.Empty(t, o.Compile)
				require.Equal(t, 3, o.Compiled)
				require.Equal(t, objcbridge.AnswerYes, o.Report.Device.HasANE)
				require.Contains(t, o.Report.Device.Build, p)
				require.NotEmpty(t, o.Report.Registry)
				return
			}
			require.True(t, o.Unavailable)
			require.Contains(t, o.Open, missing[0].Selector)
			t.Log(p, "is rejected:", o.Open)
		})
	}
}

// TestSelfCheckFindsWhatChanged: the check finds missing and changed methods
// before anything is called.
func TestSelfCheckFindsWhatChanged(t *testing.T) {
	for what, c := range map[string]struct {
		options standin.Options
		status  string
		in      string
	}{
		"class": {standin.Options{Missing: []string{"_ANERequest"}}, "no class", "_ANERequest"},
		"method": {standin.Options{Missing: []string{"_ANEInMemoryModel " + selEvaluate}}, "no selector",
			selEvaluate},
		"encoding": {standin.Options{Changed: []string{"_ANEInMemoryModel " + selEvaluate + " B@:Q@@^@"}},
			"other encoding", selEvaluate},
	} {
		t.Run(what, func(t *testing.T) {
			o := inChild(t, task{Options: c.options})
			require.True(t, o.Unavailable)
			require.Contains(t, o.Open, c.in)
			found := false
			for _, row := range o.Report.Checks {
				if row.Status.String() != "ok" && row.Required {
					found = true
					require.Equal(t, c.status, row.Status.String(), "%+v", row)
				}
			}
			require.True(t, found)
			require.Empty(t, o.Left)
		})
	}
}

// TestManyCompiles: a process compiles more programs than the 119 that callers without autorelease pools reach.
func TestManyCompiles(t *testing.T) {
	o := inChild(t, task{Programs: 200})
	require.Empty(t, o.Compile)
	require.Equal(t, 200, o.Compiled)
	require.Empty(t, o.Left)
}

// TestProgramLimit: the engine loads no more programs than its limit.
func TestProgramLimit(t *testing.T) {
	o := inChild(t, task{Options: standin.Options{ProgramLimit: 20}, Programs: 30, Keep: true})
	require.True(t, o.Exhausted, o.Compile)
	require.Equal(t, 20, o.Compiled)
	require.Empty(t, o.Left)
}
