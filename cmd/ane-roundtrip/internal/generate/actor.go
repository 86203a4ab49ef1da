package generate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/models/actor"
)

// acted are the details of actor alone.
type acted struct {
	Guest    string        `json:"guest"` // its file, or talker
	Sum      string        `json:"guest_sha256"`
	Grown    int           `json:"guest_memory_bytes"` // to which it has grown
	Said     int           `json:"said_tokens"`        // in the actor's life
	Position int           `json:"position"`           // tokens that the model has taken
	Moved    int           `json:"moved_tokens"`       // that another model took again
	Recoded  bool          `json:"recoded"`            // by another tokenizer
	Thaw     time.Duration `json:"thaw_ns"`
	Freeze   time.Duration `json:"freeze_ns"`
	Bytes    int64         `json:"snapshot_bytes"` // that freeze wrote
}

// maxGuest is the size in bytes of the largest guest.
const maxGuest = 256 << 20

// readGuest reads the binary of the guest. It waits for no pipe, and reads no device that has no end.
func (j *job) readGuest() {
	refuse(j.memory < 1 || j.memory > 4096, "--guest-memory %d; give 1 to 4096", j.memory)
	if j.binary = actor.Talker(); j.guest == "" {
		return
	}
	info, err := os.Stat(j.guest)
	refuse(err == nil && (!info.Mode().IsRegular() || info.Size() > maxGuest),
		"--guest %s is no file of at most %d bytes; name a WebAssembly binary", j.guest, maxGuest)
	j.binary, err = os.ReadFile(j.guest)
	refuse(err != nil, "--guest: %w; name a WebAssembly binary", err)
}

// peekActor reads what the snapshot says of its actor.
func (j *job) peekActor() {
	frozen, err := actor.PeekFile(j.snapshot)
	refuse(errors.Is(err, fs.ErrNotExist), "--snapshot %s does not exist; freeze an actor first, with a prompt",
		j.snapshot)
	trial.NoError(err)
	j.frozen = frozen
	if j.named = j.folder == ""; j.named {
		j.folder = frozen.Note
		refuse(j.folder == "", "no model, and %s names none; give --model FOLDER", j.snapshot)
	}
}

// act starts an actor or thaws one, has it say its tokens, and perhaps freezes it.
func (j *job) act(t *trial.T, d *ane.Device) {
	host := trial.Must(actor.NewHost(t.Ctx, d, j.model))
	t.Later(host.Close)
	code := trial.Must(host.Load(t.Ctx, j.binary))
	t.Later(code.Close)
	f := &j.details
	f.acted = &acted{Guest: cmp.Or(j.guest, "talker"), Sum: fmt.Sprintf("%x", sha256.Sum256(j.binary))}
	a := j.enter(t.Ctx, code)
	t.Later(a.Close)
	f.Load = time.Since(j.started)
	copied := a.Copied()
	j.start(slices.Concat(a.Prompt(), a.Said())...)
	for range j.max {
		token, err := a.Next(t.Ctx)
		if errors.Is(err, actor.ErrEnd) {
			break
		}
		trial.NoError(err)
		trial.NoError(j.said(token))
	}
	if a.Ended() {
		f.Stopped = "end"
	}
	f.Copied, f.Grown = a.Copied()-copied, a.Guest().Memory().Size()
	f.Prompt, f.Said = len(a.Prompt()), len(a.Said())
	f.Position, f.Context = a.Session().Position(), a.Session().Cache().Cap()
	if j.freeze {
		begin := time.Now()
		trial.NoError(unsaved(a.Freeze(t.Ctx, j.snapshot)))
		f.Freeze, f.Bytes = time.Since(begin), trial.Must(os.Stat(j.snapshot)).Size()
	}
}

// enter starts or thaws the actor.
func (j *job) enter(ctx context.Context, code *actor.Code) *actor.Actor {
	config := actor.Config{Prompt: j.talked.Prompt, Sampler: j.talked.Sampler, Note: trial.Must(filepath.Abs(j.folder)),
		Limits: wasm.Limits{Memory: j.memory << 20, Output: guestOutput{j.app.Err}}}
	if !j.thaw {
		return trial.Must(code.Start(ctx, config))
	}
	begin := time.Now()
	a, err := code.Thaw(ctx, j.snapshot, config)
	if errors.Is(err, actor.ErrModel) {
		refuse(j.named, "%s is of another model, other weights or other numerics than those of %s; give its "+
			"numerics, or --model FOLDER for a model that takes all tokens again", j.snapshot, j.folder)
		j.notes = append(j.notes, "the cache was filled by prefill: another model, weights or numerics")
		config.From = j.frozen.Note
		a, err = code.Move(ctx, j.snapshot, config)
		if err == nil && a.Recoded() {
			j.notes = append(j.notes, "the tokenizers differ: the text was decoded and encoded again, and the guest began "+
				"with it")
		}
	}
	trial.NoError(err)
	f := &j.details
	f.Recoded = a.Recoded()
	if f.Thaw, f.Moved = time.Since(begin), a.Moved(); f.Moved == 0 {
		f.Restored = a.Session().Position()
	}
	return a
}

// guestOutput writes what a guest prints to standard error, with what would control a terminal escaped.
type guestOutput struct{ w io.Writer }

// Write implements io.Writer.
func (o guestOutput) Write(b []byte) (int, error) {
	if _, err := io.WriteString(o.w, terminal.Inert(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
