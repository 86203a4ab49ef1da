package decoder

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/errtext"
)

// Snapshot is what the file of a snapshot has beside the keys and values.
type Snapshot struct {
	Prompt  []int    // tokens that the model was given
	Answer  []int    // tokens that were chosen; the session may not have taken the last ones yet
	Sampler *Sampler // what chooses the next one; nil without
	Extra   []byte   // bytes of the caller, such as the memory of an actor; empty without
}

// Tokens returns prompt and answer in a new slice.
func (t Snapshot) Tokens() []int { return slices.Concat(t.Prompt, t.Answer) }

// snapshotVersion is the first byte of a note.
const snapshotVersion = 3

// encode returns a Snapshot as the note of a snapshot.
func (t Snapshot) encode() []byte {
	b := []byte{snapshotVersion}
	for _, tokens := range [][]int{t.Prompt, t.Answer} {
		b = binary.AppendUvarint(b, uint64(len(tokens)))
		for _, id := range tokens {
			b = binary.AppendUvarint(b, uint64(id))
		}
	}
	b = append(binary.AppendUvarint(b, uint64(len(t.Extra))), t.Extra...)
	if t.Sampler != nil {
		b = append(b, t.Sampler.marshal()...)
	}
	return b
}

// errNote: the note of a snapshot that SaveFile did not write.
var errNote = errors.New("the file is not a snapshot of a session")

// decodeSnapshot parses a note. Ids are below vocabulary.
func decodeSnapshot(note []byte, vocabulary int) (t Snapshot, err error) {
	r := bytes.NewBuffer(note)
	if version, err := r.ReadByte(); err != nil || version != snapshotVersion {
		return t, errNote
	}
	for _, tokens := range []*[]int{&t.Prompt, &t.Answer} {
		n, err := binary.ReadUvarint(r)
		if err != nil || n > uint64(r.Len()) {
			return t, errNote
		}
		*tokens = make([]int, n)
		for i := range *tokens {
			id, err := binary.ReadUvarint(r)
			if err != nil || id >= uint64(vocabulary) {
				return t, errNote
			}
			(*tokens)[i] = int(id)
		}
	}
	n, err := binary.ReadUvarint(r)
	if err != nil || n > uint64(r.Len()) {
		return t, errNote
	}
	t.Extra = bytes.Clone(r.Next(int(n)))
	if r.Len() > 0 {
		t.Sampler, err = unmarshalSampler(r.Bytes())
	}
	return t, err
}

// SaveFile writes the session and a Snapshot to one file, as kv.Cache.SaveFileNote does. After a failure, a kill or a
// loss of power at any moment the path has the old file or the new one, whole. The tokens of the Snapshot begin with
// those that the session has taken. The first call reads all weights for Model.Fingerprint.
//
// Errors: ErrSnapshot (tokens that differ), ErrVocabulary, ErrClosed, and those of kv and of the file system.
func (s *Session) SaveFile(ctx context.Context, path string, t Snapshot) error {
	const op = "save"
	if s.closed {
		return &Error{Base: errtext.Base{Op: op, Err: ErrClosed}, Name: path}
	}
	all := t.Tokens()
	if len(all) < len(s.tokens) || !slices.Equal(all[:len(s.tokens)], s.tokens) {
		return &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot,
			Detail: fmt.Sprintf("the session has taken %d other tokens", len(s.tokens)),
			Hint:   "give the prompt and the answer of the session"}, Name: path}
	}
	for _, id := range all {
		if id < 0 || id >= s.model.config.Vocabulary {
			return &Error{Base: errtext.Base{Op: op, Err: ErrVocabulary, Detail: fmt.Sprintf("token %d", id)},
				Name: path}
		}
	}
	print, err := s.model.Fingerprint(ctx)
	if err != nil {
		return err
	}
	if err := s.cache.SaveFileNote(path, print, t.encode()); err != nil {
		return &Error{Base: errtext.Base{Op: op, Cause: err}, Name: path}
	}
	return nil
}

// RestoreFile replaces the tokens of the session by those of a file of SaveFile, and returns its Snapshot. It first
// checks the whole file, the model with its weights and tokenizer, the numerics of the engine and, unless it is nil,
// the prompt. After an error the session is unchanged. The file is only read.
//
// Afterwards Position says how many of the Snapshot's tokens the session has taken, and Logits is nil. To continue,
// Truncate the last one if it has taken all, and Prefill the others.
//
// Errors: ErrClosed, and ErrSnapshot with its reason: kv.ErrCorrupt, kv.ErrFingerprint (another model), kv.ErrVersion,
// kv.ErrFull (more tokens than the session has room for), or fs.ErrNotExist.
func (s *Session) RestoreFile(ctx context.Context, path string, prompt []int) (Snapshot, error) {
	const op = "restore"
	if s.closed {
		return Snapshot{}, &Error{Base: errtext.Base{Op: op, Err: ErrClosed}, Name: path}
	}
	print, err := s.model.Fingerprint(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	var t Snapshot
	taken := 0
	err = s.cache.RestoreFileNote(path, print, func(note []byte, tokens int) error {
		taken = tokens
		if t, err = decodeSnapshot(note, s.model.config.Vocabulary); err != nil {
			return err
		}
		if len(t.Prompt)+len(t.Answer) < tokens {
			return errNote
		}
		if prompt != nil && !slices.Equal(prompt, t.Prompt) {
			return fmt.Errorf("the snapshot is of another prompt: %s", difference(t.Prompt, prompt))
		}
		if tokens <= s.cache.Cap() || tokens > s.model.o.tokens {
			return nil // it fits, or kv reports that it does not
		}
		if _, err := kv.CheckFile(path); err != nil { // before the room grows
			return err
		}
		return s.makeRoom(op, tokens)
	})
	if err != nil {
		return Snapshot{}, &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	s.tokens, s.ready, s.logits = t.Tokens()[:taken:taken], false, nil
	return t, nil
}

// difference says in what two prompts differ.
func difference(saved, ours []int) string {
	for i := range min(len(saved), len(ours)) {
		if saved[i] != ours[i] {
			return fmt.Sprintf("its token %d is %d, not %d", i, saved[i], ours[i])
		}
	}
	return fmt.Sprintf("it has %d tokens, not %d", len(saved), len(ours))
}

// PeekFile reads the Snapshot of a file of SaveFile without its keys and values, which RestoreFile checks. The error
// matches ErrSnapshot.
func PeekFile(path string) (Snapshot, error) {
	note, _, err := kv.NoteFile(path)
	var t Snapshot
	if err == nil {
		t, err = decodeSnapshot(note, maxNumber)
	}
	if err != nil {
		return Snapshot{}, &Error{Base: errtext.Base{Op: "peek", Err: ErrSnapshot, Cause: err}, Name: path}
	}
	return t, nil
}
