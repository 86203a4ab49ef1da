package actor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/models/decoder"
)

// Config configures an Actor.
type Config struct {
	Prompt  []int            // tokens that the guest reads
	Sampler *decoder.Sampler // of choose; nil chooses the largest logit. The Actor uses it from then on
	Note    string           // kept in every file of Freeze, such as the folder of the model; at most 64 KiB
	Limits  wasm.Limits      // of the guest; a zero Time is ten minutes, for a long prompt
	From    string           // of Move: folder of the model that froze the actor, if its tokenizer may be another one
}

// Actor is a guest with a conversation. Its methods are safe for concurrent use; one runs at a time.
type Actor struct {
	code    *Code
	guest   *wasm.Guest
	session *decoder.Session
	sampler *decoder.Sampler
	moved   int // tokens that Move has given to the model
	recoded bool

	mu     sync.Mutex
	prompt []int
	said   []int
	note   string
	ended  bool
	closed bool
}

// Start makes an Actor, with a session of its own. The caller closes it.
//
// Errors: ErrGuest (no export next), those of decoder.Model.NewSession and of wasm.Binary.Start.
func (c *Code) Start(ctx context.Context, config Config) (*Actor, error) {
	const op = "start"
	vocabulary := c.host.model.Config().Vocabulary
	for i, id := range config.Prompt {
		if id < 0 || id >= vocabulary {
			return nil, &decoder.Error{Base: errtext.Base{Op: op, Err: decoder.ErrVocabulary,
				Detail: fmt.Sprintf("token %d of the prompt is %d, the model has %d", i, id, vocabulary)}}
		}
	}
	a := &Actor{code: c, prompt: slices.Clone(config.Prompt), sampler: config.Sampler}
	return a.begin(ctx, op, config, c.binary.Start)
}

// begin gives the actor a session and a guest, which start makes.
func (a *Actor) begin(ctx context.Context, op string, config Config,
	start func(context.Context, wasm.Limits) (*wasm.Guest, error)) (_ *Actor, err error) {
	if a.note = config.Note; len(a.note) > maxNote {
		return nil, newError(op, nil, fmt.Sprintf("a note of %d bytes", len(a.note)),
			fmt.Sprintf("give at most %d", maxNote))
	}
	if a.session, err = a.code.host.model.NewSession(); err != nil {
		return nil, err
	}
	config.Limits.Time = cmp.Or(config.Limits.Time, 10*time.Minute)
	if a.guest, err = start(ctx, config.Limits); err != nil {
		return nil, errors.Join(err, a.session.Close())
	}
	next := a.guest.Module().ExportedFunction("next")
	if next == nil || len(next.Definition().ParamTypes()) > 0 ||
		!slices.Equal(next.Definition().ResultTypes(), []api.ValueType{api.ValueTypeI32}) {
		return nil, errors.Join(newError(op, ErrGuest, "it exports no next() -> i32",
			"export next with no parameter and one i32 as its result"), a.Close(ctx))
	}
	return a, nil
}

// Close ends the guest and the session. Repeating it does nothing. Errors are those of wasm.Guest.Close and
// decoder.Session.Close.
func (a *Actor) Close(ctx context.Context) error {
	err := a.guest.Close(ctx) // ends a running Next
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	return errors.Join(err, a.session.Close())
}

// Next lets the guest say one token, and returns it.
//
// Errors: ErrEnd (the guest is silent, or its last token ends the text), ErrTalk (with the guest's Code), ErrClosed,
// and those of wasm.Guest.Call. After an error of the guest the Actor cannot be frozen as it was before the call:
// thaw the last snapshot. After one that ended the guest it cannot be frozen at all.
func (a *Actor) Next(ctx context.Context) (int, error) {
	const op = "next"
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return 0, newError(op, ErrClosed, "", "")
	case a.ended:
		return 0, newError(op, ErrEnd, "", "")
	}
	results, err := a.guest.Call(context.WithValue(ctx, actorKey{}, a), "next")
	if err != nil {
		return 0, err
	}
	config := a.code.host.model.Config()
	token := int(int32(results[0]))
	switch {
	case token == silent:
		a.ended = true
		return 0, newError(op, ErrEnd, "", "")
	case token < 0:
		return 0, &Error{Base: errtext.Base{Op: op, Err: ErrTalk, Cause: wasm.Code(token), Detail: a.guest.LastError()}}
	case token >= config.Vocabulary:
		return 0, newError(op, ErrTalk, fmt.Sprintf("it said token %d, the model has %d", token, config.Vocabulary), "")
	}
	a.said, a.ended = append(a.said, token), config.Ends(token)
	return token, nil
}

// take gives tokens to the model, the last one by a step, as logits does after a thaw. A pass of several tokens adds up
// in another order, so its logits differ.
func (a *Actor) take(ctx context.Context, tokens []int) error {
	n, before := len(tokens), a.session.Position()
	if n == 0 {
		return nil
	}
	err := a.session.Prefill(ctx, tokens[:n-1])
	if err == nil {
		err = a.session.Step(ctx, tokens[n-1])
	}
	if err != nil {
		return errors.Join(err, a.session.Truncate(before))
	}
	return nil
}

// logits returns the logits of the last token, which a thawed session has to compute again.
func (a *Actor) logits(ctx context.Context) ([]float32, error) {
	s := a.session
	n := s.Position()
	if n == 0 {
		return nil, fmt.Errorf("%w: the model has taken no token", wasm.CodeUnbound)
	}
	if s.Logits() == nil {
		last := s.Tokens()[n-1]
		if err := s.Truncate(n - 1); err != nil {
			return nil, err
		}
		if err := s.Step(ctx, last); err != nil {
			return nil, err
		}
	}
	return s.Logits(), nil
}

