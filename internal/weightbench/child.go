package weightbench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/models/decoder"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// A process of its own has a peak of memory and a control group of its own.
const child = "ANEKIT_WEIGHTS_CHILD"

// task is what a child does.
type task struct {
	Kind     string           // of kinds
	Path     string           // a file or the folder of a model
	Mode     safetensors.Mode // of loading
	Group    string           // control group to join; empty for none
	Part     float64          // of the file, to warm
	Reserved int              // tokens of a talk; 0: all, below 0: as few as possible
	Steps    int              // tokens to generate
}

// kinds are what children do.
func kinds() map[string]func(*step.T, task) any {
	return map[string]func(*step.T, task) any{"pass": pass, "warm": warm, "hog": hog, "talk": talk}
}

// ServeChild does a task and ends the process, if it was started as a child; else it returns. main calls it first.
func ServeChild() {
	text := os.Getenv(child)
	if text == "" {
		return
	}
	err := step.Run(context.Background(), func(t *step.T) {
		var j task
		step.NoError(json.Unmarshal([]byte(text), &j))
		if j.Group != "" {
			step.NoError(procmem.Join(j.Group))
		}
		step.NoError(json.NewEncoder(os.Stdout).Encode(kinds()[j.Kind](t, j)))
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// command is a child before its start.
func command(ctx context.Context, j task) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(j)
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), child+"="+string(text))
	return cmd, err
}

// errKilled: the system has ended a child, for lack of memory.
var errKilled = errors.New("the process was killed")

// run runs a child and decodes its answer.
func run[R any](ctx context.Context, j task) (r R, err error) {
	cmd, err := command(ctx, j)
	if err != nil {
		return r, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return r, errKilled
	case err != nil:
		return r, fmt.Errorf("%s of %s: %s", j.Kind, j.Path, cmp.Or(strings.TrimSpace(said.String()), err.Error()))
	}
	return r, json.Unmarshal(out, &r)
}

// passed is what a child says of a load and of passes over all bytes.
type passed struct {
	Took   time.Duration
	Access safetensors.Access
	Why    string
}

// passes over the bytes follow a load: the check of the numbers, and the first token.
const passes = 2

// pass loads a file and reads all of its pages.
func pass(t *step.T, j task) any {
	start := time.Now()
	f := step.Must(safetensors.OpenAs(t.Ctx, j.Path, j.Mode))
	t.Closing(f.Close)
	for range passes {
		step.NoError(f.Check(t.Ctx, nil))
	}
	return passed{time.Since(start), f.Report().Access, f.Report().Why}
}

// warm reads a part of a file, so that the page cache has it.
func warm(t *step.T, j task) any {
	f := step.Must(os.Open(j.Path))
	t.Closing(f.Close)
	size := step.Must(f.Stat()).Size()
	return step.Must(io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(f, int64(j.Part*float64(size))),
		make([]byte, 1<<20)))
}

// hog reads the pages of a mapped file again and again, until its standard input ends.
func hog(t *step.T, j task) any {
	f := step.Must(safetensors.Open(j.Path))
	t.Closing(f.Close)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for t.Ctx.Err() == nil {
		step.NoError(f.Check(t.Ctx, nil))
	}
	return nil
}

// Talked is a row of the second and of the third suite: a model that answers a prompt.
type Talked struct {
	Model
	Way      string            `json:"way"`          // of loading: map or read
	Weights  int64             `json:"bytes"`        // as stored
	Load     time.Duration     `json:"load_ns"`      // from the folder to a loaded model, its file in the page cache
	First    time.Duration     `json:"first_ns"`     // from a new session to the first token
	Prompt   float64           `json:"prompt_per_s"` // tokens a second
	Generate float64           `json:"generate_per_s"`
	Peak     int64             `json:"peak_bytes"`  // of the process, mapped files included; 0 for unknown
	Added    int64             `json:"added_bytes"` // peak beyond that of the first row of the model
	Keys     decoderbench.Kept `json:"kv"`
}

const (
	promptTokens = 34   // as in the paper
	room         = 4096 // tokens
)

// talk loads a model and has it answer a prompt, once without measuring: the first prompt compiles programs.
func talk(t *step.T, j task) any {
	r := Talked{Way: j.Mode.String()}
	begin := time.Now()
	f := step.Must(decoder.OpenAs(t.Ctx, j.Path, j.Mode))
	t.Closing(f.Close)
	d := step.Must(engine.Open(t.Ctx, engine.Soft))
	t.Closing(d.Close)
	opts := []decoder.Option{decoder.WithForm(decoder.Compact), decoder.Context(room)}
	var memory []unimem.Option
	switch {
	case j.Reserved < 0:
		opts = append(opts, decoder.Reserve(1))
	case j.Reserved > 0:
		opts = append(opts, decoder.Reserve(j.Reserved))
		memory = []unimem.Option{unimem.Warm()}
	}
	m := step.Must(decoder.Load(t.Ctx, d, f, opts...))
	t.Later(m.Close)
	r.Load, r.Weights = time.Since(begin), f.Bytes()
	prompt := make([]int, promptTokens)
	for i := range prompt {
		prompt[i] = (i*7919 + 13) % f.Config().Vocabulary
	}
	for _, steps := range []int{1, j.Steps} {
		step.NoError(step.Run(t.Ctx, func(t *step.T) {
			begin := time.Now()
			s := step.Must(m.NewSession(memory...))
			t.Closing(s.Close)
			asked := time.Now()
			step.NoError(s.Prefill(t.Ctx, prompt))
			r.Prompt = promptTokens / time.Since(asked).Seconds()
			token := s.Next(nil)
			r.First, r.Keys = time.Since(begin), decoderbench.Kept{}
			begin = time.Now()
			for range steps {
				r.Keys.Note(s.Position(), s.Cache().Bytes(), s.Cache().Copied())
				step.NoError(s.Step(t.Ctx, token))
				token = s.Next(nil)
			}
			r.Generate = float64(steps) / time.Since(begin).Seconds()
			r.Keys.Note(s.Position(), s.Cache().Bytes(), s.Cache().Copied())
		}))
	}
	r.Peak = procmem.Peak()
	return r
}
