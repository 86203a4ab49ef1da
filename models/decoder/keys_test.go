package decoder

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/decodertest"
)

// Keys of config.json count in the case in which they are published, and once.
func TestKeysOfConfigsAreExact(t *testing.T) {
	for name, c := range map[string]struct {
		old, with string
		words     []string // of the error; none: the model opens
	}{
		"another case":        {`"hidden_size"`, `"Hidden_Size"`, []string{"hidden_size", "0 is not within"}},
		"both cases":          {`"hidden_size"`, `"HIDDEN_SIZE": 3, "hidden_size"`, nil},
		"case of an extra":    {`"rope_scaling"`, `"ROPE_SCALING": {"rope_type": "x"}, "rope_scaling"`, nil},
		"twice":               {`"hidden_size"`, `"hidden_size": 64, "hidden_size"`, []string{`"hidden_size" occurs twice`}},
		"unknown, twice":      {`"hidden_size"`, `"x": 1, "x": [{}], "hidden_size"`, []string{`"x" occurs twice`}},
		"twice in an object":  {`"factor"`, `"factor": 2, "factor"`, []string{`"factor" occurs twice`}},
		"twice in a list":     {`"hidden_size"`, `"x": [{"y": 1, "y": 2}], "hidden_size"`, []string{`"y" occurs twice`}},
		"case of a nested":    {`"factor"`, `"Factor"`, []string{"rope_scaling", "factor of rope_type llama3"}},
		"equal in two places": {`"hidden_size"`, `"x": {"factor": 1, "y": {"factor": 1}}, "hidden_size"`, nil},
		"null of a nested":    {`"factor"`, `"rope_theta": null, "truncate": null, "factor"`, nil},
		"type of a nested":    {`"factor": 8`, `"factor": "8"`, []string{"rope_scaling", "factor is a JSON string"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			want, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3})
			require.NoError(t, err)
			text, err := json.Marshal(want.JSON)
			require.NoError(t, err)
			spaced := strings.ReplaceAll(string(text), `":`, `": `)
			changed := strings.Replace(spaced, c.old, c.with, 1)
			require.NotEqual(t, spaced, changed)
			require.NoError(t, os.WriteFile(filepath.Join(dir, configFile), []byte(changed), 0o600))
			f, err := Open(dir)
			if c.words == nil {
				require.NoError(t, err)
				require.NoError(t, f.Close())
				return
			}
			one(t, err, ErrConfig, append(c.words, configFile)...)
		})
	}
}

// The same holds for generation_config.json.
func TestKeysOfGenerationAreExact(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{})
	require.NoError(t, err)
	path := filepath.Join(dir, generationFile)
	require.NoError(t, os.WriteFile(path, []byte(`{"EOS_token_id": 7}`), 0o600))
	f, err := Open(dir)
	require.NoError(t, err)
	require.Equal(t, []int{2}, f.Config().EOS)
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(path, []byte(`{"eos_token_id": 7, "eos_token_id": 2}`), 0o600))
	_, err = Open(dir)
	one(t, err, ErrConfig, generationFile, `"eos_token_id" occurs twice`)
}
