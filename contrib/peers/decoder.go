package main

import (
	_ "embed" // the program in C
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/models/decoder"
)

// llamaLibraries are llama.cpp's libraries in the package of npm.
const llamaLibraries = "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"

//go:embed llama/llama.c
var llamaProgram string

// talk is a prompt of so many tokens, and steps after it. The last one is saved and restored.
type talk struct{ prompt, steps int }

func talks() []talk { return []talk{{5, 1}, {9, 1}, {16, 1}, {40, 12}, {128, 1}, {256, 12}, {280, 8}} }

// figures are the shortest times of what was measured, and the tokens chosen.
type figures struct {
	times  map[string]time.Duration
	tokens map[string][]int
}

func newFigures() figures { return figures{map[string]time.Duration{}, map[string][]int{}} }

func (f figures) took(what string, d time.Duration) {
	if best, ok := f.times[what]; !ok || d < best {
		f.times[what] = d
	}
}

// line is a row of a form of weights: the times of what, ours over the peer's, or those of the wide room over ours.
type line struct {
	name, what string
	wanted     float64
	wide       bool
}

func (f form) lines() []line {
	all := []line{{name: "load", what: "load0", wanted: 1}}
	for _, k := range talks()[:6] {
		all = append(all, line{name: fmt.Sprintf("prompt of %d tokens", k.prompt), what: fmt.Sprint("prompt", k.prompt),
			wanted: f.prompt})
	}
	return append(all, line{"step with 40 tokens held", "step40", f.step, false},
		line{"step with 256 tokens held", "step256", f.step, false},
		line{"step with 40 tokens held, room 8192 beside 512", "step40", 1.2, true},
		line{"save 288 tokens", "save0", 1.2, false}, line{"restore 288 tokens", "restore0", 1.2, false})
}

// decoder compares a language model with llama.cpp, in each form of weights.
func (o options) decoder(t *step.T) {
	dir := step.Must(os.MkdirTemp(o.dir, "peers"))
	t.Closing(func() error { return os.RemoveAll(dir) })
	snapshots := dir
	if shm, err := os.MkdirTemp("/dev/shm", "peers"); err == nil { // memory: a disk has its own times
		t.Closing(func() error { return os.RemoveAll(shm) })
		snapshots = shm
	}
	llama := o.build(dir)
	for _, f := range forms() {
		lines := slices.DeleteFunc(f.lines(), func(l line) bool { return !o.wants(f.name + ": " + l.name) })
		if len(lines) == 0 {
			continue
		}
		o.write(dir, f)
		ours, peer, wide := newFigures(), newFigures(), newFigures()
		for range o.rounds {
			ours.tokens, peer.tokens, wide.tokens = map[string][]int{}, map[string][]int{}, map[string][]int{}
			step.NoError(step.Run(t.Ctx, func(t *step.T) { o.ours(t, dir, snapshots, 512, talks(), ours) }))
			o.llama(t, llama, dir, snapshots, peer)
			if slices.ContainsFunc(lines, func(l line) bool { return l.wide }) {
				step.NoError(step.Run(t.Ctx, func(t *step.T) { o.ours(t, dir, snapshots, 8192, talks()[3:4], wide) }))
			}
		}
		for _, l := range lines {
			a, b := ours, peer
			if l.wide {
				a, b = wide, ours
			}
			o.print(f.name+": "+l.name, a.times[l.what], b.times[l.what], l.wanted)
		}
		for _, k := range talks() {
			key := fmt.Sprint("token", k.prompt)
			if a, b := ours.tokens[key], peer.tokens[key]; !slices.Equal(a, b) {
				fmt.Printf("# the tokens after a prompt of %d differ: %v, %v\n", k.prompt, a, b)
			}
		}
	}
}

