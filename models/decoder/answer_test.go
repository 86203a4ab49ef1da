package decoder

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
)

// drawn returns a sampler that chooses other tokens than the most likely ones.
func drawn(t *testing.T, seed uint64) *Sampler { return sampler(t, 2, 0.9, seed) }

// answer answers a prompt with n tokens in one go.
func answer(t *testing.T, m *Model, prompt []int, s *Sampler, n int) []int {
	talk := Snapshot{Prompt: prompt, Sampler: s}
	_, err := begin(t, m).Answer(t.Context(), &talk, n, nil)
	require.NoError(t, err)
	return talk.Answer
}

// A conversation that was saved after any number of tokens goes on as if it had not been, in another process's memory
// and on another engine of equal numerics.
func TestARestoredConversationGoesOn(t *testing.T) {
	leaktest.SkipEmulated(t)
	elsewhere := engine.Soft
	if brokertest.Here() {
		elsewhere = engine.Broker
	}
	for i, family := range decodertest.Families() {
		for f, form := range []Form{Engine, Compact} {
			if !effort.Sample(i+2*f, 12) {
				continue
			}
			dir := t.TempDir()
			_, err := decodertest.Write(dir, decodertest.Spec{Family: family, Seed: uint64(i), Bits: 4,
				Config: map[string]any{"eos_token_id": nil}})
			require.NoError(t, err)
			soft := load(t, engine.Soft, dir, WithForm(form), Context(256), Chunk(32))
			other := load(t, elsewhere, dir, WithForm(form), Context(512), Chunk(32))
			prompt := text(40, 96, uint64(i))
			whole := answer(t, soft, prompt, drawn(t, 1), 24)
			require.Greater(t, len(slices.Compact(slices.Sorted(slices.Values(whole)))), 8)
			path := filepath.Join(dir, "talk")
			for _, n := range []int{0, 1, 13} {
				talk := Snapshot{Prompt: prompt, Sampler: drawn(t, 1)}
				first := begin(t, soft)
				_, err := first.Answer(t.Context(), &talk, n, nil)
				require.NoError(t, err)
				require.NoError(t, first.SaveFile(t.Context(), path, talk))
				s := begin(t, other)
				got, err := s.RestoreFile(t.Context(), path, prompt)
				require.NoError(t, err)
				require.Equal(t, first.Position(), s.Position())
				require.Len(t, got.Answer, n)
				_, err = s.Answer(t.Context(), &got, 24-n, nil)
				require.NoError(t, err)
				require.Equal(t, whole, got.Answer, "%s %s, saved after %d", family, form, n)
			}
		}
	}
}

// The numbers do not depend on the room of the session or on how a prompt is divided between restored and new tokens.
func TestLogitsDoNotDependOnTheRoom(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Qwen3, Positions: 2048})
	require.NoError(t, err)
	for _, form := range []Form{Engine, Compact} {
		if form != Engine && !effort.Full() {
			continue
		}
		var want []float32
		for i, room := range []int{100, 256, 512, 1024, 2048} {
			if !effort.Sample(i%4, 12) {
				continue
			}
			s := begin(t, load(t, engine.Soft, dir, WithForm(form), Context(room), Chunk(32)))
			talk := Snapshot{Prompt: text(60, 96, 3)}
			_, err := s.Answer(t.Context(), &talk, 12, nil)
			require.NoError(t, err)
			if want == nil {
				want = slices.Clone(s.Logits())
			}
			require.Equal(t, want, s.Logits(), "%s, room for %d", form, room)
		}
	}
}

