package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	private "github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/gpu"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/probe"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/growthbench"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/internal/tripbench"
	"github.com/anekit/anekit/internal/weightbench"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

func TestMain(m *testing.M) {
	private.ServeChild()
	tripbench.ServeSignals()
	growthbench.ServeClient()
	weightbench.ServeChild()
	probe.ServeLookup()
	if err := errors.Join(leaktest.ShortTempDir(), bridgetest.ForBlocks()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testscript.Main(m, map[string]func(){"ane-roundtrip": main})
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errw io.Writer) int {
	return cli.New(rootCommand, args, out, errw).Execute(ctx)
}

// TestScripts runs the command as a user does: a script for each subcommand.
func TestScripts(t *testing.T) { scripts(t, "script", nil) }

// TestStandInScripts runs scripts on the bridge over stand-in classes.
func TestStandInScripts(t *testing.T) {
	dir := bridgetest.Build(t)
	dumps, err := filepath.Abs("../../testdata/dumps")
	require.NoError(t, err)
	scripts(t, "standin", func(e *testscript.Env) error {
		e.Setenv(objcbridge.EnvDir, dir)
		e.Setenv("DUMPS", dumps)
		tmp := e.Getenv("TMPDIR")
		e.Setenv("TEMP", tmp)       // GNUstep reads TEMP, not TMPDIR
		return os.Chmod(tmp, 0o700) // else GNUstep creates a folder in it and does not remove it
	})
}

func scripts(t *testing.T, dir string, more func(*testscript.Env) error) {
	setup := func(e *testscript.Env) error {
		// Variables of the condition gpu, and the folder in which Blocks find their library with the rules of macOS.
		names := []string{gpu.EnvDevice, "VK_DRIVER_FILES", "VK_ICD_FILENAMES"}
		if host.Mac {
			names = append(names, bridgedir.Env)
		}
		for _, name := range names {
			if v, ok := os.LookupEnv(name); ok {
				e.Setenv(name, v)
			}
		}
		var err error
		if more != nil {
			err = more(e)
		}
		if host.Mac { // see leaktest.ShortTempDir
			e.Setenv("TMPDIR", os.Getenv("TMPDIR"))
		}
		return err
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("../../testdata", dir),
		Setup:               setup,
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"npy":       makeArray,
			"values":    compareArray,
			"photo":     makePicture,
			"pixel":     comparePixel,
			"json":      compareJSON,
			"mkweights": makeWeights,
			"mkmodel":   makeModel,
			"joined":    joinedFiles,
			"flip":      flipBit,
			"status":    expectStatus,
			"serving":   waitServing,
			"hammer":    hammer,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "emulated":
				return leaktest.Emulated(), nil
			case "broker":
				return host.Broker, nil
			case "mac":
				return host.Mac, nil
			case "root":
				return os.Geteuid() == 0, nil
			case "full":
				return effort.Full(), nil
			case "gpu":
				d, err := gpu.Open(t.Context(), gpu.Auto)
				if err != nil {
					t.Log(err) // the reason why parts of a script are skipped
					return false, nil
				}
				return true, d.Close(t.Context())
			case "static":
				_, err := gpu.Open(t.Context(), gpu.Auto)
				return err != nil && strings.Contains(err.Error(), "static program"), nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
	})
}

// waitServing waits until a broker serves on a socket: serving SOCKET.
func waitServing(ts *testscript.TestScript, _ bool, args []string) {
	var err error
	if !await.Poll(func() bool {
		var e ane.Engine
		if e, err = broker.Open(context.Background(), broker.Options{Path: ts.MkAbs(args[0])}); err == nil {
			err = e.Close()
		}
		return err == nil
	}) {
		ts.Fatalf("no broker serves: %v", err)
	}
}

