package errtext_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/errtext"
)

func TestLineLeavesOutWhatIsEmpty(t *testing.T) {
	kind, cause := errors.New("no such layer"), errors.New("line 1\nline 2")
	for want, b := range map[string]errtext.Base{
		"kv: append":                {},
		"kv: append: no such layer": {Err: kind},
		"kv: append: no such layer: layer 9: line 1; line 2; give 0 to 7": {Err: kind, Detail: "layer 9", Cause: cause,
			Hint: "give 0 to 7"},
	} {
		require.Equal(t, want, b.Line("kv: append"))
	}
}

func TestUnwrapLeavesOutNil(t *testing.T) {
	kind, cause := errors.New("kind"), errors.New("cause")
	require.Equal(t, []error{kind, cause}, (&errtext.Base{Err: kind, Cause: cause}).Unwrap())
	require.Equal(t, []error{cause}, (&errtext.Base{Cause: cause}).Unwrap())
	require.Empty(t, (&errtext.Base{}).Unwrap())
}
