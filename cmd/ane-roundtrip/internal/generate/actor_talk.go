package generate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/models/actor"
	"github.com/anekit/anekit/models/decoder"
)

// actorWork is what a command of actor does beside talking.
type actorWork struct{ thaw, freeze bool }

// actorJob holds the state of one run of actor.
type actorJob struct {
	generateJob
	o       actorOptions
	work    actorWork
	binary  []byte
	actor   *actor.Actor
	figures actorDetails
}

func talkTo(a *cli.App, ctx context.Context, o actorOptions, work actorWork) error {
	j := &actorJob{generateJob: generateJob{app: a, o: o.generateOptions, answer: a.Out}, o: o, work: work}
	begin := time.Now()
	return badActor(j.onModel(ctx, j.prepare, func(d *ane.Device) (err error) {
		host, err := actor.NewHost(ctx, d, j.model)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, host.Close(ctx)) }()
		code, err := host.Load(ctx, j.binary)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, code.Close(ctx)) }()
		if err := j.begin(ctx, code); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, j.actor.Close(ctx)) }()
		j.figures.Load = time.Since(begin)
		if err := j.talkOn(ctx); err != nil {
			return err
		}
		return j.report(d)
	}))
}

// badActor marks the errors of a guest or a snapshot that the user has to fix, and those of badModel.
func badActor(err error) error {
	var e *actor.Error
	if errors.As(err, &e) && (errors.Is(err, actor.ErrSnapshot) || errors.Is(err, actor.ErrGuest)) {
		return cli.BadInput{Err: err, Hint: e.Hint}
	}
	if errors.Is(err, wasm.ErrCode) || errors.Is(err, wasm.ErrLimit) || errors.Is(err, wasm.ErrExport) {
		return cli.Bad(err)
	}
	return badModel(err)
}

// prepare checks the flags and files before an engine is opened.
func (j *actorJob) prepare() (err error) {
	o := &j.o
	if (j.work.thaw || j.work.freeze) && o.snapshot == "" {
		return cli.Badf("no snapshot; give --snapshot FILE")
	}
	if err := o.checkForm(); err != nil {
		return err
	}
	if o.memory < 1 || o.memory > 4096 {
		return cli.Badf("--guest-memory %d; give 1 to 4096", o.memory)
	}
	j.binary = actor.Talker()
	if o.guest != "" {
		if j.binary, err = guestFile(o.guest); err != nil {
			return err
		}
	}
	j.figures.Guest, j.figures.Sum = o.guest, fmt.Sprintf("%x", sha256.Sum256(j.binary))
	if o.guest == "" {
		j.figures.Guest = "talker"
	}
	if j.work.thaw {
		return j.prepareThaw()
	}
	return j.prepareStart()
}

// prepareStart checks what a new actor begins with.
func (j *actorJob) prepareStart() error {
	o := &j.o
	if dir := filepath.Dir(o.snapshot); o.snapshot != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return cli.Badf("--snapshot %s: its folder does not exist; name a file in a folder that exists", o.snapshot)
		}
	}
	if err := replaceable(o.snapshot); err != nil {
		return err
	}
	o.snapshot = followLinks(o.snapshot)
	j.generateJob.o.snapshot = "" // an actor that begins reads none
	err := j.generateJob.prepare()
	j.o.max, j.o.context = j.generateJob.o.max, j.generateJob.o.context
	return err
}

// prepareThaw reads what the snapshot says of its actor, opens the folder of its model, and finds room for its tokens.
func (j *actorJob) prepareThaw() error {
	o := &j.o
	info, err := actor.PeekFile(o.snapshot)
	o.snapshot = followLinks(o.snapshot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Badf("--snapshot %s does not exist; freeze an actor first, with a prompt", o.snapshot)
	case err != nil:
		return err
	}
	if o.model == "" {
		if o.model, o.named = info.Note, true; o.model == "" {
			return cli.Badf("no model, and %s names none; give --model FOLDER", o.snapshot)
		}
	}
	if err := j.app.ReadsModel(o.model); err != nil {
		return err
	}
	if j.folder, err = decoder.Open(o.model); err != nil {
		return err
	}
	if o.words {
		if j.words, err = j.folder.Tokenizer(); err != nil {
			return err
		}
	}
	c := j.folder.Config()
	taken := info.Taken + 1 // the last token that the actor said is perhaps not taken yet
	room := info.Taken
	if info.Taken == 0 { // the guest has the prompt to read
		taken = max(1, len(info.Prompt))
		room = taken
	}
	switch {
	case o.max < 0:
		return cli.Badf("--max %d; give 0 or more", o.max)
	case o.context < 0 || o.context > 0 && o.context < taken+o.max:
		return cli.Badf("--context %d for %d tokens and %d new ones; give %d, or leave it out", o.context, taken, o.max,
			taken+o.max)
	case !o.whole:
		o.max = max(0, min(o.max, c.Positions-taken))
	}
	if err := c.Room(room, o.max); err != nil {
		return err
	}
	if o.context == 0 {
		o.context = min(taken+o.max, c.Positions)
	}
	j.generateJob.o.context = o.context
	return checkContext(o.context, c)
}