func TestAnswerStops(t *testing.T) {
	dir := t.TempDir()
	spec := decodertest.Spec{Seed: 4, Positions: 64, Config: map[string]any{"eos_token_id": nil}}
	_, err := decodertest.Write(dir, spec)
	require.NoError(t, err)
	prompt := []int{1, 2, 3}
	free := answer(t, load(t, engine.Soft, dir), prompt, nil, 20)
	end := free[7]
	at := slices.Index(free, end)
	spec.Config["eos_token_id"] = []int{95, end}
	_, err = decodertest.Write(dir, spec)
	require.NoError(t, err)
	m := load(t, engine.Soft, dir)
	s, talk := begin(t, m), Snapshot{Prompt: prompt}
	var seen []int
	each := func(token int) error { seen = append(seen, token); return nil }
	ended, err := s.Answer(t.Context(), &talk, 20, each)
	require.NoError(t, err)
	require.True(t, ended)
	require.Equal(t, free[:at+1], talk.Answer, "the token that ends the text is the last one")
	require.Equal(t, talk.Answer, seen)
	ended, err = s.Answer(t.Context(), &talk, 20, each)
	require.NoError(t, err)
	require.True(t, ended, "nothing comes after it")
	require.Len(t, talk.Answer, at+1)

	s, talk = begin(t, m), Snapshot{Prompt: prompt}
	_, err = s.Answer(t.Context(), &talk, 62, each)
	require.ErrorIs(t, err, ErrTooLong)
	require.Zero(t, s.Position(), "nothing has run")
	_, err = s.Answer(t.Context(), &Snapshot{}, 1, nil)
	require.ErrorIs(t, err, ErrVocabulary)
	_, err = s.Answer(t.Context(), &Snapshot{Prompt: []int{1, 96}}, 1, nil)
	require.ErrorIs(t, err, ErrVocabulary)
	stop := errors.New("stop")
	_, err = s.Answer(t.Context(), &talk, 5, func(int) error { return stop })
	require.ErrorIs(t, err, stop)
	require.Equal(t, free[:1], talk.Answer, "the Snapshot has the token that each was given")
	_, err = s.Answer(t.Context(), &Snapshot{Prompt: []int{9, 9, 9, 9, 9}}, 1, nil)
	require.ErrorIs(t, err, ErrSnapshot, "the session has taken other tokens")
}

func TestSnapshotsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	spec := decodertest.Spec{Seed: 4, Layers: 1, Hidden: 32, Heads: 2, Intermediate: 32}
	_, err := decodertest.Write(dir, spec)
	require.NoError(t, err)
	m := load(t, engine.Soft, dir, WithForm(Compact))
	prompt := []int{1, 2, 3, 4}
	s, talk := begin(t, m), Snapshot{Prompt: prompt, Sampler: drawn(t, 3)}
	_, err = s.Answer(t.Context(), &talk, 5, nil)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "talk")
	require.NoError(t, s.SaveFile(t.Context(), path, talk))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)

	refused := func(s *Session, prompt []int, kinds ...error) {
		t.Helper()
		tokens := append([]int{}, s.Tokens()...)
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = s.RestoreFile(t.Context(), path, prompt)
		for _, kind := range append(kinds, ErrSnapshot) {
			require.ErrorIs(t, err, kind)
		}
		var typed *Error
		require.ErrorAs(t, err, &typed)
		require.NotContains(t, err.Error(), "\n")
		require.Equal(t, tokens, append([]int{}, s.Tokens()...))
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
	fresh, used := begin(t, m), begin(t, m)
	require.NoError(t, used.Prefill(t.Context(), []int{7, 8}))
	for _, s := range []*Session{fresh, used} {
		refused(s, []int{1, 2, 3, 5})
		refused(s, []int{1, 2, 3})
		refused(s, append(slices.Clone(prompt), talk.Answer[0]))
		refused(s, []int{})
	}

	spec.Seed++
	another := t.TempDir()
	_, err = decodertest.Write(another, spec)
	require.NoError(t, err)
	refused(begin(t, load(t, engine.Soft, another, WithForm(Compact))), prompt, kv.ErrFingerprint)
	refused(begin(t, load(t, engine.Soft, dir, WithForm(Engine))), prompt, kv.ErrFingerprint)

	every := 5 // bits
	if !effort.Full() {
		every = 43
	}
	for bit := 0; bit < 8*len(whole); bit += every {
		bad := bytes.Clone(whole)
		bad[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err := fresh.RestoreFile(t.Context(), path, prompt)
		require.ErrorIs(t, err, ErrSnapshot, "bit %d of byte %d", bit%8, bit/8)
	}
	for n := 0; n < len(whole); n += 97 {
		require.NoError(t, os.WriteFile(path, whole[:n], 0o600))
		refused(fresh, prompt, kv.ErrCorrupt)
	}
	require.NoError(t, os.WriteFile(path, append(bytes.Clone(whole), 0), 0o600))
	refused(fresh, prompt, kv.ErrCorrupt)

	require.NoError(t, os.WriteFile(path, whole, 0o600))
	got, err := used.RestoreFile(t.Context(), path, nil)
	require.NoError(t, err)
	require.Equal(t, talk.Tokens(), got.Tokens())
	peeked, err := PeekFile(path)
	require.NoError(t, err)
	require.Equal(t, talk.Tokens(), peeked.Tokens())

	// A snapshot of kv alone, and one whose note is of another program, are of no session.
	print, err := m.Fingerprint(t.Context())
	require.NoError(t, err)
	for _, note := range [][]byte{nil, {}, {9}, {1}, {1, 4}, {1, 1, 0, 0}, {1, 200, 1, 0}, []byte("talk")} {
		require.NoError(t, used.Cache().SaveFileNote(path, print, note))
		refused(fresh, nil)
	}
	require.NoError(t, os.Remove(path))
	_, err = fresh.RestoreFile(t.Context(), path, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)

	talk.Prompt[0] = 9
	require.ErrorIs(t, used.SaveFile(t.Context(), path, talk), ErrSnapshot, "the session has taken other tokens")
	require.NoFileExists(t, path)
}

// A tokenizer is part of the fingerprint: other words for the same tokens are another conversation.
func TestAnotherTokenizerIsAnotherModel(t *testing.T) {
	prints := map[string]bool{}
	for _, file := range [][]byte{nil, []byte("{}"), []byte("{}\n")} {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, decodertest.Spec{Tokenizer: file})
		require.NoError(t, err)
		print, err := load(t, engine.Soft, dir).Fingerprint(t.Context())
		require.NoError(t, err)
		prints[print.Tokenizer] = true
	}
	require.Len(t, prints, 3)
}

// What an Answer cannot take is refused before anything runs, also where the model has more positions than its room.
func TestAnswerBeyondTheRoomRunsNothing(t *testing.T) {
	_, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Llama3}, Context(32))
	s := begin(t, m)
	room := m.Context()
	talk := Snapshot{Prompt: text(room/2, m.Config().Vocabulary, 3)}
	_, err := s.Answer(t.Context(), &talk, room/2+2, nil)
	one(t, err, ErrTooLong, "room")
	require.Zero(t, s.Position())
	require.Empty(t, talk.Answer)
	_, err = s.Answer(t.Context(), &talk, room/2+1, nil)
	require.NoError(t, err, "the session does not take the last new token")
	require.Equal(t, room, s.Position())
}

// Every call after Close is ErrClosed, and a file that cannot be written says nothing of snapshots that do not fit.
func TestClosedSessionsAndFullDisks(t *testing.T) {
	_, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Llama3}, Context(32))
	s := begin(t, m)
	talk := Snapshot{Prompt: []int{1, 2, 3}}
	_, err := s.Answer(t.Context(), &talk, 1, nil)
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.kv")
	require.NoError(t, s.SaveFile(t.Context(), path, talk))
	err = s.SaveFile(t.Context(), filepath.Join(dir, "none", "a.kv"), talk)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, ErrSnapshot)
	require.NoError(t, s.Close())
	_, err = s.Answer(t.Context(), &talk, 1, nil)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, s.SaveFile(t.Context(), path, talk), ErrClosed)
	_, err = s.RestoreFile(t.Context(), path, nil)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, s.Prefill(t.Context(), []int{1}), ErrClosed)
	require.ErrorIs(t, s.Step(t.Context(), 1), ErrClosed)
	require.ErrorIs(t, s.Truncate(0), ErrClosed)
}