// Prompt returns the tokens that the actor was started with.
func (a *Actor) Prompt() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.prompt)
}

// Said returns the tokens that the guest has said, those of before a Freeze included.
func (a *Actor) Said() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.said)
}

// Ended reports whether Next returns ErrEnd.
func (a *Actor) Ended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended
}

// Guest is the actor's guest, which the Actor owns.
func (a *Actor) Guest() *wasm.Guest { return a.guest }

// Session is the actor's conversation, which the Actor owns. It must not be used while Next runs.
func (a *Actor) Session() *decoder.Session { return a.session }

// Moved is the number of tokens that the model takes again after Move, 0 for other actors.
func (a *Actor) Moved() int { return a.moved }

// Recoded reports whether Move has decoded the text of the conversation and encoded it for another tokenizer.
func (a *Actor) Recoded() bool { return a.recoded }

// Copied is the number of bytes that were copied for the actor: those of the guest and those of the session.
func (a *Actor) Copied() int64 { return a.guest.Copied() + a.session.Copied() }

// Freeze writes the actor to a file, which it replaces. After a failure, a kill or a loss of power at any moment the
// path has the old file or the new one, whole. The Actor is unchanged. The first call reads all weights for their
// fingerprint.
//
// Errors: ErrBusy (the guest has objects open, has trapped, or its memory does not fit), ErrClosed, and those of
// decoder.Session.SaveFile.
func (a *Actor) Freeze(ctx context.Context, path string) error {
	const op = "freeze"
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return &Error{Base: errtext.Base{Op: op, Err: ErrClosed}, Name: path}
	}
	if err := a.guest.Err(); err != nil {
		return &Error{Base: errtext.Base{Op: op, Err: ErrBusy, Cause: err, Hint: "thaw the last snapshot"}, Name: path}
	}
	if n := a.guest.Objects(); n > 0 {
		return &Error{Base: errtext.Base{Op: op, Err: ErrBusy,
			Detail: fmt.Sprintf("the guest has %d programs, requests and caches open", n),
			Hint:   "the guest has to close them before next returns"}, Name: path}
	}
	extra, err := a.state()
	if err != nil {
		return &Error{Base: errtext.Base{Op: op, Err: ErrBusy, Cause: err,
			Hint: "the guest has to clear memory that it does not need"}, Name: path}
	}
	return a.session.SaveFile(ctx, path, decoder.Snapshot{Prompt: a.session.Tokens(), Sampler: a.sampler, Extra: extra})
}

// Thaw makes an Actor from a file of Freeze. It continues with the tokens that the frozen one would have said. Of
// config Thaw takes the Limits, and a Note that is not empty; prompt, sampler and otherwise the note are the file's.
//
// Errors: ErrSnapshot (damaged, not a snapshot of an actor, or of another guest or version, with the difference),
// ErrModel, fs.ErrNotExist, and those of Start.
func (c *Code) Thaw(ctx context.Context, path string, config Config) (*Actor, error) {
	const op = "thaw"
	return c.thaw(ctx, op, path, config, func(a *Actor) (decoder.Snapshot, error) {
		t, err := a.session.RestoreFile(ctx, path, nil)
		if errors.Is(err, kv.ErrFingerprint) {
			return t, &Error{Base: errtext.Base{Op: op, Err: ErrModel, Cause: err,
				Hint: "move the actor: its tokens fill the cache of this model"}, Name: path}
		}
		return t, err
	})
}

// Move is Thaw of a file of another model, or of this one: the guest keeps its memory and the tokens, and the model
// takes all tokens of the file again. The tokens that follow are those of this model. The whole file is checked, also
// the keys and values, which are not used.
//
// A model with another tokenizer.json, by its hash, has other tokens. The text of the conversation is then decoded by
// the tokenizer of config.From and encoded by that of this model, and Recoded says so. The guest's memory, which has
// tokens of the other model, is not kept: the guest begins with the whole conversation as its prompt.
//
// Errors: those of Thaw without ErrModel, those of decoder.Model.Recode, and those of decoder.Session.Prefill: a token
// beyond the model's vocabulary, more tokens than it has positions.
func (c *Code) Move(ctx context.Context, path string, config Config) (*Actor, error) {
	const op = "move"
	saved, err := kv.CheckFile(path) // as Thaw does, which restores the keys and values
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	t, err := decoder.PeekFile(path)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	s, err := c.read(t.Extra)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	ids, recoded, err := c.host.model.Recode(saved, config.From, slices.Concat(s.Prompt, s.Said))
	if err != nil {
		return nil, err
	}
	if recoded {
		config.Prompt, config.Sampler, config.Note = ids, t.Sampler, cmp.Or(config.Note, string(s.Note))
		a, err := c.Start(ctx, config)
		if err == nil {
			a.moved, a.recoded, a.ended = len(ids), true, s.Ended
		}
		return a, err
	}
	a, err := c.thaw(ctx, op, path, config, func(*Actor) (decoder.Snapshot, error) { return t, nil })
	if err != nil {
		return nil, err
	}
	if err := a.take(ctx, t.Tokens()); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.moved = len(t.Tokens())
	return a, nil
}

// thaw makes an Actor of the file that restore reads.
func (c *Code) thaw(ctx context.Context, op, path string, config Config,
	restore func(*Actor) (decoder.Snapshot, error)) (*Actor, error) {
	a, err := (&Actor{code: c}).begin(ctx, op, config, c.binary.Resume)
	if err != nil {
		return nil, err
	}
	t, err := restore(a)
	if err == nil {
		a.sampler = t.Sampler
		err = a.install(op, path, t.Extra)
	} else if errors.Is(err, decoder.ErrSnapshot) && !errors.Is(err, ErrModel) {
		err = &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	if err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	return a, nil
}
