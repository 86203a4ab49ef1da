package decoder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A note is of a session or refused; what is read is what was written.
func FuzzSnapshot(f *testing.F) {
	s, err := NewSampler(0.5, 0.9, 7)
	require.NoError(f, err)
	for _, t := range []Snapshot{{}, {Prompt: []int{1, 500}, Answer: []int{2}}, {Prompt: []int{1}, Sampler: s}} {
		note, err := t.encode()
		require.NoError(f, err)
		f.Add(note)
	}
	f.Fuzz(func(t *testing.T, note []byte) {
		talk, err := decodeSnapshot(note, 1000)
		if err != nil {
			return
		}
		again, err := talk.encode()
		require.NoError(t, err)
		same, err := decodeSnapshot(again, 1000)
		require.NoError(t, err)
		require.Equal(t, talk.Tokens(), same.Tokens())
		require.Equal(t, talk.Sampler == nil, same.Sampler == nil)
		for _, id := range talk.Tokens() {
			require.True(t, id >= 0 && id < 1000)
		}
	})
}
