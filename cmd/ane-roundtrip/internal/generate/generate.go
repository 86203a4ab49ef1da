package generate

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models/decoder"
)

// generated are the details of generate alone.
type generated struct {
	Text       string        `json:"text,omitempty"`
	Restore    time.Duration `json:"restore_ns"`
	PromptTime time.Duration `json:"prompt_ns"` // all tokens of the prompt but the last one
	Saves      int           `json:"saves"`
	Save       time.Duration `json:"save_ns"` // all of them
	CopiedEach int64         `json:"bytes_copied_per_token"`
	Memory     memory        `json:"memory"`
	needs
}

// memory are the bytes of a model and its session.
type memory struct {
	Mapped    int64 `json:"weights_mapped_bytes"`    // read where the files are mapped
	Read      int64 `json:"weights_read_bytes"`      // read into memory as stored
	Converted int64 `json:"weights_converted_bytes"` // in memory of their own
	Reserved  int64 `json:"kv_reserved_bytes"`
	Used      int64 `json:"kv_used_bytes"` // of the tokens that the session has taken
	Scratch   int64 `json:"scratch_bytes"`
	Peak      int64 `json:"peak_bytes"` // resident at most, mapped files included; 0 where the system does not say
}

// generate begins a conversation, or goes on with that of the snapshot.
func (j *job) generate(t *trial.T) {
	s := trial.Must(j.model.NewSession())
	t.Closing(s.Close)
	d, p := &j.details, j.model.Plan()
	d.generated = &generated{needs: needsOf(p, j.files)}
	if j.exists {
		j.restore(t.Ctx, s)
	} else if j.snapshot != "" { // reads all weights; later those of the programs would be resident beside
		trial.Must(j.files.Fingerprint(t.Ctx))
	}
	d.Load = time.Since(j.started)
	debug.FreeOSMemory() // what compiling needed
	copied := s.Copied()
	talk := j.speak
	if j.chat {
		talk = j.converse
	}
	trial.NoError(talk(t.Ctx, s))
	d.Copied = s.Copied() - copied
	d.CopiedEach = d.Copied / int64(max(1, s.Position()-d.Restored))
	d.Prompt, d.Context = len(j.talked.Prompt), s.Cache().Cap()
	d.Memory = memory{p.WeightsMapped, p.WeightsRead, p.WeightsConverted, p.CacheBytes,
		p.CacheBytes / int64(d.Context) * int64(s.Position()), p.ScratchBytes, procmem.Peak()}
	if j.words != nil {
		d.Text = j.words.Decode(d.Tokens)
	}
}

// restore goes on with the snapshot.
func (j *job) restore(ctx context.Context, s *decoder.Session) {
	begin, own := time.Now(), j.talked.Sampler
	t := trial.Must(s.RestoreFile(ctx, j.snapshot, j.talked.Prompt))
	if t.Sampler == nil {
		t.Sampler = own
	}
	temperature, topP, seed := t.Sampler.Settings()
	if temperature != j.temperature || topP != j.topP || seed != j.seed {
		j.notes = append(j.notes, fmt.Sprintf("the snapshot was drawn with temperature %v, top-p %v, seed %d; "+
			"this run begins its own draws", temperature, topP, seed))
		t.Sampler = own
	}
	j.talked, j.saved = t, len(t.Tokens())
	j.details.Restored, j.details.Restore = s.Position(), time.Since(begin)
}

// saveEvery is the least number of tokens between two snapshots while tokens come. A snapshot takes time in
// proportion to its tokens, so that there are fewer of a long conversation.
const saveEvery = 32

// speak generates, and prints and saves the tokens as they come.
func (j *job) speak(ctx context.Context, s *decoder.Session) error {
	j.start(j.talked.Tokens()...)
	if _, err := s.Answer(ctx, &j.talked, 0, nil); err != nil {
		return err
	}
	j.details.PromptTime = time.Since(j.began)
	if err := j.save(ctx, s, 1); err != nil {
		return err
	}
	ended, err := s.Answer(ctx, &j.talked, j.max, func(token int) error {
		if err := j.said(token); err != nil {
			return err
		}
		return j.save(ctx, s, max(saveEvery, j.saved/8))
	})
	if ended {
		j.details.Stopped = "eos"
	}
	if e := j.save(context.WithoutCancel(ctx), s, 1); err == nil {
		err = e
	}
	return err
}

// save writes the snapshot, if --snapshot names one and so many tokens are new.
func (j *job) save(ctx context.Context, s *decoder.Session, least int) error {
	n := len(j.talked.Prompt) + len(j.talked.Answer)
	if j.snapshot == "" || n-j.saved < least {
		return nil
	}
	begin := time.Now()
	if err := s.SaveFile(ctx, j.snapshot, j.talked); err != nil {
		return unsaved(err)
	}
	j.saved = n
	j.details.Saves++
	j.details.Save += time.Since(begin)
	return nil
}
