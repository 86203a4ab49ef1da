package kv

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

func TestNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk")
	k := made(t, small)
	add(t, k, 5)
	note := []byte{0, '"', '\\', 0xff, 'x'}
	require.NoError(t, k.SaveFileNote(path, print1, note))
	for _, to := range []*Cache{made(t, small), k} {
		require.NoError(t, to.RestoreFileNote(path, print1, func(got []byte, tokens int) error {
			require.Equal(t, note, got)
			require.Equal(t, 5, tokens)
			return nil
		}))
		holds(t, to, 0, 5)
	}
	require.NoError(t, made(t, small).RestoreFile(path, print1), "a reader need not ask for the note")

	got, tokens, err := NoteFile(path)
	require.NoError(t, err)
	require.Equal(t, note, got)
	require.Equal(t, 5, tokens)
	_, _, err = NoteFile(path + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, k.SaveFile(path, print1))
	require.NoError(t, k.RestoreFileNote(path, print1, func(got []byte, _ int) error {
		require.Empty(t, got)
		return nil
	}))
	err = k.SaveFileNote(path, print1, make([]byte, maxNote+1))
	require.ErrorIs(t, err, ErrSize)
	size := maxNote / slow()
	if !effort.Full() { // which has less than a gigabyte
		size /= 64
	}
	require.NoError(t, k.SaveFileNote(path, print1, make([]byte, size)))
	require.NoError(t, k.RestoreFile(path, print1))
}

func TestANoteThatIsNotAccepted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk")
	k, fresh := made(t, small), made(t, small)
	add(t, k, 5)
	require.NoError(t, k.SaveFileNote(path, print1, []byte("of another conversation")))
	before := image(fresh)
	no := errors.New("another conversation")
	err := fresh.RestoreFileNote(path, print1, func([]byte, int) error { return no })
	require.ErrorIs(t, err, no)
	typed(t, err)
	require.Equal(t, before, image(fresh))
	require.Zero(t, fresh.Len())
	other := print1
	other.Model = "another"
	require.ErrorIs(t, fresh.RestoreFileNote(path, other, func([]byte, int) error {
		t.Error("accept is asked about a snapshot of another model")
		return nil
	}), ErrFingerprint)
}

func TestDamagedNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk")
	k := made(t, small)
	add(t, k, 2)
	require.NoError(t, k.SaveFileNote(path, print1, []byte("tokens")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(text, []byte(`"note":"`)) + len(`"note":"`)
	for bit := range 8 * len("dG9rZW5z") {
		bad := bytes.Clone(text)
		bad[at+bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		require.ErrorIs(t, made(t, small).RestoreFile(path, print1), ErrCorrupt)
	}
	for _, with := range []string{"not base", "dG9rZW5=", "dG9rZ=5z"} {
		bad := reheaded(t, text, `"note":"dG9rZW5z"`, `"note":"`+with+`"`)
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		require.ErrorIs(t, made(t, small).RestoreFile(path, print1), ErrCorrupt, with)
	}
}

// A snapshot is checked without its model: the whole one passes, one with a flipped bit in any part does not.
func TestCheckFile(t *testing.T) {
	window := small
	window.Window, window.Context = 3, 0
	for _, c := range []Config{small, window} {
		path := filepath.Join(t.TempDir(), "talk")
		k := made(t, c)
		add(t, k, 5)
		require.NoError(t, k.SaveFileNote(path, print1, []byte("note")))
		_, err := CheckFile(path)
		require.NoError(t, err)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for at := 0; at < len(whole); at += 1 + len(whole)/61 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << (at % 8)
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			_, err := CheckFile(path)
			require.Error(t, err, "byte %d of %d", at, len(whole))
		}
	}
	_, err := CheckFile(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