// build compiles the program that calls llama.cpp, and returns its path.
func (o options) build(dir string) string {
	source, program := filepath.Join(dir, "llama.c"), filepath.Join(dir, "llama")
	step.NoError(os.WriteFile(source, []byte(llamaProgram), 0o600))
	path := step.Must(filepath.Abs(llamaLibraries))
	args := []string{"-O2", "-o", program, source, "-Wl,-rpath," + path}
	for _, name := range []string{"libllama*.so", "libggml.v*.so", "libggml-base.so"} {
		found := step.Must(filepath.Glob(filepath.Join(path, name)))
		found = slices.DeleteFunc(found, func(f string) bool { return strings.Contains(f, "common") })
		if len(found) != 1 {
			step.NoError(fmt.Errorf("%d files are %s; run npm install", len(found), filepath.Join(path, name)))
		}
		args = append(args, found...)
	}
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		step.NoError(fmt.Errorf("cc: %w: %s", err, out))
	}
	return program
}

// llama runs the program and adds what it prints.
func (o options) llama(t *step.T, program, dir, snapshots string, f figures) {
	args := []string{filepath.Join(dir, "gguf"), fmt.Sprint(o.threads), "512", filepath.Join(snapshots, "llama.kv")}
	for _, k := range talks() {
		args = append(args, fmt.Sprint(k.prompt), fmt.Sprint(k.steps))
	}
	cmd := exec.CommandContext(t.Ctx, program, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "LLAMA="+llamaLibraries), os.Stderr
	for line := range strings.Lines(string(step.Must(cmd.Output()))) {
		what, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		n := step.Must(strconv.Atoi(text))
		if strings.HasPrefix(what, "token") {
			f.tokens[what] = append(f.tokens[what], n)
		} else {
			f.took(what, time.Duration(n))
		}
	}
}

// ours does the same with package decoder.
func (o options) ours(t *step.T, dir, snapshots string, room int, talks []talk, f figures) {
	timed := func(what string, n int, run func() error) {
		start := o.now()
		step.NoError(run())
		f.took(fmt.Sprint(what, n), o.now()-start)
	}
	d := step.Must(engine.Open(t.Ctx, engine.Soft, engine.Workers(o.threads)))
	t.Closing(d.Close)
	var folder *decoder.Folder
	var m *decoder.Model
	var s *decoder.Session
	timed("load", 0, func() (err error) {
		if folder, err = decoder.Open(filepath.Join(dir, "hf")); err != nil {
			return err
		}
		t.Closing(folder.Close)
		m, err = decoder.Load(t.Ctx, d, folder, decoder.WithForm(decoder.Compact), decoder.Context(room))
		if err != nil {
			return err
		}
		t.Later(m.Close)
		if s, err = m.NewSession(); err == nil {
			t.Closing(s.Close)
		}
		return err
	})
	greedy := step.Must(decoder.NewSampler(0, 1, 0))
	for _, k := range talks {
		step.NoError(s.Truncate(0))
		var tokens []int
		for i := range k.prompt {
			tokens = append(tokens, (i*7919+13)%folder.Config().Vocabulary)
		}
		var token int
		timed("prompt", k.prompt, func() error {
			err := s.Prefill(t.Ctx, tokens)
			token = s.Next(greedy)
			return err
		})
		for range k.steps {
			timed("step", k.prompt, func() error {
				err := s.Step(t.Ctx, token)
				token = s.Next(greedy)
				return err
			})
			key := fmt.Sprint("token", k.prompt)
			f.tokens[key] = append(f.tokens[key], token)
		}
	}
	step.Must(m.Fingerprint(t.Ctx)) // once for a model, so it is no part of saving
	file, held := filepath.Join(snapshots, "ours.kv"), s.Tokens()
	for range 5 {
		timed("save", 0, func() error { return s.SaveFile(t.Ctx, file, decoder.Snapshot{Prompt: held}) })
		step.NoError(s.Truncate(0))
		timed("restore", 0, func() error { _, err := s.RestoreFile(t.Ctx, file, held); return err })
	}
}
