package decoder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A note is of a session or refused; what is read is what was written.
func FuzzSnapshot(f *testing.F) {
	s, err := NewSampler(0.5, 0.9, 7)
	require.NoError(f, err)
	for _, t := range []Snapshot{{}, {Prompt: []int{1, 500}, Answer: []int{2}}, {Prompt: []int{1}, Sampler: s},
		{Extra: []byte("more"), Sampler: s}} {
		f.Add(t.encode())
	}
	f.Fuzz(func(t *testing.T, note []byte) {
		talk, err := decodeSnapshot(note, 1000)
		if err != nil {
			return
		}
		same, err := decodeSnapshot(talk.encode(), 1000)
		require.NoError(t, err)
		require.Equal(t, talk.Tokens(), same.Tokens())
		require.Equal(t, talk.Extra, same.Extra)
		require.Equal(t, talk.Sampler == nil, same.Sampler == nil)
		for _, id := range talk.Tokens() {
			require.True(t, id >= 0 && id < 1000)
		}
	})
}