// replaceable refuses a file that freeze would replace and that is no actor, such as one of the model, of the guest or
// of generate.
func replaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	if info.Mode().IsRegular() {
		if _, err = actor.PeekFile(path); err == nil {
			return nil
		}
	}
	return cli.Badf("--snapshot %s exists and is not a snapshot of an actor, so it is not replaced; name another file",
		path)
}

// begin starts or thaws the actor.
func (j *actorJob) begin(ctx context.Context, code *actor.Code) (err error) {
	config := actor.Config{Prompt: j.prompt, Sampler: j.sampler,
		Limits: wasm.Limits{Memory: j.o.memory << 20, Output: guestOutput{j.app.Err}}}
	if config.Note, err = filepath.Abs(j.o.model); err != nil {
		return err
	}
	if !j.work.thaw {
		j.actor, err = code.Start(ctx, config)
		return err
	}
	begin := time.Now()
	j.actor, err = code.Thaw(ctx, j.o.snapshot, config)
	switch moves := errors.Is(err, actor.ErrModel); {
	case moves && j.o.named:
		return cli.Badf("%s is of another model, other weights or other numerics than those of %s; give its numerics, or "+
			"--model FOLDER for a model that takes all tokens again", j.o.snapshot, j.o.model)
	case moves:
		j.notes = append(j.notes, "the cache was filled by prefill: another model, weights or numerics")
		j.actor, err = code.Move(ctx, j.o.snapshot, config)
	}
	if err != nil {
		return err
	}
	f := &j.figures
	f.Thaw, f.Moved = time.Since(begin), j.actor.Moved()
	if f.Moved == 0 {
		f.Restored = j.actor.Session().Position()
	}
	return nil
}

// talkOn has the actor say its tokens, and freezes it.
func (j *actorJob) talkOn(ctx context.Context) error {
	f := &j.figures
	f.Generated = cli.Generated{Tokens: []int{}}
	begin := time.Now()
	var first, last time.Time
	j.talk = decoder.Talk{Prompt: j.actor.Prompt(), Answer: j.actor.Said()}
	show := j.printer()
	f.Stopped = "max"
	before := j.actor.Copied()
	for range j.o.max {
		token, err := j.actor.Next(ctx)
		if errors.Is(err, actor.ErrEnd) {
			f.Stopped = "end"
			break
		}
		if err != nil {
			return err
		}
		if last = time.Now(); first.IsZero() {
			first = last
		}
		f.Tokens = append(f.Tokens, token)
		if err := show(token); err != nil {
			return err
		}
	}
	if j.actor.Ended() {
		f.Stopped = "end"
	}
	f.Copied = j.actor.Copied() - before
	if n := len(f.Tokens); n > 0 {
		f.First = first.Sub(begin)
		f.Rate = eachSecond(1, f.First)
		if n > 1 {
			f.Rate = eachSecond(n-1, last.Sub(first))
		}
	}
	if err := show(-1); err != nil {
		return err
	}
	if !j.work.freeze {
		return nil
	}
	begin = time.Now()
	if err := j.actor.Freeze(ctx, j.o.snapshot); err != nil {
		return fmt.Errorf("--snapshot: %w", notBad{err})
	}
	f.Freeze = time.Since(begin)
	info, err := os.Stat(j.o.snapshot)
	if err == nil {
		f.Snapshot = info.Size()
	}
	return err
}

// maxGuest is the size in bytes of the largest guest.
const maxGuest = 256 << 20

// guestFile reads the binary of a guest. It waits for no pipe, and reads no device that has no end.
func guestFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, cli.Badf("--guest: %w; name a WebAssembly binary", err)
	case !info.Mode().IsRegular() || info.Size() > maxGuest:
		return nil, cli.Badf("--guest %s is no file of at most %d bytes; name a WebAssembly binary", path, maxGuest)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, cli.Badf("--guest: %w; name a WebAssembly binary", err)
	}
	return b, nil
}

// guestOutput writes what a guest prints to standard error, with what would control a terminal escaped.
type guestOutput struct{ w io.Writer }

// Write implements io.Writer.
func (o guestOutput) Write(b []byte) (int, error) {
	if _, err := io.WriteString(o.w, page.Inert(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
