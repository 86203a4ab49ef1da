package npy

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRead reads any bytes. read returns an *Error or a consistent array. The array is the same after it
// was written and read, and a second write gives the same bytes.
func FuzzRead(f *testing.F) {
	for _, c := range golden {
		f.Add([]byte(c.want))
		f.Add([]byte(c.want[:len(c.want)/2]))
	}
	f.Add(file(2, dict("|u1", "True", "(2, 3)"), "abcdef"))
	f.Add(file(3, dict("=f2", "False", "(1, 1)"), "ab"))
	f.Add(file(1, dict(">f4", "False", "(1,)"), "abcd"))
	f.Add(file(1, dict("<f4", "False", "(9999999999999, 99999999999)"), "abcd"))
	f.Add(file(1, "{\"shape\" : (4L,), 'fortran_order':False, 'descr':\"|b1\"}", "abcd"))
	f.Add(file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "abcd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := read(bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Fix)
			require.LessOrEqual(t, e.Offset, int64(len(data)))
			require.NotContains(t, err.Error(), "\n")
			require.Nil(t, a)
			return
		}
		require.True(t, a.Swapped || a.Fortran || bytes.HasSuffix(data, a.Data))
		a.Swapped, a.Fortran = false, false // in what Write writes
		var first, second bytes.Buffer
		require.NoError(t, Write(&first, a))
		back, err := read(bytes.NewReader(first.Bytes()), 0, nil)
		require.NoError(t, err)
		require.Equal(t, a, back)
		require.NoError(t, Write(&second, back))
		require.True(t, bytes.Equal(first.Bytes(), second.Bytes()))
	})
}
