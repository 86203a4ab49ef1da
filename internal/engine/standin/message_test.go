package standin

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

func TestFaultsAreListedOnePerLine(t *testing.T) {
	list := mil.ErrorList{{Pos: mil.Pos{Line: 1, Col: 2}, Msg: "one"}, {Pos: mil.Pos{Line: 3, Col: 4}, Msg: "two"}}
	require.Equal(t, "1:2: one\n3:4: two", faults(&ane.Error{Op: "compile", Err: errors.Join(ane.ErrCompile, list)}))
	require.Equal(t, "other", faults(errors.New("other")))
}
