package errtext_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/errtext"
)

func TestLineLeavesOutWhatIsEmpty(t *testing.T) {
	kind, cause := errors.New("no such layer"), errors.New("line 1\nline 2")
	require.Equal(t, "kv: append", errtext.Line("kv: append", nil, "", nil, ""))
	require.Equal(t, "kv: append: no such layer", errtext.Line("kv: append", kind, "", nil, ""))
	require.Equal(t, "kv: append: no such layer: layer 9: line 1; line 2; give 0 to 7",
		errtext.Line("kv: append", kind, "layer 9", cause, "give 0 to 7"))
}

func TestBothLeavesOutNil(t *testing.T) {
	kind, cause := errors.New("kind"), errors.New("cause")
	require.Equal(t, []error{kind, cause}, errtext.Both(kind, cause))
	require.Equal(t, []error{cause}, errtext.Both(nil, cause))
	require.Empty(t, errtext.Both(nil, nil))
}
