package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// The name of a file in the line of a fault has line breaks escaped too.
func TestFaultText(t *testing.T) {
	e := &mil.Error{File: "a\nb\x1b.mil", Pos: mil.Pos{Line: 3, Col: 4}, Msg: "wrong", Hint: "mend it"}
	var w bytes.Buffer
	(&App{Err: &w}).explain(t.Context(), e)
	require.Equal(t, `a\nb\x1b.mil:3:4: wrong; mend it`+"\n", w.String())
	require.Equal(t, `a\nb\x1b.mil:3:4: wrong`, failureOf(t.Context(), e).Message)
}

// Line breaks of names are escaped in messages; those between joined errors become semicolons.
func TestErrorText(t *testing.T) {
	e := errors.Join(Badf("open %s: %w", "a\nb", errors.Join(errors.New("first"), errors.New("sec\rond"))),
		&fs.PathError{Op: "open", Path: "c\nd", Err: fs.ErrNotExist})
	require.Equal(t, `open a\nb: first; sec\rond; open c\nd: file does not exist`, ErrorText(e))
	twice := errors.Join(errors.New("full"), errors.Join(errors.New("full"), errors.New("late")), errors.New("late"))
	require.Equal(t, "full; late", ErrorText(twice))
	f := failureOf(t.Context(), Badf("%s is a folder; leave %s out", "a\nb", "a\nb"))
	require.Equal(t, `a\nb is a folder`, f.Message)
	require.Equal(t, `leave a\nb out`, f.Hint)
}
