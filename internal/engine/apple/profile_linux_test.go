package apple_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/objcbridge"
)

// Environment variables of a child process of these tests: its case, the framework's profile, and TMPDIR, which
// TestMain changes.
const (
	caseEnv    = "ANEKIT_APPLE_TEST_CASE"
	profileEnv = "ANEKIT_APPLE_TEST_PROFILE"
	tmpdirEnv  = "ANEKIT_APPLE_TEST_TMPDIR"
)

// cases run in their own process, since a process starts the framework once.
var cases = map[string]func(t *testing.T, f *standin.Framework){
	"runs": func(t *testing.T, f *standin.Framework) {
		src, sum := adder(t, fresh(), oneFile)
		require.NoError(t, newSourceRig(t, opened(t, f), src).run(t.Context(), 1, sum))
	},
	"one file": func(t *testing.T, f *standin.Framework) {
		src, sum := adder(t, fresh(), oneFile)
		r := newSourceRig(t, opened(t, f), src)
		require.NoError(t, r.run(t.Context(), 1, sum))
		require.EqualValues(t, 2, f.Counts().Compiles, "it and the known answer")
		require.Empty(t, r.model.Receipt().Notes)
	},
	"several files are packed": func(t *testing.T, f *standin.Framework) {
		e := opened(t, f)
		src, sum := adder(t, fresh(), several...)
		r := newSourceRig(t, e, src)
		require.NoError(t, r.run(t.Context(), 1, sum))
		require.Len(t, e.Met(), 1)
		require.EqualValues(t, 10, e.Met()[0].Err.Code)
		require.True(t, e.Met()[0].Recovered)
		require.Contains(t, strings.Join(r.model.Receipt().Notes, "\n"), "refuses several weight files, so 3 are copied into one")

		f.PurgeAll()
		require.NoError(t, r.model.Unload(t.Context()))
		require.NoError(t, r.model.Load(t.Context()), "made again, packed at once")
		require.NoError(t, r.run(t.Context(), 2, sum))
		require.Equal(t, 1, e.Met()[0].Count)

		before := f.Counts().Compiles
		src, sum = adder(t, fresh(), several...)
		other := newSourceRig(t, e, src)
		require.NoError(t, other.run(t.Context(), 1, sum))
		require.Equal(t, before+1, f.Counts().Compiles, "the engine packs the next program at once")
		require.Equal(t, 1, e.Met()[0].Count)
		require.Contains(t, strings.Join(other.model.Receipt().Notes, "\n"), "so 3 are copied into one")
	},
	"several files are not packed": func(t *testing.T, f *standin.Framework) {
		e := opened(t, f)
		src, sum := adder(t, fresh(), several...)
		r := newSourceRig(t, e, src)
		require.NoError(t, r.run(t.Context(), 1, sum))
		require.Empty(t, e.Met())
		require.Empty(t, r.model.Receipt().Notes)
	},
	"virtual machine": func(t *testing.T, f *standin.Framework) {
		_, err := apple.Open(t.Context(), f.Config())
		require.ErrorIs(t, err, ane.ErrUnavailable)
		require.ErrorContains(t, err, "no Neural Engine")
		require.ErrorContains(t, err, "virtual machines have none")
		require.Zero(t, f.Counts().Compiles)

		b, p := bridged(t, f)
		d, err := b.Device()
		require.NoError(t, err)
		require.Equal(t, objcbridge.AnswerYes, d.VirtualMachine)
		require.Equal(t, objcbridge.AnswerNo, d.HasANE)
		_, err = p.Compile(21)
		require.Error(t, err)
	},
	"refused": func(t *testing.T, f *standin.Framework) {
		_, err := apple.Open(t.Context(), f.Config())
		require.ErrorIs(t, err, ane.ErrUnavailable)
		require.ErrorContains(t, err, "unset TMPDIR")
		require.ErrorContains(t, err, os.Getenv("TMPDIR"))
		require.ErrorContains(t, err, os.Getenv(standin.EnvTempDir))
		require.Zero(t, f.Counts().Compiles, "before compiling")
	},
	// The engine does not notice in time if the folder changes after it was opened.
	"refused by the framework": func(t *testing.T, f *standin.Framework) {
		_, p := bridged(t, f)
		_, err := p.Compile(21)
		var e *objcbridge.Error
		require.ErrorAs(t, err, &e)
		require.EqualValues(t, 10, e.Code)
		require.Equal(t, "verifyBundleAtPath: invalid model", e.Message)
		require.ErrorContains(t, err, "unset TMPDIR")
	},
	"one of several processes": func(t *testing.T, f *standin.Framework) {
		e := opened(t, f)
		src, sum := adder(t, 1, several...) // the same in all processes
		r := newSourceRig(t, e, src)
		for i := range 20 {
			f.PurgeAll()
			require.NoError(t, r.model.Unload(t.Context()))
			require.NoError(t, r.model.Load(t.Context()))
			require.NoError(t, r.run(t.Context(), float32(i), sum))
		}
	},
}