// hammer starts another client of a broker, which binds, evaluates and closes large tensors until the
// script ends: hammer SOCKET. It returns after the first evaluation.
func hammer(ts *testscript.TestScript, _ bool, args []string) {
	const program = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 256, 256]> x) {
        tensor<fp16, [1, 64, 256, 256]> y = relu(x = x)[name = string("y")];
    } -> (y);
}
`
	d, err := engine.Open(context.Background(), engine.Broker, engine.BrokerPath(ts.MkAbs(args[0])))
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for first := true; ctx.Err() == nil; first = false {
			err := step.Run(ctx, func(t *step.T) {
				rig := trial.NewRig(t, d, ane.Source{File: "hammer.mil", Text: []byte(program)})
				rig.Paint() // writes to every page, so that it exists
				step.Must(rig.Model.Evaluate(ctx, rig.Request))
			})
			if first {
				started <- err
			}
		}
	}()
	ts.Defer(func() {
		cancel()
		<-ended
		ts.Check(d.Close())
	})
	ts.Check(<-started)
}

// makeArray writes a .npy file: npy FILE KIND SHAPE VALUE..., where SHAPE is "scalar" or like 1x4x1x32.
// It repeats the values until the array is full.
func makeArray(ts *testscript.TestScript, _ bool, args []string) {
	a := npy.Array{Shape: []int{}}
	kind, fortran := strings.CutSuffix(args[1], "-fortran")
	a.Type = mil.ParseDType(strings.Replace(kind, "float", "fp", 1))
	n := 1
	if args[2] != "scalar" {
		for _, s := range strings.Split(args[2], "x") {
			d, err := strconv.Atoi(s)
			ts.Check(err)
			a.Shape, n = append(a.Shape, d), n*d
		}
	}
	for i := range n {
		v, err := strconv.ParseFloat(args[3+i%len(args[3:])], 64)
		ts.Check(err)
		a.Data = append(a.Data, make([]byte, a.Type.Size())...)
		element.Store(a.Type, a.Data[i*a.Type.Size():], v)
	}
	var b bytes.Buffer
	ts.Check(npy.Write(&b, &a))
	data := b.Bytes()
	if fortran { // the values are in the order of the file
		data = bytes.Replace(data, []byte("False"), []byte("True "), 1)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// compareArray checks kind, shape and values of a .npy file, with the arguments of makeArray.
func compareArray(ts *testscript.TestScript, neg bool, args []string) {
	want := ts.MkAbs("want.npy")
	makeArray(ts, false, append([]string{"want.npy"}, args[1:]...))
	a, err := os.ReadFile(want)
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s holds %q", args[0], b)
	}
}

// makeWeights writes a safetensors file: mkweights FILE NAME:TYPE:COUNT .. with elements of zeros.
func makeWeights(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: mkweights FILE NAME:TYPE:COUNT ..")
	}
	w, err := safetensors.Create(ts.MkAbs(args[0]), map[string]string{"format": "pt"}, safetensors.NoSync())
	ts.Check(err)
	defer w.Abort()
	for _, arg := range args[1:] {
		word := strings.Split(arg, ":")
		if len(word) != 3 {
			ts.Fatalf("%q is not NAME:TYPE:COUNT", arg)
		}
		d, err := safetensors.ParseDType(word[1])
		ts.Check(err)
		n, err := strconv.Atoi(word[2])
		ts.Check(err)
		size, err := d.Bytes(n)
		ts.Check(err)
		ts.Check(w.Add(word[0], d, []int{n}, make([]byte, size)))
	}
	ts.Check(w.Close())
}

// makePicture writes a picture of a gradient with a bright square in the middle: photo FILE
// WIDTHxHEIGHT. It is gray if the name contains "gray".
func makePicture(ts *testscript.TestScript, _ bool, args []string) {
	var w, h int
	_, err := fmt.Sscanf(args[1], "%dx%d", &w, &h)
	ts.Check(err)
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	gray := image.NewGray(m.Rect)
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(x * 255 / w), uint8(y * 255 / h), 64, 255}
			if x > w/3 && x < 2*w/3 && y > h/3 && y < 2*h/3 {
				c = color.NRGBA{255, 255, 255, 255}
			}
			m.SetNRGBA(x, y, c)
			gray.Set(x, y, c)
		}
	}
	var src image.Image = m
	if strings.Contains(args[0], "gray") {
		src = gray
	}
	var b bytes.Buffer
	if strings.HasSuffix(args[0], ".jpg") {
		ts.Check(jpeg.Encode(&b, src, nil))
	} else {
		ts.Check(png.Encode(&b, src))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}

// comparePixel checks the size of a picture and one pixel: pixel FILE WIDTHxHEIGHT X Y R G B.
func comparePixel(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	m, err := png.Decode(f)
	ts.Check(err)
	if got := fmt.Sprintf("%dx%d", m.Bounds().Dx(), m.Bounds().Dy()); got != args[1] {
		ts.Fatalf("size %s", got)
	}
	n := make([]int, 5)
	for i := range n {
		n[i], err = strconv.Atoi(args[2+i])
		ts.Check(err)
	}
	c := color.NRGBAModel.Convert(m.At(n[0], n[1])).(color.NRGBA)
	for i, got := range []uint8{c.R, c.G, c.B} {
		if d := int(got) - n[2+i]; d < -1 || d > 1 {
			ts.Fatalf("pixel is %v", c)
		}
	}
}

// compareJSON checks fields of the JSON on stdout: json PATH VALUE ..., where
// PATH is like engine.name or checks.len, the number of entries.
func compareJSON(ts *testscript.TestScript, _ bool, args []string) {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	var doc any
	ts.Check(d.Decode(&doc))
	if _, err := d.Token(); err != io.EOF {
		ts.Fatalf("more than one JSON value on stdout")
	}
	for i := 0; i < len(args); i += 2 {
		v := doc
		for _, key := range strings.Split(args[i], ".") {
			switch in := v.(type) {
			case map[string]any:
				v = in[key]
			case []any:
				if key == "len" {
					v = len(in)
				} else if k, err := strconv.Atoi(key); err == nil && k < len(in) {
					v = in[k]
				}
			}
		}
		if got := fmt.Sprint(v); got != args[i+1] {
			ts.Fatalf("%s is %s, not %s", args[i], got, args[i+1])
		}
	}
}

// expectStatus runs the command and checks its exit status: status N ARG...
// The commands stdout and stderr that follow match its output.
func expectStatus(ts *testscript.TestScript, _ bool, args []string) {
	line := append([]string{"ane-roundtrip"}, onEngine(args[1:])...)
	if e := os.Getenv(leaktest.Emulator); e != "" {
		bin, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
		line = append([]string{e, filepath.Join(bin, line[0])}, line[1:]...)
	}
	err := ts.Exec(line[0], line[1:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, not %s", got, args[0])
	}
}

// onEngine adds --engine soft to check under an emulator, so that it starts no broker: emulated
// processes cannot start others.
func onEngine(args []string) []string {
	isCheck := len(args) == 0 || args[0] == "check" || strings.HasPrefix(args[0], "--")
	if !leaktest.Emulated() || !isCheck || slices.Contains(args, "--engine") ||
		slices.Contains(args, "--require-ane") {
		return args
	}
	return append(slices.Clone(args), "--engine", "soft")
}

func TestEveryInterruptEndsCleanly(t *testing.T) {
	for _, args := range [][]string{{"check"}, {"check", "--json"}, {"bench"}, {"bench", "--json"}} {
		args = append(args, "--engine", engine.Soft)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, errw bytes.Buffer
		require.Equal(t, cli.CodeInterrupted, execute(ctx, args, &out, &errw), "%v: %s", args, errw.String())
		if slices.Contains(args, "--json") {
			var r cli.Report
			require.NoError(t, json.Unmarshal(out.Bytes(), &r), "%s", out.String())
			require.Equal(t, &cli.Failure{Message: "interrupted", Code: cli.CodeInterrupted}, r.Error)
		} else {
			require.Empty(t, out.String(), "an interrupted command prints no partial report")
		}
		require.Equal(t, "ane-roundtrip: interrupted\n", errw.String())
	}
}

// lines is a buffer that several goroutines may write to.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// failingCheck names the check that finds each fault of --inject.
var failingCheck = map[string]string{
	"claims-apple": "engine/receipt", "copies-at-bind": "identity/values", "copies-inputs": "identity/copies",
	"copies-outputs": "identity/copies", "hidden-copy": "identity/copies", "last-row-missing": "identity/values",
	"leaks-hold": "identity/run", "neighbour-write": "memory/neighbours", "not-deterministic": "identity/values",
	"packs-rows": "cast/values", "short-mantissa": "identity/values", "stale-result": "identity/values",
	"swaps-inputs": "attention/values", "swaps-outputs": "split/values", "writes-input": "engine/repeatable",
	"writes-padding": "memory/inputs", "wrong-names": "identity/run", "wrong-result": "identity/values",
	"wrong-strides": "identity/values",
}

// Every fault of --inject fails the check that is meant to find it, on the software engine in this
// process and in a broker. Apple's engine is left out, since it may claim to be Apple's.
func TestEveryInjectionFails(t *testing.T) {
	var warnings lines
	usual := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&warnings, nil)))
	defer slog.SetDefault(usual)
	before := unimem.Live()
	defer func() { // the collector reports the Blocks that a fault leaks
		await.Until(t, "the collector reports every leaked Block", func() bool {
			runtime.GC()
			now := unimem.Live()
			found := now.Forgotten - before.Forgotten
			return found == now.Blocks-before.Blocks &&
				found == int64(strings.Count(warnings.String(), "was forgotten"))
		})
	}()
	require.Greater(t, len(check.Injections()), 15)
	engines := []string{engine.Soft}
	if brokertest.Here() {
		engines = append(engines, engine.Broker)
	}
	for i, name := range check.Injections() {
		if !effort.Full() && i%5 != 0 {
			continue
		}
		for _, on := range engines {
			if on == engine.Broker && !effort.Full() {
				continue
			}
			var out, errw bytes.Buffer
			check := failingCheck[name]
			require.NotEmpty(t, check, "%s: add the check that finds it", name)
			only := strings.Replace(check, "/run", "/values", 1)
			args := []string{"--engine", on, "--inject", name, "--repeat", "1", "--only", only}
			require.Equal(t, cli.CodeFail, execute(t.Context(), args, &out, &errw), "%s on %s: %s", name, on, errw.String())
			require.Regexp(t, `(?m)^`+check+` +fail`, out.String())
			require.Contains(t, out.String(), "verdict: fail", "%s on %s", name, on)
		}
	}
}

func TestHelpNamesCommands(t *testing.T) {
	var out, errw bytes.Buffer
	require.Equal(t, cli.CodePass, execute(t.Context(), []string{"--help"}, &out, &errw))
	for _, name := range []string{"check", "run", "image", "info", "bench", "--require-ane", "Exit status"} {
		require.Contains(t, out.String(), name)
	}
	require.Empty(t, errw.String())
}

func TestJSONHasNullForNonFinite(t *testing.T) {
	for v, want := range map[trial.Number]string{trial.Number(math.Inf(1)): "null", trial.Number(math.Inf(-1)): "null",
		1.5: "1.5"} {
		text, err := json.Marshal(trial.Judge("x", true, float64(v), "bytes", "").Value)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	text, err := json.Marshal(trial.Judge("x", true, 7, "", "measures nothing"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"value":null`)
	text, err = json.Marshal(trial.Number(math.NaN()))
	require.NoError(t, err)
	require.Equal(t, "null", string(text))
}
