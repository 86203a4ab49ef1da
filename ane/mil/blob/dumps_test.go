package blob_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/dumptest"
)

// An A18 Pro reads each payload where the file's own metadata say, from the beginning of the file: entries whose
// payloads all claimed byte 128 had wrong weights without an error.
func TestPayloadsAreAtOffsetsOfTheFile(t *testing.T) {
	var d struct {
		Offset string `json:"payload_offset_of_each_entry"`
	}
	dumptest.Data(t, "a18pro-27.0.1-weights-dictionary", &d)
	require.Regexp(t, `^absolute in the file; a constant 128 gives wrong weights`, d.Offset)
	var w blob.Writer
	for i := range 3 {
		payload := make([]byte, 200)
		payload[0] = byte(i + 1)
		at, err := w.Add(mil.FP16, payload, 0)
		require.NoError(t, err)
		start := binary.LittleEndian.Uint64(w.Bytes()[at+16:])
		require.Equal(t, at+64, start)
		require.EqualValues(t, i+1, w.Bytes()[start])
	}
}