var several = []string{"@model_path/weights/a.bin", "@model_path/weights/b.bin", "@model_path/c.bin"}

func opened(t *testing.T, f *standin.Framework) *apple.Engine {
	e, err := apple.Open(t.Context(), f.Config())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// TestCase is a child process.
func TestCase(t *testing.T) {
	name := os.Getenv(caseEnv)
	if name == "" {
		t.Skip("a child of other tests")
	}
	if dir, set := os.LookupEnv(tmpdirEnv); set {
		t.Setenv("TMPDIR", dir)
	}
	var err error
	started.f, err = standin.Start(standin.Options{Profile: os.Getenv(profileEnv)})
	require.NoError(t, err)
	cases[name](t, started.f)
}

// inCase is a process of this test binary that runs a case.
func inCase(t *testing.T, name, profile string, env ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestCase$", "-test.v")
	c.Env = append(os.Environ(), objcbridge.EnvDir+"="+bridgetest.Build(t), caseEnv+"="+name, profileEnv+"="+profile)
	c.Env = append(c.Env, env...)
	return c
}

func passes(t *testing.T, c *exec.Cmd) {
	t.Helper()
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestCase")
}

// private returns a folder as macOS has for each user.
func private(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(dir, 0o700))
	return dir
}

// A virtual machine has the framework without an engine, as hosted runners do.
func TestVirtualMachine(t *testing.T) {
	passes(t, inCase(t, "virtual machine", "26-vm", standin.EnvTempDir+"="+private(t, "user")))
}

// TestFolderOfPrograms: macOS 27 compiles only in the user's own folder, and a program says so before it compiles. The
// dump code-10-on-27 has what fails and what works.
func TestFolderOfPrograms(t *testing.T) {
	user := private(t, "user")
	below := filepath.Join(user, "below")
	require.NoError(t, os.Mkdir(below, 0o700))
	same := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(user, same))
	for name, c := range map[string]struct{ name, profile, tmpdir string }{
		"27, no TMPDIR":                   {"runs", "27", ""},
		"27, the user's folder":           {"runs", "27", user},
		"27, a folder below it":           {"refused", "27", below},
		"27, another folder":              {"refused", "27", private(t, "other")},
		"27, the framework, below":        {"refused by the framework", "27", below},
		"27, the framework, other":        {"refused by the framework", "27", private(t, "other")},
		"27, another name of the user's":  {"runs", "27", same},
		"26, another folder":              {"runs", "26", private(t, "other")},
		"26, a folder below it":           {"runs", "26", below},
		"27-names, the user's own folder": {"runs", "27-names", user},
	} {
		t.Run(name, func(t *testing.T) {
			passes(t, inCase(t, c.name, c.profile, standin.EnvTempDir+"="+user, tmpdirEnv+"="+c.tmpdir))
		})
	}
}

// With the rules of macOS TMPDIR counts without a folder named for the stand-in, as on a Mac.
func TestForeignFolderWithTheRulesOfMacOS(t *testing.T) {
	if !host.Mac {
		t.Skip("without the rules of macOS each process has a folder; run make mac")
	}
	other := private(t, "other")
	passes(t, inCase(t, "refused", "27", standin.EnvTempDir+"=", tmpdirEnv+"="+other))
	passes(t, inCase(t, "runs", "26", standin.EnvTempDir+"=", tmpdirEnv+"="+other))
	passes(t, inCase(t, "runs", "27", standin.EnvTempDir+"=", tmpdirEnv+"="))
}

// TestSeveralWeightFiles: the engine packs several weight files where the framework refuses them, and only there.
func TestSeveralWeightFiles(t *testing.T) {
	for _, c := range [][2]string{
		{"one file", "26"}, {"one file", "27"}, {"one file", "27-names"},
		{"several files are packed", "27"},
		{"several files are not packed", "26"}, {"several files are not packed", "27-names"},
	} {
		t.Run(c[0]+" on "+c[1], func(t *testing.T) { passes(t, inCase(t, c[0], c[1])) })
	}
}

// TestProcessesOfOneProgram: processes that compile, load and unload one program at the same time, in one folder, do
// not remove each other's files, and leave nothing there.
func TestProcessesOfOneProgram(t *testing.T) {
	user := private(t, "user")
	var all sync.WaitGroup
	outputs := make([]bytes.Buffer, 4)
	errs := make([]error, len(outputs))
	for i := range outputs {
		c := inCase(t, "one of several processes", "26", standin.EnvTempDir+"="+user, tmpdirEnv+"=")
		c.Stdout, c.Stderr = &outputs[i], &outputs[i]
		all.Go(func() { errs[i] = c.Run() })
	}
	all.Wait()
	for i := range outputs {
		require.NoError(t, errs[i], &outputs[i])
	}
	left, err := os.ReadDir(user)
	require.NoError(t, err)
	require.Empty(t, left)
}
