package actor

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/models/decoder"
	"github.com/anekit/anekit/models/decoder/tokenizer"
)

// words is a tokenizer.json whose tokens are the letters, in their order, and one pair of them.
func words(t *testing.T, letters, pair string) []byte {
	t.Helper()
	vocab := map[string]int{pair: len(letters)}
	for i, c := range letters {
		vocab[string(c)] = i
	}
	b, err := json.Marshal(map[string]any{"model": map[string]any{"type": "BPE", "vocab": vocab,
		"merges": [][2]string{{pair[:1], pair[1:]}}}, "decoder": map[string]any{"type": "Fuse"}})
	require.NoError(t, err)
	return b
}

// A model of another vocabulary gets the text of the conversation in its own tokens, and the guest begins with it. One
// of the same tokenizer gets the tokens as they are. Without the old tokenizer it is refused, and so is Thaw, which
// needs the keys and values.
func TestOtherVocabulariesGetTheText(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a")
	spec := decodertest.Spec{Seed: 1, Vocabulary: 8, Tokenizer: words(t, "abcdefg", "ab")}
	dir := modelDir(t, spec)
	c := newStage(t, dir, engine.Soft).load(t, Talker())
	old, err := tokenizer.Read(filepath.Join(dir, "tokenizer.json"))
	require.NoError(t, err)
	prompt, err := old.Encode("abcab")
	require.NoError(t, err)
	a := start(t, c, Config{Prompt: prompt})
	said := say(t, a, 6)
	require.NoError(t, a.Freeze(ctx, path))
	text := old.Decode(append(append([]int{}, prompt...), said...))

	same := newStage(t, modelDir(t, decodertest.Spec{Seed: 2, Vocabulary: 8, Tokenizer: spec.Tokenizer}), engine.Soft).
		load(t, Talker())
	b, err := same.Move(ctx, path, Config{})
	require.NoError(t, err)
	require.False(t, b.Recoded())
	require.Equal(t, prompt, b.Prompt())
	require.Equal(t, said, b.Said())
	require.NoError(t, b.Close(ctx))

	otherDir := modelDir(t, decodertest.Spec{Seed: 1, Vocabulary: 8, Tokenizer: words(t, "gfedcba", "bc")})
	other := newStage(t, otherDir, engine.Soft).load(t, Talker())
	_, err = other.Thaw(ctx, path, Config{From: dir})
	require.ErrorIs(t, err, ErrModel)
	for _, from := range []string{"", otherDir, t.TempDir()} {
		_, err = other.Move(ctx, path, Config{From: from})
		require.ErrorIs(t, err, decoder.ErrTokenizer, from)
	}
	b, err = other.Move(ctx, path, Config{From: dir})
	require.NoError(t, err)
	require.True(t, b.Recoded())
	own, err := tokenizer.Read(filepath.Join(otherDir, "tokenizer.json"))
	require.NoError(t, err)
	ids, err := own.Encode(text)
	require.NoError(t, err)
	require.NotEqual(t, prompt, ids[:len(prompt)])
	require.Equal(t, ids, b.Prompt())
	require.Empty(t, b.Said())
	require.Equal(t, len(ids), b.Moved())
	require.Equal(t, say(t, start(t, other, Config{Prompt: ids}), 6), say(t, b, 6))
	require.NoError(t, b.Close(ctx))
}
